// Written by protocol/generate_wire.py from service/storage_service.proto: `make generate`.
// swift-format-ignore-file

import CProtobufC
package import RTMModel
import RTMProtocolC

extension Schema {
    /// rtm.service.AppendHistoryRequest
    package enum AppendHistoryRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var publisher: SchemaField<String> { SchemaField(2) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(3) }
        package static var message: SchemaField<Message> { SchemaField(4) }
        package static var instance: SchemaField<UInt64> { SchemaField(5) }
        package static var sequence: SchemaField<UInt64> { SchemaField(6) }
        package static var order: SchemaField<UInt32> { SchemaField(7) }
    }

    /// rtm.service.StorageCallResponse
    package enum StorageCallResponse {
        package static var response: SchemaField<Bytes> { SchemaField(1) }
        package static var ticket: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.LockGrantedPush
    package enum LockGrantedPush {
        package static var ticket: SchemaField<UInt64> { SchemaField(1) }
        package static var response: SchemaField<Bytes> { SchemaField(2) }
        package static var error: SchemaField<Error> { SchemaField(3) }
    }

    /// rtm.service.SnapshotRequest
    package enum SnapshotRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var metadata: SchemaField<Bool> { SchemaField(2) }
        package static var locks: SchemaField<Bool> { SchemaField(3) }
    }

    /// rtm.service.SnapshotResponse
    package enum SnapshotResponse {
        package static var frames: SchemaField<Bytes> { SchemaField(1) }
    }

    /// rtm.service.SessionPush
    package enum SessionPush {
        package static var caller: SchemaField<Caller> { SchemaField(1) }
        package static var change: SchemaField<Enumeration> { SchemaField(2) }
        package static var channel: SchemaField<ChannelKey> { SchemaField(3) }
    }

    /// rtm.service.Ban
    package enum Ban {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var userId: SchemaField<String> { SchemaField(2) }
        package static var untilMs: SchemaField<UInt64> { SchemaField(3) }
        package static var reason: SchemaField<String> { SchemaField(4) }
        package static var endsSession: SchemaField<Bool> { SchemaField(5) }
        package static var sinceMs: SchemaField<UInt64> { SchemaField(6) }
        package static var by: SchemaField<String> { SchemaField(7) }
        package static var number: SchemaField<UInt64> { SchemaField(8) }
        package static var tokensBeforeS: SchemaField<UInt64> { SchemaField(9) }
    }

    /// rtm.service.BanReport
    package enum BanReport {
        package static var number: SchemaField<UInt64> { SchemaField(1) }
        package static var appKnown: SchemaField<Bool> { SchemaField(2) }
        package static var sessions: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.BanOutcome
    package enum BanOutcome {
        package static var asked: SchemaField<UInt32> { SchemaField(1) }
        package static var answered: SchemaField<UInt32> { SchemaField(2) }
        package static var appKnown: SchemaField<Bool> { SchemaField(3) }
        package static var sessions: SchemaField<UInt32> { SchemaField(4) }
        package static var before: SchemaField<Ban> { SchemaField(5) }
    }

    /// rtm.service.BansRequest
    package enum BansRequest {
        package static var afterApp: SchemaField<String> { SchemaField(1) }
        package static var afterUser: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.service.BansResponse
    package enum BansResponse {
        package static var bans: SchemaField<[Ban]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
    }

    /// rtm.service.EdgeQuestion
    package enum EdgeQuestion {
        package static var number: SchemaField<UInt64> { SchemaField(1) }
        package static var query: SchemaField<Bytes> { SchemaField(2) }
    }

    /// rtm.service.EdgeAnswer
    package enum EdgeAnswer {
        package static var number: SchemaField<UInt64> { SchemaField(1) }
        package static var findings: SchemaField<Bytes> { SchemaField(2) }
    }

    /// rtm.service.EdgeAnswers
    package enum EdgeAnswers {
        package static var asked: SchemaField<UInt32> { SchemaField(1) }
        package static var answers: SchemaField<[EdgeAnswer]> { SchemaField(2) }
    }

    /// rtm.service.EdgeQuery
    package enum EdgeQuery {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var limit: SchemaField<UInt32> { SchemaField(2) }
        package static var prefix: SchemaField<String> { SchemaField(3) }
        package static var afterUser: SchemaField<String> { SchemaField(4) }
        package static var afterSession: SchemaField<UInt64> { SchemaField(5) }
        package static var userId: SchemaField<String> { SchemaField(6) }
        package static var channels: SchemaField<[ChannelKey]> { SchemaField(7) }
        package static var explain: SchemaField<EdgeExplain> { SchemaField(8) }
        package static var sessionId: SchemaField<UInt64> { SchemaField(9) }
        package static var byQueue: SchemaField<Bool> { SchemaField(10) }
        package static var afterQueued: SchemaField<UInt64> { SchemaField(11) }
        package static var top: SchemaField<EdgeTop> { SchemaField(12) }
    }

    /// rtm.service.EdgeFindings
    package enum EdgeFindings {
        package static var sessions: SchemaField<[EdgeSession]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
        package static var total: SchemaField<UInt64> { SchemaField(3) }
        package static var subscribers: SchemaField<[SubscriberCount]> { SchemaField(4) }
        package static var explanation: SchemaField<EdgeExplanation> { SchemaField(5) }
        package static var top: SchemaField<EdgeTopFindings> { SchemaField(6) }
    }

    /// rtm.service.SubscriberCount
    package enum SubscriberCount {
        package static var count: SchemaField<UInt32> { SchemaField(1) }
    }

    /// rtm.service.EdgeSession
    package enum EdgeSession {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var sessionId: SchemaField<UInt64> { SchemaField(2) }
        package static var address: SchemaField<String> { SchemaField(3) }
        package static var client: SchemaField<String> { SchemaField(4) }
        package static var sinceMs: SchemaField<UInt64> { SchemaField(5) }
        package static var queuedBytes: SchemaField<UInt64> { SchemaField(6) }
        package static var channels: SchemaField<UInt32> { SchemaField(7) }
    }

    /// rtm.service.EdgeTop
    package enum EdgeTop {
        package static var limit: SchemaField<UInt32> { SchemaField(1) }
        package static var measureMs: SchemaField<UInt32> { SchemaField(2) }
    }

    /// rtm.service.EdgeTopFindings
    package enum EdgeTopFindings {
        package static var busy: SchemaField<Bool> { SchemaField(1) }
        package static var measuredMs: SchemaField<UInt32> { SchemaField(2) }
        package static var queues: SchemaField<[EdgeSession]> { SchemaField(3) }
        package static var channels: SchemaField<[BusyChannel]> { SchemaField(4) }
        package static var publishers: SchemaField<[LoudSession]> { SchemaField(5) }
        package static var refused: SchemaField<[RefusedUser]> { SchemaField(6) }
        package static var refusedSinceMs: SchemaField<UInt64> { SchemaField(7) }
        package static var channelsOmitted: SchemaField<UInt32> { SchemaField(8) }
    }

    /// rtm.service.BusyChannel
    package enum BusyChannel {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var entries: SchemaField<UInt64> { SchemaField(2) }
        package static var subscribers: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.LoudSession
    package enum LoudSession {
        package static var session: SchemaField<EdgeSession> { SchemaField(1) }
        package static var messages: SchemaField<UInt64> { SchemaField(2) }
        package static var bytes: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.service.RefusedUser
    package enum RefusedUser {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var kind: SchemaField<Enumeration> { SchemaField(2) }
        package static var count: SchemaField<UInt64> { SchemaField(3) }
        package static var atMs: SchemaField<UInt64> { SchemaField(4) }
        package static var reason: SchemaField<String> { SchemaField(5) }
        package static var channel: SchemaField<ChannelKey> { SchemaField(6) }
    }

    /// rtm.service.EdgeExplain
    package enum EdgeExplain {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var channel: SchemaField<ChannelKey> { SchemaField(2) }
        package static var publisher: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.service.EdgeExplanation
    package enum EdgeExplanation {
        package static var node: SchemaField<String> { SchemaField(1) }
        package static var loop: SchemaField<UInt32> { SchemaField(2) }
        package static var factsSinceMs: SchemaField<UInt64> { SchemaField(3) }
        package static var facts: SchemaField<[SessionFact]> { SchemaField(4) }
        package static var sessions: SchemaField<[ExplainedSession]> { SchemaField(5) }
        package static var channel: SchemaField<ExplainedChannel> { SchemaField(6) }
        package static var publisher: SchemaField<ExplainedPublisher> { SchemaField(7) }
        package static var endsSinceMs: SchemaField<UInt64> { SchemaField(8) }
    }

    /// rtm.service.ExplainedSession
    package enum ExplainedSession {
        package static var session: SchemaField<EdgeSession> { SchemaField(1) }
        package static var tokenExpiresMs: SchemaField<UInt64> { SchemaField(2) }
        package static var stage: SchemaField<Enumeration> { SchemaField(3) }
        package static var features: SchemaField<UInt32> { SchemaField(4) }
        package static var channel: SchemaField<ExplainedChannel> { SchemaField(5) }
    }

    /// rtm.service.ExplainedChannel
    package enum ExplainedChannel {
        package static var attached: SchemaField<Bool> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var subscribers: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.ExplainedPublisher
    package enum ExplainedPublisher {
        package static var sessionId: SchemaField<UInt64> { SchemaField(1) }
        package static var code: SchemaField<Int64> { SchemaField(2) }
        package static var reason: SchemaField<String> { SchemaField(3) }
        package static var retryAfterMs: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.service.SessionFact
    package enum SessionFact {
        package static var kind: SchemaField<Enumeration> { SchemaField(1) }
        package static var atMs: SchemaField<UInt64> { SchemaField(2) }
        package static var sessionId: SchemaField<UInt64> { SchemaField(3) }
        package static var channel: SchemaField<ChannelKey> { SchemaField(4) }
        package static var position: SchemaField<StreamPosition> { SchemaField(5) }
        package static var after: SchemaField<StreamPosition> { SchemaField(6) }
        package static var gap: SchemaField<Bool> { SchemaField(7) }
        package static var cause: SchemaField<String> { SchemaField(8) }
        package static var count: SchemaField<UInt32> { SchemaField(9) }
    }

    /// rtm.service.PurgeHistoryRequest
    package enum PurgeHistoryRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var beforeMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.PurgeHistoryResponse
    package enum PurgeHistoryResponse {
        package static var removed: SchemaField<UInt64> { SchemaField(1) }
    }

    /// rtm.service.AppEvent
    package enum AppEvent {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var type: SchemaField<Enumeration> { SchemaField(2) }
        package static var keyType: SchemaField<Enumeration> { SchemaField(3) }
        package static var key: SchemaField<String> { SchemaField(4) }
        package static var number: SchemaField<UInt64> { SchemaField(5) }
        package static var timeMs: SchemaField<UInt64> { SchemaField(6) }
        package static var body: SchemaField<Bytes> { SchemaField(7) }
    }

    /// rtm.service.EventGap
    package enum EventGap {
        package static var reason: SchemaField<String> { SchemaField(1) }
        package static var shard: SchemaField<UInt32> { SchemaField(2) }
        package static var sinceMs: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.service.EventsRequest
    package enum EventsRequest {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var after: SchemaField<StreamPosition> { SchemaField(2) }
        package static var newest: SchemaField<Bool> { SchemaField(3) }
        package static var limit: SchemaField<UInt32> { SchemaField(4) }
        package static var types: SchemaField<UInt32> { SchemaField(5) }
        package static var channelPrefix: SchemaField<String> { SchemaField(6) }
        package static var waitMs: SchemaField<UInt32> { SchemaField(7) }
    }

    /// rtm.service.EventsResponse
    package enum EventsResponse {
        package static var events: SchemaField<[AppEvent]> { SchemaField(1) }
        package static var next: SchemaField<StreamPosition> { SchemaField(2) }
        package static var more: SchemaField<Bool> { SchemaField(3) }
    }

    /// rtm.service.ClaimReader
    package enum ClaimReader {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var name: SchemaField<String> { SchemaField(2) }
        package static var node: SchemaField<String> { SchemaField(3) }
        package static var leaseMs: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.service.ReaderClaimed
    package enum ReaderClaimed {
        package static var term: SchemaField<UInt64> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var state: SchemaField<Bytes> { SchemaField(3) }
        package static var owner: SchemaField<String> { SchemaField(4) }
        package static var waitMs: SchemaField<UInt32> { SchemaField(5) }
    }

    /// rtm.service.DeadLetter
    package enum DeadLetter {
        package static var number: SchemaField<UInt64> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var timeMs: SchemaField<UInt64> { SchemaField(3) }
        package static var reason: SchemaField<String> { SchemaField(4) }
        package static var body: SchemaField<Bytes> { SchemaField(5) }
    }

    /// rtm.service.KeepReader
    package enum KeepReader {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var name: SchemaField<String> { SchemaField(2) }
        package static var term: SchemaField<UInt64> { SchemaField(3) }
        package static var leaseMs: SchemaField<UInt32> { SchemaField(4) }
        package static var position: SchemaField<StreamPosition> { SchemaField(5) }
        package static var state: SchemaField<Bytes> { SchemaField(6) }
        package static var letters: SchemaField<[DeadLetter]> { SchemaField(7) }
        package static var removed: SchemaField<[DeadLetterNumber]> { SchemaField(8) }
    }

    /// rtm.service.DeadLetterNumber
    package enum DeadLetterNumber {
        package static var number: SchemaField<UInt64> { SchemaField(1) }
    }

    /// rtm.service.ReaderKept
    package enum ReaderKept {
        package static var kept: SchemaField<Bool> { SchemaField(1) }
    }

    /// rtm.service.MoveReader
    package enum MoveReader {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var name: SchemaField<String> { SchemaField(2) }
        package static var position: SchemaField<StreamPosition> { SchemaField(3) }
        package static var forgets: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.ReaderMoved
    package enum ReaderMoved {
        package static var found: SchemaField<Bool> { SchemaField(1) }
    }

    /// rtm.service.ReadersRequest
    package enum ReadersRequest {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var after: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.service.EventReader
    package enum EventReader {
        package static var name: SchemaField<String> { SchemaField(1) }
        package static var owner: SchemaField<String> { SchemaField(2) }
        package static var term: SchemaField<UInt64> { SchemaField(3) }
        package static var leaseMs: SchemaField<UInt32> { SchemaField(4) }
        package static var position: SchemaField<StreamPosition> { SchemaField(5) }
        package static var state: SchemaField<Bytes> { SchemaField(6) }
        package static var letters: SchemaField<UInt32> { SchemaField(7) }
        package static var dropped: SchemaField<UInt64> { SchemaField(8) }
    }

    /// rtm.service.ReadersResponse
    package enum ReadersResponse {
        package static var readers: SchemaField<[EventReader]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
        package static var newest: SchemaField<StreamPosition> { SchemaField(3) }
        package static var oldest: SchemaField<StreamPosition> { SchemaField(4) }
    }

    /// rtm.service.DeadLettersRequest
    package enum DeadLettersRequest {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var name: SchemaField<String> { SchemaField(2) }
        package static var after: SchemaField<UInt64> { SchemaField(3) }
        package static var limit: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.service.DeadLettersResponse
    package enum DeadLettersResponse {
        package static var letters: SchemaField<[DeadLetter]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
    }

    /// rtm.service.AuditLine
    package enum AuditLine {
        package static var number: SchemaField<UInt64> { SchemaField(1) }
        package static var timeMs: SchemaField<UInt64> { SchemaField(2) }
        package static var by: SchemaField<String> { SchemaField(3) }
        package static var address: SchemaField<String> { SchemaField(4) }
        package static var what: SchemaField<String> { SchemaField(5) }
        package static var whom: SchemaField<String> { SchemaField(6) }
        package static var outcome: SchemaField<String> { SchemaField(7) }
        package static var omitted: SchemaField<UInt64> { SchemaField(8) }
    }

    /// rtm.service.KeepAudit
    package enum KeepAudit {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var line: SchemaField<AuditLine> { SchemaField(2) }
    }

    /// rtm.service.AuditRequest
    package enum AuditRequest {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var before: SchemaField<UInt64> { SchemaField(2) }
        package static var limit: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.AuditResponse
    package enum AuditResponse {
        package static var lines: SchemaField<[AuditLine]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
    }
}

/// The methods of storage.
package enum StorageMethod {
    /// Request AppendHistoryRequest, answered without content.
    @inlinable package static var appendHistory: ServiceMethod<AppendHistoryRequest, NoContent> { .init(1) }
    /// Request CallRequest, response StorageCallResponse.
    @inlinable package static var call: ServiceMethod<CallRequest, StorageCallResponse> { .init(2) }
    /// Request SnapshotRequest, response SnapshotResponse.
    @inlinable package static var snapshot: ServiceMethod<SnapshotRequest, SnapshotResponse> { .init(3) }
    /// Push LockGrantedPush, storage to edge.
    @inlinable package static var lockGranted: ServicePush<LockGrantedPush> { .init(4) }
    /// Push SessionPush, edge to storage.
    @inlinable package static var session: ServicePush<SessionPush> { .init(5) }
    /// Request Ban, response BanOutcome, from an operator's program.
    @inlinable package static var ban: ServiceMethod<Ban, BanOutcome> { .init(6) }
    /// Push Ban, storage to every link: those that hold when it opens, then each that is asked for.
    @inlinable package static var banned: ServicePush<Ban> { .init(7) }
    /// Push BanReport, edge to storage: what came of a Ban with a number.
    @inlinable package static var banReport: ServicePush<BanReport> { .init(8) }
    /// Request BansRequest, response BansResponse, from an operator's program.
    @inlinable package static var bans: ServiceMethod<BansRequest, BansResponse> { .init(9) }
    /// Request EdgeQuestion, response EdgeAnswers, from a gateway.
    @inlinable package static var askEdges: ServiceMethod<EdgeQuestion, EdgeAnswers> { .init(10) }
    /// Push EdgeQuestion, storage to every link.
    @inlinable package static var edgeQuestion: ServicePush<EdgeQuestion> { .init(11) }
    /// Push EdgeAnswer, edge to storage.
    @inlinable package static var edgeAnswer: ServicePush<EdgeAnswer> { .init(12) }
    /// Request PurgeHistoryRequest, response PurgeHistoryResponse, from a gateway.
    @inlinable package static var purgeHistory: ServiceMethod<PurgeHistoryRequest, PurgeHistoryResponse> { .init(13) }
    /// Request EventsRequest, response EventsResponse, from a gateway.
    @inlinable package static var events: ServiceMethod<EventsRequest, EventsResponse> { .init(14) }
    /// Request ClaimReader, response ReaderClaimed, from a gateway.
    @inlinable package static var claimReader: ServiceMethod<ClaimReader, ReaderClaimed> { .init(15) }
    /// Request KeepReader, response ReaderKept, from a gateway.
    @inlinable package static var keepReader: ServiceMethod<KeepReader, ReaderKept> { .init(16) }
    /// Request MoveReader, response ReaderMoved, from a gateway.
    @inlinable package static var moveReader: ServiceMethod<MoveReader, ReaderMoved> { .init(17) }
    /// Request ReadersRequest, response ReadersResponse, from a gateway.
    @inlinable package static var readers: ServiceMethod<ReadersRequest, ReadersResponse> { .init(18) }
    /// Request DeadLettersRequest, response DeadLettersResponse, from a gateway.
    @inlinable package static var deadLetters: ServiceMethod<DeadLettersRequest, DeadLettersResponse> { .init(19) }
    /// Request KeepAudit, answered without content, from a gateway.
    @inlinable package static var keepAudit: ServiceMethod<KeepAudit, NoContent> { .init(20) }
    /// Request AuditRequest, response AuditResponse, from a gateway.
    @inlinable package static var audit: ServiceMethod<AuditRequest, AuditResponse> { .init(21) }
    /// Push LeaderPush, storage to its callers.
    @inlinable package static var leader: ServicePush<LeaderPush> { .init(22) }
    /// Push LeaderPush, a caller to a node that announces an earlier term than the caller knows.
    @inlinable package static var outdated: ServicePush<LeaderPush> { .init(23) }
    /// Push NodesPush, storage to its callers.
    @inlinable package static var nodes: ServicePush<NodesPush> { .init(24) }

    /// The methods' names by their numbers, for people who look at traces.
    package static let names: [UInt32: String] = [
        1: "appendHistory", 2: "call", 3: "snapshot", 4: "lockGranted", 5: "session", 6: "ban",
        7: "banned", 8: "banReport", 9: "bans", 10: "askEdges", 11: "edgeQuestion", 12: "edgeAnswer",
        13: "purgeHistory", 14: "events", 15: "claimReader", 16: "keepReader", 17: "moveReader",
        18: "readers", 19: "deadLetters", 20: "keepAudit", 21: "audit", 22: "leader", 23: "outdated",
        24: "nodes"
    ]
}

/// What happened to a session that has used locks.
package enum SessionChange: Int, Sendable, Hashable, CaseIterable {
    /// Lost, logged out or superseded: the ttls of its locks begin, its waits end (K-11, K-6).
    case ended = 1
    /// It unsubscribed `channel`: the same for the locks there.
    case left = 2
    /// It subscribed `channel`: a ttl that runs there for its user stops.
    case entered = 3
}

/// How far a session has come in a channel.
package enum SubscriptionStage: Int, Sendable, Hashable, CaseIterable {
    /// It isn't subscribed.
    case none = 0
    /// Its subscribe is under way.
    case subscribing = 1
    /// It gets every entry that arrives.
    case live = 2
}

package enum SessionFactKind: Int, Sendable, Hashable, CaseIterable {
    /// `position` is where it began.
    case subscribed = 1
    /// `position` is how far it was given the channel.
    case unsubscribed = 2
    /// Entries behind `after` up to `position` were lost, and that was reported.
    case gap = 3
    /// The session has ended.
    case ended = 4
    case loginRefused = 5
    case subscribeRefused = 6
    case publishRefused = 7
}

/// What happened in an app, as its backends read it.
package enum AppEventType: Int, Sendable, Hashable, CaseIterable {
    /// Events were lost; `body` is an EventGap.
    case gap = 1
    /// `body` is a ServerFrame with the Publication, as in the types up to 6.
    case message = 2
    case channelJoined = 3
    case channelLeft = 4
    case metadata = 5
    case lock = 6
    /// `body` is empty, as in the types up to 9.
    case channelOccupied = 7
    case channelVacated = 8
    case userOffline = 9
    /// `body` is empty, as in the types up to 12.
    case login = 10
    case logout = 11
    case timeout = 12
}

/// The answer to a call, or a ticket for a caller that waits for a lock.
package struct StorageCallResponse: WireMessage {
    package typealias Fields = Schema.StorageCallResponse
    /// The one field of ServerFrame.body, with its key; empty while the caller waits for a lock.
    package var response: WireText
    /// The number of the caller that waits; the LockGrantedPush carries it. 0 = the response is complete.
    package var ticket: UInt64

    package init(response: WireText = .empty, ticket: UInt64 = 0) {
        self.response = response
        self.ticket = ticket
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.response, response)
        sink.field(Fields.ticket, ticket)
    }
}

extension StorageCallResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__storage_call_response__unpack)
        self.init(response: WireText(message.response), ticket: message.ticket)
    }
}

/// Reports how the wait for a lock ended: with a response or with an error.
package struct LockGrantedPush: WireMessage {
    package typealias Fields = Schema.LockGrantedPush
    package var ticket: UInt64
    /// As in CallResponse.
    package var response: WireText
    /// Instead of a response.
    package var error: RTMError?

    package init(ticket: UInt64 = 0, response: WireText = .empty, error: RTMError? = nil) {
        self.ticket = ticket
        self.response = response
        self.error = error
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.ticket, ticket)
        sink.field(Fields.response, response)
        if let error { sink.field(Fields.error, error) }
    }
}

extension LockGrantedPush: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var ticket: UInt64 = 0
        var response: WireText = .empty
        var error: RTMError? = nil
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.ticket: ticket = try field.uint64
            case Fields.response: response = try field.view
            case Fields.error: error = try RTMError(scanning: field.bytes)
            default: break
            }
        }
        self.init(ticket: ticket, response: response, error: error)
    }
}

/// Asks for what a new subscriber begins with. Events with greater revisions continue it.
package struct SnapshotRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SnapshotRequest
    /// A channel of type none stands for a user's metadata.
    package var channel: ChannelKey
    /// Whether the metadata is wanted.
    package var metadata: Bool
    /// Whether the locks are wanted.
    package var locks: Bool

    package init(channel: ChannelKey, metadata: Bool = false, locks: Bool = false) {
        self.channel = channel
        self.metadata = metadata
        self.locks = locks
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.metadata, metadata)
        sink.field(Fields.locks, locks)
    }
}

extension SnapshotRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__snapshot_request__unpack)
        try self.init(
            channel: ChannelKey(decoded: message.channel), metadata: message.metadata != 0,
            locks: message.locks != 0)
    }
}

package struct SnapshotResponse: WireMessage {
    package typealias Fields = Schema.SnapshotResponse
    /// ServerFrames with their length prefixes.
    package var frames: WireText

    package init(frames: WireText = .empty) {
        self.frames = frames
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.frames, frames)
    }
}

extension SnapshotResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__snapshot_response__unpack)
        self.init(frames: WireText(message.frames))
    }
}

/// Reports to storage what happened to a session that has used locks.
package struct SessionPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SessionPush
    package var caller: Caller
    package var change: SessionChange
    /// Absent if the session ended.
    package var channel: ChannelKey?

    package init(caller: Caller, change: SessionChange, channel: ChannelKey? = nil) {
        self.caller = caller
        self.change = change
        self.channel = channel
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.caller, caller)
        sink.field(Fields.change, change)
        if let channel { sink.field(Fields.channel, channel) }
    }
}

extension SessionPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__session_push__unpack)
        guard let change = SessionChange(rawValue: Int(message.change.rawValue)) else { throw .undecodable }
        try self.init(
            caller: Caller(decoded: message.caller), change: change,
            channel: message.channel == nil ? nil : ChannelKey(decoded: message.channel))
    }
}

/// A user who may not log in for a while, or whose session ends now. Behind the bans that hold when a link
/// opens comes one without a user, which ends their list.
package struct Ban: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.Ban
    package var appID: String
    package var userID: String
    /// UTC; the user may log in from then on. 0 = at once, which lifts a ban.
    package var untilMilliseconds: UInt64
    /// One sentence for the user.
    package var reason: String
    /// Whether the user's session ends.
    package var endsSession: Bool
    /// UTC; when the operator asked for it.
    package var sinceMilliseconds: UInt64
    /// Who asked for it.
    package var by: String
    /// The edge answers with a BanReport; 0 = it doesn't.
    package var number: UInt64
    /// UTC; only tokens that were issued before this time are refused, beside any other ban; 0 = the user is
    /// shut out.
    package var tokensBeforeSeconds: UInt64

    package init(
        appID: String = "", userID: String = "", untilMilliseconds: UInt64 = 0, reason: String = "",
        endsSession: Bool = false, sinceMilliseconds: UInt64 = 0, by: String = "", number: UInt64 = 0,
        tokensBeforeSeconds: UInt64 = 0
    ) {
        self.appID = appID
        self.userID = userID
        self.untilMilliseconds = untilMilliseconds
        self.reason = reason
        self.endsSession = endsSession
        self.sinceMilliseconds = sinceMilliseconds
        self.by = by
        self.number = number
        self.tokensBeforeSeconds = tokensBeforeSeconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.userId, userID)
        sink.field(Fields.untilMs, untilMilliseconds)
        sink.field(Fields.reason, reason)
        sink.field(Fields.endsSession, endsSession)
        sink.field(Fields.sinceMs, sinceMilliseconds)
        sink.field(Fields.by, by)
        sink.field(Fields.number, number)
        sink.field(Fields.tokensBeforeS, tokensBeforeSeconds)
    }
}

extension Ban: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__ban__unpack)
        self.init(
            appID: WireText(message.app_id).string, userID: WireText(message.user_id).string,
            untilMilliseconds: message.until_ms, reason: WireText(message.reason).string,
            endsSession: message.ends_session != 0, sinceMilliseconds: message.since_ms,
            by: WireText(message.by).string, number: message.number,
            tokensBeforeSeconds: message.tokens_before_s)
    }
}

extension Ban {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__Ban>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            appID: WireText(message.app_id).string, userID: WireText(message.user_id).string,
            untilMilliseconds: message.until_ms, reason: WireText(message.reason).string,
            endsSession: message.ends_session != 0, sinceMilliseconds: message.since_ms,
            by: WireText(message.by).string, number: message.number,
            tokensBeforeSeconds: message.tokens_before_s)
    }
}

/// What an edge's event loop found and did.
package struct BanReport: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BanReport
    /// The number of the Ban.
    package var number: UInt64
    /// Whether the event loop knows the app.
    package var isAppKnown: Bool
    /// How many sessions of the user it ended.
    package var sessions: UInt32

    package init(number: UInt64 = 0, isAppKnown: Bool = false, sessions: UInt32 = 0) {
        self.number = number
        self.isAppKnown = isAppKnown
        self.sessions = sessions
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.number, number)
        sink.field(Fields.appKnown, isAppKnown)
        sink.field(Fields.sessions, sessions)
    }
}

extension BanReport: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__ban_report__unpack)
        self.init(number: message.number, isAppKnown: message.app_known != 0, sessions: message.sessions)
    }
}

/// What came of an operator's Ban. Storage waits for the reports of all edges, for two seconds at most.
package struct BanOutcome: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BanOutcome
    /// Links to event loops of edges.
    package var asked: UInt32
    /// How many of these links reported in time.
    package var answered: UInt32
    /// Whether one of these event loops knows the app.
    package var isAppKnown: Bool
    /// How many sessions of the user these event loops ended.
    package var sessions: UInt32
    /// The user's previous ban; absent if there was none.
    package var before: Ban?

    package init(
        asked: UInt32 = 0, answered: UInt32 = 0, isAppKnown: Bool = false, sessions: UInt32 = 0,
        before: Ban? = nil
    ) {
        self.asked = asked
        self.answered = answered
        self.isAppKnown = isAppKnown
        self.sessions = sessions
        self.before = before
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.asked, asked)
        sink.field(Fields.answered, answered)
        sink.field(Fields.appKnown, isAppKnown)
        sink.field(Fields.sessions, sessions)
        if let before { sink.field(Fields.before, before) }
    }
}

extension BanOutcome: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__ban_outcome__unpack)
        try self.init(
            asked: message.asked, answered: message.answered, isAppKnown: message.app_known != 0,
            sessions: message.sessions, before: message.before == nil ? nil : Ban(decoded: message.before))
    }
}

/// Asks for a page of the bans that hold, ordered by app and user.
package struct BansRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BansRequest
    /// The last app and user of the page before; empty for the first page.
    package var afterApp: String
    package var afterUser: String

    package init(afterApp: String = "", afterUser: String = "") {
        self.afterApp = afterApp
        self.afterUser = afterUser
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.afterApp, afterApp)
        sink.field(Fields.afterUser, afterUser)
    }
}

extension BansRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__bans_request__unpack)
        self.init(
            afterApp: WireText(message.after_app).string, afterUser: WireText(message.after_user).string)
    }
}

/// A page of bans.
package struct BansResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BansResponse
    /// At most 1,000.
    package var bans: [Ban]
    /// Whether another page follows.
    package var hasMore: Bool

    package init(bans: [Ban] = [], hasMore: Bool = false) {
        self.bans = bans
        self.hasMore = hasMore
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.bans, bans)
        sink.field(Fields.more, hasMore)
    }
}

extension BansResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__bans_response__unpack)
        var bans: [Ban] = []
        bans.reserveCapacity(message.n_bans)
        for index in 0..<message.n_bans {
            bans.append(try Ban(decoded: message.bans[index]))
        }
        self.init(bans: bans, hasMore: message.more != 0)
    }
}

/// What a gateway asks every event loop of every edge. Storage only passes it on, to every link that isn't a
/// gateway's or an operator's, and reads neither the query nor the findings: each loop has a link to storage,
/// and none to a gateway.
package struct EdgeQuestion: WireMessage {
    package typealias Fields = Schema.EdgeQuestion
    /// Given by storage; the answer carries it.
    package var number: UInt64
    /// An EdgeQuery.
    package var query: WireText

    package init(number: UInt64 = 0, query: WireText = .empty) {
        self.number = number
        self.query = query
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.number, number)
        sink.field(Fields.query, query)
    }
}

extension EdgeQuestion: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__edge_question__unpack)
        self.init(number: message.number, query: WireText(message.query))
    }
}

package struct EdgeAnswer: WireMessage {
    package typealias Fields = Schema.EdgeAnswer
    /// Of the question.
    package var number: UInt64
    /// An EdgeFindings.
    package var findings: WireText

    package init(number: UInt64 = 0, findings: WireText = .empty) {
        self.number = number
        self.findings = findings
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.number, number)
        sink.field(Fields.findings, findings)
    }
}

extension EdgeAnswer: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__edge_answer__unpack)
        self.init(number: message.number, findings: WireText(message.findings))
    }
}

extension EdgeAnswer {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EdgeAnswer>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(number: message.number, findings: WireText(message.findings))
    }
}

/// The answers that came within two seconds.
package struct EdgeAnswers: WireMessage {
    package typealias Fields = Schema.EdgeAnswers
    /// Links to event loops of edges.
    package var asked: UInt32
    package var answers: [EdgeAnswer]

    package init(asked: UInt32 = 0, answers: [EdgeAnswer] = []) {
        self.asked = asked
        self.answers = answers
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.asked, asked)
        sink.field(Fields.answers, answers)
    }
}

extension EdgeAnswers: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__edge_answers__unpack)
        var answers: [EdgeAnswer] = []
        answers.reserveCapacity(message.n_answers)
        for index in 0..<message.n_answers {
            answers.append(try EdgeAnswer(decoded: message.answers[index]))
        }
        self.init(asked: message.asked, answers: answers)
    }
}

/// What a gateway wants to know of the sessions and subscriptions of an app.
package struct EdgeQuery: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EdgeQuery
    package var appID: String
    /// Sessions, ordered by user and session; 0 = none are asked for.
    package var limit: UInt32
    /// Of users whose ids begin so.
    package var prefix: String
    /// Behind this session.
    package var afterUser: String
    /// Of that user.
    package var afterSession: UInt64
    /// Of this user alone; empty = of all.
    package var userID: String
    /// Whose subscribers are to be counted.
    package var channels: [ChannelKey]
    /// Absent = nothing is to be explained. Otherwise nothing else is answered.
    package var explain: EdgeExplain?
    /// This session alone; 0 = all.
    package var sessionID: UInt64
    /// Sessions are ordered by what waits for them, the most first, and then as ever.
    package var isByQueue: Bool
    /// With by_queue: what waited for the session of `after_session`.
    package var afterQueued: UInt64
    /// Absent = nothing is to be measured. Otherwise nothing else is answered.
    package var top: EdgeTop?

    package init(
        appID: String = "", limit: UInt32 = 0, prefix: String = "", afterUser: String = "",
        afterSession: UInt64 = 0, userID: String = "", channels: [ChannelKey] = [],
        explain: EdgeExplain? = nil, sessionID: UInt64 = 0, isByQueue: Bool = false,
        afterQueued: UInt64 = 0, top: EdgeTop? = nil
    ) {
        self.appID = appID
        self.limit = limit
        self.prefix = prefix
        self.afterUser = afterUser
        self.afterSession = afterSession
        self.userID = userID
        self.channels = channels
        self.explain = explain
        self.sessionID = sessionID
        self.isByQueue = isByQueue
        self.afterQueued = afterQueued
        self.top = top
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.limit, limit)
        sink.field(Fields.prefix, prefix)
        sink.field(Fields.afterUser, afterUser)
        sink.field(Fields.afterSession, afterSession)
        sink.field(Fields.userId, userID)
        sink.field(Fields.channels, channels)
        if let explain { sink.field(Fields.explain, explain) }
        sink.field(Fields.sessionId, sessionID)
        sink.field(Fields.byQueue, isByQueue)
        sink.field(Fields.afterQueued, afterQueued)
        if let top { sink.field(Fields.top, top) }
    }
}

extension EdgeQuery: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__edge_query__unpack)
        var channels: [ChannelKey] = []
        channels.reserveCapacity(message.n_channels)
        for index in 0..<message.n_channels {
            channels.append(try ChannelKey(decoded: message.channels[index]))
        }
        try self.init(
            appID: WireText(message.app_id).string, limit: message.limit,
            prefix: WireText(message.prefix).string, afterUser: WireText(message.after_user).string,
            afterSession: message.after_session, userID: WireText(message.user_id).string,
            channels: channels,
            explain: message.explain == nil ? nil : EdgeExplain(decoded: message.explain),
            sessionID: message.session_id, isByQueue: message.by_queue != 0,
            afterQueued: message.after_queued,
            top: message.top == nil ? nil : EdgeTop(decoded: message.top))
    }
}

/// What an event loop has found.
package struct EdgeFindings: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EdgeFindings
    package var sessions: [EdgeSession]
    /// Whether more follow behind the last one.
    package var hasMore: Bool
    /// Sessions of the app with the prefix.
    package var total: UInt64
    /// For each channel of the query.
    package var subscribers: [SubscriberCount]
    /// If the query asks for one.
    package var explanation: EdgeExplanation?
    /// If the query asks for them.
    package var top: EdgeTopFindings?

    package init(
        sessions: [EdgeSession] = [], hasMore: Bool = false, total: UInt64 = 0,
        subscribers: [SubscriberCount] = [], explanation: EdgeExplanation? = nil,
        top: EdgeTopFindings? = nil
    ) {
        self.sessions = sessions
        self.hasMore = hasMore
        self.total = total
        self.subscribers = subscribers
        self.explanation = explanation
        self.top = top
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.sessions, sessions)
        sink.field(Fields.more, hasMore)
        sink.field(Fields.total, total)
        sink.field(Fields.subscribers, subscribers)
        if let explanation { sink.field(Fields.explanation, explanation) }
        if let top { sink.field(Fields.top, top) }
    }
}

extension EdgeFindings: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__edge_findings__unpack)
        var sessions: [EdgeSession] = []
        sessions.reserveCapacity(message.n_sessions)
        for index in 0..<message.n_sessions {
            sessions.append(try EdgeSession(decoded: message.sessions[index]))
        }
        var subscribers: [SubscriberCount] = []
        subscribers.reserveCapacity(message.n_subscribers)
        for index in 0..<message.n_subscribers {
            subscribers.append(try SubscriberCount(decoded: message.subscribers[index]))
        }
        try self.init(
            sessions: sessions, hasMore: message.more != 0, total: message.total,
            subscribers: subscribers,
            explanation: message.explanation == nil ? nil : EdgeExplanation(decoded: message.explanation),
            top: message.top == nil ? nil : EdgeTopFindings(decoded: message.top))
    }
}

package struct SubscriberCount: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SubscriberCount
    /// Sessions of the event loop that are subscribed.
    package var count: UInt32

    package init(count: UInt32 = 0) {
        self.count = count
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.count, count)
    }
}

extension SubscriberCount {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__SubscriberCount>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(count: message.count)
    }
}

/// A session, as gateways show it.
package struct EdgeSession: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EdgeSession
    package var userID: String
    package var sessionID: UInt64
    /// The client's.
    package var address: String
    /// The name that the client gives its software.
    package var client: String
    /// UTC.
    package var sinceMilliseconds: UInt64
    /// What waits for the client.
    package var queuedBytes: UInt64
    /// Subscriptions.
    package var channelCount: UInt32

    package init(
        userID: String = "", sessionID: UInt64 = 0, address: String = "", client: String = "",
        sinceMilliseconds: UInt64 = 0, queuedBytes: UInt64 = 0, channelCount: UInt32 = 0
    ) {
        self.userID = userID
        self.sessionID = sessionID
        self.address = address
        self.client = client
        self.sinceMilliseconds = sinceMilliseconds
        self.queuedBytes = queuedBytes
        self.channelCount = channelCount
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.userId, userID)
        sink.field(Fields.sessionId, sessionID)
        sink.field(Fields.address, address)
        sink.field(Fields.client, client)
        sink.field(Fields.sinceMs, sinceMilliseconds)
        sink.field(Fields.queuedBytes, queuedBytes)
        sink.field(Fields.channels, channelCount)
    }
}

extension EdgeSession {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EdgeSession>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            userID: WireText(message.user_id).string, sessionID: message.session_id,
            address: WireText(message.address).string, client: WireText(message.client).string,
            sinceMilliseconds: message.since_ms, queuedBytes: message.queued_bytes,
            channelCount: message.channels)
    }
}

/// Asks an event loop for what is largest and busiest in the app. It watches channels and publishers for a
/// while, and one app at a time.
package struct EdgeTop: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EdgeTop
    /// Rows of each list, at most 100.
    package var limit: UInt32
    /// How long it watches, at most 1,000.
    package var measure: Duration

    package init(limit: UInt32 = 0, measure: Duration = .zero) {
        self.limit = limit
        self.measure = measure
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.limit, limit)
        sink.field(Fields.measureMs, milliseconds: measure)
    }
}

extension EdgeTop {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EdgeTop>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(limit: message.limit, measure: .milliseconds(Int64(message.measure_ms)))
    }
}

package struct EdgeTopFindings: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EdgeTopFindings
    /// It measures another app at present, so there is nothing else here.
    package var isBusy: Bool
    /// How long it has watched.
    package var measured: Duration
    /// For which the most bytes wait.
    package var queues: [EdgeSession]
    /// With the most deliveries here; ten times as many as rows.
    package var channels: [BusyChannel]
    /// That have published the most.
    package var publishers: [LoudSession]
    /// Of whom the most was refused.
    package var refused: [RefusedUser]
    /// UTC; no refusal that came since then is missing.
    package var refusedSinceMilliseconds: UInt64
    /// How often a quiet channel was left out, because there were too many.
    package var channelsOmitted: UInt32

    package init(
        isBusy: Bool = false, measured: Duration = .zero, queues: [EdgeSession] = [],
        channels: [BusyChannel] = [], publishers: [LoudSession] = [], refused: [RefusedUser] = [],
        refusedSinceMilliseconds: UInt64 = 0, channelsOmitted: UInt32 = 0
    ) {
        self.isBusy = isBusy
        self.measured = measured
        self.queues = queues
        self.channels = channels
        self.publishers = publishers
        self.refused = refused
        self.refusedSinceMilliseconds = refusedSinceMilliseconds
        self.channelsOmitted = channelsOmitted
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.busy, isBusy)
        sink.field(Fields.measuredMs, milliseconds: measured)
        sink.field(Fields.queues, queues)
        sink.field(Fields.channels, channels)
        sink.field(Fields.publishers, publishers)
        sink.field(Fields.refused, refused)
        sink.field(Fields.refusedSinceMs, refusedSinceMilliseconds)
        sink.field(Fields.channelsOmitted, channelsOmitted)
    }
}

extension EdgeTopFindings {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EdgeTopFindings>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        var queues: [EdgeSession] = []
        queues.reserveCapacity(message.n_queues)
        for index in 0..<message.n_queues {
            queues.append(try EdgeSession(decoded: message.queues[index]))
        }
        var channels: [BusyChannel] = []
        channels.reserveCapacity(message.n_channels)
        for index in 0..<message.n_channels {
            channels.append(try BusyChannel(decoded: message.channels[index]))
        }
        var publishers: [LoudSession] = []
        publishers.reserveCapacity(message.n_publishers)
        for index in 0..<message.n_publishers {
            publishers.append(try LoudSession(decoded: message.publishers[index]))
        }
        var refused: [RefusedUser] = []
        refused.reserveCapacity(message.n_refused)
        for index in 0..<message.n_refused {
            refused.append(try RefusedUser(decoded: message.refused[index]))
        }
        self.init(
            isBusy: message.busy != 0, measured: .milliseconds(Int64(message.measured_ms)),
            queues: queues, channels: channels, publishers: publishers, refused: refused,
            refusedSinceMilliseconds: message.refused_since_ms, channelsOmitted: message.channels_omitted)
    }
}

package struct BusyChannel: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BusyChannel
    package var channel: ChannelKey
    /// That arrived while it was watched.
    package var entries: UInt64
    /// Here.
    package var subscribers: UInt32

    package init(channel: ChannelKey, entries: UInt64 = 0, subscribers: UInt32 = 0) {
        self.channel = channel
        self.entries = entries
        self.subscribers = subscribers
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.entries, entries)
        sink.field(Fields.subscribers, subscribers)
    }
}

extension BusyChannel {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__BusyChannel>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        try self.init(
            channel: ChannelKey(decoded: message.channel), entries: message.entries,
            subscribers: message.subscribers)
    }
}

package struct LoudSession: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LoudSession
    package var session: EdgeSession
    /// That it sent while it was watched.
    package var messages: UInt64
    /// Of their payloads.
    package var bytes: UInt64

    package init(session: EdgeSession, messages: UInt64 = 0, bytes: UInt64 = 0) {
        self.session = session
        self.messages = messages
        self.bytes = bytes
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.session, session)
        sink.field(Fields.messages, messages)
        sink.field(Fields.bytes, bytes)
    }
}

extension LoudSession {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__LoudSession>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        try self.init(
            session: EdgeSession(decoded: message.session), messages: message.messages,
            bytes: message.bytes)
    }
}

/// The latest refusals of a user, of one kind.
package struct RefusedUser: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.RefusedUser
    package var userID: String
    /// SUBSCRIBE_REFUSED or PUBLISH_REFUSED.
    package var kind: SessionFactKind
    package var count: UInt64
    /// UTC; of the last one.
    package var atMilliseconds: UInt64
    /// Of the last one, as `channel`.
    package var reason: String
    /// Absent = it isn't known.
    package var channel: ChannelKey?

    package init(
        userID: String = "", kind: SessionFactKind, count: UInt64 = 0, atMilliseconds: UInt64 = 0,
        reason: String = "", channel: ChannelKey? = nil
    ) {
        self.userID = userID
        self.kind = kind
        self.count = count
        self.atMilliseconds = atMilliseconds
        self.reason = reason
        self.channel = channel
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.userId, userID)
        sink.field(Fields.kind, kind)
        sink.field(Fields.count, count)
        sink.field(Fields.atMs, atMilliseconds)
        sink.field(Fields.reason, reason)
        if let channel { sink.field(Fields.channel, channel) }
    }
}

extension RefusedUser {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__RefusedUser>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        guard let kind = SessionFactKind(rawValue: Int(message.kind.rawValue)) else { throw .undecodable }
        try self.init(
            userID: WireText(message.user_id).string, kind: kind, count: message.count,
            atMilliseconds: message.at_ms, reason: WireText(message.reason).string,
            channel: message.channel == nil ? nil : ChannelKey(decoded: message.channel))
    }
}

/// Of whom and of which channel an event loop is to say everything that it knows.
package struct EdgeExplain: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EdgeExplain
    /// Whose sessions; empty = nobody's.
    package var userID: String
    /// Absent = no channel is asked about.
    package var channel: ChannelKey?
    /// The user who would publish to the channel; empty = nobody.
    package var publisher: String

    package init(userID: String = "", channel: ChannelKey? = nil, publisher: String = "") {
        self.userID = userID
        self.channel = channel
        self.publisher = publisher
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.userId, userID)
        if let channel { sink.field(Fields.channel, channel) }
        sink.field(Fields.publisher, publisher)
    }
}

extension EdgeExplain {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EdgeExplain>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        try self.init(
            userID: WireText(message.user_id).string,
            channel: message.channel == nil ? nil : ChannelKey(decoded: message.channel),
            publisher: WireText(message.publisher).string)
    }
}

package struct EdgeExplanation: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EdgeExplanation
    /// The name of the edge.
    package var node: String
    /// The number of the event loop there.
    package var loop: UInt32
    /// Of subscriptions: no fact that came since then is missing.
    package var factsSinceMilliseconds: UInt64
    /// About the user and the channel, the newest first; at most 100.
    package var facts: [SessionFact]
    /// Of the user.
    package var sessions: [ExplainedSession]
    /// Absent = nobody here is subscribed to it.
    package var channel: ExplainedChannel?
    /// Absent = the user has no session here.
    package var publisher: ExplainedPublisher?
    /// No end of a session that came since then is missing.
    package var endsSinceMilliseconds: UInt64

    package init(
        node: String = "", loop: UInt32 = 0, factsSinceMilliseconds: UInt64 = 0,
        facts: [SessionFact] = [], sessions: [ExplainedSession] = [], channel: ExplainedChannel? = nil,
        publisher: ExplainedPublisher? = nil, endsSinceMilliseconds: UInt64 = 0
    ) {
        self.node = node
        self.loop = loop
        self.factsSinceMilliseconds = factsSinceMilliseconds
        self.facts = facts
        self.sessions = sessions
        self.channel = channel
        self.publisher = publisher
        self.endsSinceMilliseconds = endsSinceMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.node, node)
        sink.field(Fields.loop, loop)
        sink.field(Fields.factsSinceMs, factsSinceMilliseconds)
        sink.field(Fields.facts, facts)
        sink.field(Fields.sessions, sessions)
        if let channel { sink.field(Fields.channel, channel) }
        if let publisher { sink.field(Fields.publisher, publisher) }
        sink.field(Fields.endsSinceMs, endsSinceMilliseconds)
    }
}

extension EdgeExplanation {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EdgeExplanation>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        var facts: [SessionFact] = []
        facts.reserveCapacity(message.n_facts)
        for index in 0..<message.n_facts {
            facts.append(try SessionFact(decoded: message.facts[index]))
        }
        var sessions: [ExplainedSession] = []
        sessions.reserveCapacity(message.n_sessions)
        for index in 0..<message.n_sessions {
            sessions.append(try ExplainedSession(decoded: message.sessions[index]))
        }
        try self.init(
            node: WireText(message.node).string, loop: message.loop,
            factsSinceMilliseconds: message.facts_since_ms, facts: facts, sessions: sessions,
            channel: message.channel == nil ? nil : ExplainedChannel(decoded: message.channel),
            publisher: message.publisher == nil ? nil : ExplainedPublisher(decoded: message.publisher),
            endsSinceMilliseconds: message.ends_since_ms)
    }
}

package struct ExplainedSession: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ExplainedSession
    package var session: EdgeSession
    /// UTC; 0 = it doesn't.
    package var tokenExpiresMilliseconds: UInt64
    /// In the channel of the question.
    package var stage: SubscriptionStage
    /// What it gets of the channel; with 32 its own messages, too.
    package var features: SubscriptionFeatures
    /// As the session gets it; absent if it isn't subscribed.
    package var channel: ExplainedChannel?

    package init(
        session: EdgeSession, tokenExpiresMilliseconds: UInt64 = 0, stage: SubscriptionStage,
        features: SubscriptionFeatures = [], channel: ExplainedChannel? = nil
    ) {
        self.session = session
        self.tokenExpiresMilliseconds = tokenExpiresMilliseconds
        self.stage = stage
        self.features = features
        self.channel = channel
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.session, session)
        sink.field(Fields.tokenExpiresMs, tokenExpiresMilliseconds)
        sink.field(Fields.stage, stage)
        sink.field(Fields.features, features.rawValue)
        if let channel { sink.field(Fields.channel, channel) }
    }
}

extension ExplainedSession {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__ExplainedSession>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        guard let stage = SubscriptionStage(rawValue: Int(message.stage.rawValue)) else { throw .undecodable }
        try self.init(
            session: EdgeSession(decoded: message.session),
            tokenExpiresMilliseconds: message.token_expires_ms, stage: stage,
            features: SubscriptionFeatures(rawValue: message.features),
            channel: message.channel == nil ? nil : ExplainedChannel(decoded: message.channel))
    }
}

/// A channel as an event loop has it.
package struct ExplainedChannel: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ExplainedChannel
    /// Whether messaging delivers it at present.
    package var isAttached: Bool
    /// Of the newest entry that arrived; absent until it is attached.
    package var position: StreamPosition?
    package var subscribers: UInt32

    package init(isAttached: Bool = false, position: StreamPosition? = nil, subscribers: UInt32 = 0) {
        self.isAttached = isAttached
        self.position = position
        self.subscribers = subscribers
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.attached, isAttached)
        if let position { sink.field(Fields.position, position) }
        sink.field(Fields.subscribers, subscribers)
    }
}

extension ExplainedChannel {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__ExplainedChannel>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            isAttached: message.attached != 0, position: StreamPosition(message.position),
            subscribers: message.subscribers)
    }
}

/// Whether a session may publish to the channel of the question now.
package struct ExplainedPublisher: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ExplainedPublisher
    package var sessionID: UInt64
    /// Of the error that a publish would get; 0 = none.
    package var code: Int64
    /// Of this error.
    package var reason: String
    /// Of this error.
    package var retryAfter: Duration

    package init(sessionID: UInt64 = 0, code: Int64 = 0, reason: String = "", retryAfter: Duration = .zero) {
        self.sessionID = sessionID
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.sessionId, sessionID)
        sink.field(Fields.code, code)
        sink.field(Fields.reason, reason)
        sink.field(Fields.retryAfterMs, milliseconds: retryAfter)
    }
}

extension ExplainedPublisher {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__ExplainedPublisher>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            sessionID: message.session_id, code: message.code, reason: WireText(message.reason).string,
            retryAfter: .milliseconds(Int64(message.retry_after_ms)))
    }
}

/// Something that an event loop remembers.
package struct SessionFact: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SessionFact
    package var kind: SessionFactKind
    /// UTC.
    package var atMilliseconds: UInt64
    /// 0 = of all subscribers of the channel, or of no session.
    package var sessionID: UInt64
    /// Absent = it is about no channel.
    package var channel: ChannelKey?
    /// Absent = it isn't known.
    package var position: StreamPosition?
    /// Of a subscribe: up to where the client had the channel before; absent = it had nothing.
    package var after: StreamPosition?
    /// Of a subscribe: something behind `after` was lost, and that was reported.
    package var hasGap: Bool
    /// Of an end or a refusal.
    package var cause: String
    /// How often it came in a row; `at_ms` is the last time.
    package var count: UInt32

    package init(
        kind: SessionFactKind, atMilliseconds: UInt64 = 0, sessionID: UInt64 = 0,
        channel: ChannelKey? = nil, position: StreamPosition? = nil, after: StreamPosition? = nil,
        hasGap: Bool = false, cause: String = "", count: UInt32 = 0
    ) {
        self.kind = kind
        self.atMilliseconds = atMilliseconds
        self.sessionID = sessionID
        self.channel = channel
        self.position = position
        self.after = after
        self.hasGap = hasGap
        self.cause = cause
        self.count = count
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.kind, kind)
        sink.field(Fields.atMs, atMilliseconds)
        sink.field(Fields.sessionId, sessionID)
        if let channel { sink.field(Fields.channel, channel) }
        if let position { sink.field(Fields.position, position) }
        if let after { sink.field(Fields.after, after) }
        sink.field(Fields.gap, hasGap)
        sink.field(Fields.cause, cause)
        sink.field(Fields.count, count)
    }
}

extension SessionFact {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__SessionFact>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        guard let kind = SessionFactKind(rawValue: Int(message.kind.rawValue)) else { throw .undecodable }
        try self.init(
            kind: kind, atMilliseconds: message.at_ms, sessionID: message.session_id,
            channel: message.channel == nil ? nil : ChannelKey(decoded: message.channel),
            position: StreamPosition(message.position), after: StreamPosition(message.after),
            hasGap: message.gap != 0, cause: WireText(message.cause).string, count: message.count)
    }
}

/// Removes stored messages of a channel for good.
package struct PurgeHistoryRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PurgeHistoryRequest
    /// A message channel or a user's.
    package var channel: ChannelKey
    /// Those that are older; 0 = all.
    package var beforeMilliseconds: UInt64

    package init(channel: ChannelKey, beforeMilliseconds: UInt64 = 0) {
        self.channel = channel
        self.beforeMilliseconds = beforeMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.beforeMs, beforeMilliseconds)
    }
}

extension PurgeHistoryRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__purge_history_request__unpack)
        try self.init(channel: ChannelKey(decoded: message.channel), beforeMilliseconds: message.before_ms)
    }
}

package struct PurgeHistoryResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PurgeHistoryResponse
    /// How many messages are gone.
    package var removed: UInt64

    package init(removed: UInt64 = 0) {
        self.removed = removed
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.removed, removed)
    }
}

extension PurgeHistoryResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__purge_history_response__unpack)
        self.init(removed: message.removed)
    }
}

/// One event of an app. The events of an app have one order.
package struct AppEvent: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AppEvent
    /// Its place among the app's events. Offsets are dense within an epoch.
    package var position: StreamPosition
    package var type: AppEventType
    /// What it is about: a channel, a user (type user), or the app (none).
    package var keyType: ChannelType
    /// The channel's name or the user's id; empty for the app.
    package var key: String
    /// Counts the events of the key, without a hole; 0 = made for this answer alone.
    package var number: UInt64
    /// UTC; when it happened.
    package var timeMilliseconds: UInt64
    package var body: [UInt8]

    package init(
        position: StreamPosition, type: AppEventType, keyType: ChannelType, key: String = "",
        number: UInt64 = 0, timeMilliseconds: UInt64 = 0, body: [UInt8] = []
    ) {
        self.position = position
        self.type = type
        self.keyType = keyType
        self.key = key
        self.number = number
        self.timeMilliseconds = timeMilliseconds
        self.body = body
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.type, type)
        sink.field(Fields.keyType, keyType)
        sink.field(Fields.key, key)
        sink.field(Fields.number, number)
        sink.field(Fields.timeMs, timeMilliseconds)
        body.withUnsafeBytes { sink.field(Fields.body, WireText($0)) }
    }
}

extension AppEvent {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__AppEvent>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        guard let type = AppEventType(rawValue: Int(message.type.rawValue)) else { throw .undecodable }
        guard let keyType = ChannelType(rawValue: Int(message.key_type.rawValue)) else { throw .undecodable }
        self.init(
            position: position, type: type, keyType: keyType, key: WireText(message.key).string,
            number: message.number, timeMilliseconds: message.time_ms,
            body: Array(WireText(message.body).bytes))
    }
}

/// Events of which it isn't known what they were.
package struct EventGap: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EventGap
    /// One sentence.
    package var reason: String
    /// Of messaging, in which they happened.
    package var shard: UInt32
    /// UTC; what happened before is not concerned. 0 = not known.
    package var sinceMilliseconds: UInt64

    package init(reason: String = "", shard: UInt32 = 0, sinceMilliseconds: UInt64 = 0) {
        self.reason = reason
        self.shard = shard
        self.sinceMilliseconds = sinceMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.reason, reason)
        sink.field(Fields.shard, shard)
        sink.field(Fields.sinceMs, sinceMilliseconds)
    }
}

extension EventGap: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__event_gap__unpack)
        self.init(
            reason: WireText(message.reason).string, shard: message.shard,
            sinceMilliseconds: message.since_ms)
    }
}

/// Asks for the events of an app after a position, in their order.
package struct EventsRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EventsRequest
    package var appID: String
    /// Epoch 0: from the oldest that is kept.
    package var after: StreamPosition
    /// Instead of `after`: only what happens from now on.
    package var fromNewest: Bool
    /// Events at most.
    package var limit: UInt32
    /// Bit n selects AppEventType n; 0 = all.
    package var types: UInt32
    /// Only events of channels whose names begin with this, and gaps.
    package var channelPrefix: String
    /// How long to wait if there is none.
    package var wait: Duration

    package init(
        appID: String = "", after: StreamPosition, fromNewest: Bool = false, limit: UInt32 = 0,
        types: UInt32 = 0, channelPrefix: String = "", wait: Duration = .zero
    ) {
        self.appID = appID
        self.after = after
        self.fromNewest = fromNewest
        self.limit = limit
        self.types = types
        self.channelPrefix = channelPrefix
        self.wait = wait
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.after, after)
        sink.field(Fields.newest, fromNewest)
        sink.field(Fields.limit, limit)
        sink.field(Fields.types, types)
        sink.field(Fields.channelPrefix, channelPrefix)
        sink.field(Fields.waitMs, milliseconds: wait)
    }
}

extension EventsRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__events_request__unpack)
        guard let after = StreamPosition(message.after) else { throw .undecodable }
        self.init(
            appID: WireText(message.app_id).string, after: after, fromNewest: message.newest != 0,
            limit: message.limit, types: message.types,
            channelPrefix: WireText(message.channel_prefix).string,
            wait: .milliseconds(Int64(message.wait_ms)))
    }
}

package struct EventsResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EventsResponse
    package var events: [AppEvent]
    /// After which to read on; events that weren't asked for lie before it.
    package var next: StreamPosition
    /// Whether there may be more at once.
    package var hasMore: Bool

    package init(events: [AppEvent] = [], next: StreamPosition, hasMore: Bool = false) {
        self.events = events
        self.next = next
        self.hasMore = hasMore
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.events, events)
        sink.field(Fields.next, next)
        sink.field(Fields.more, hasMore)
    }
}

extension EventsResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__events_response__unpack)
        var events: [AppEvent] = []
        events.reserveCapacity(message.n_events)
        for index in 0..<message.n_events {
            events.append(try AppEvent(decoded: message.events[index]))
        }
        guard let next = StreamPosition(message.next) else { throw .undecodable }
        self.init(events: events, next: next, hasMore: message.more != 0)
    }
}

/// Makes a node the owner of a reader, unless another node owns it: a named subscriber whose position is
/// kept.
package struct ClaimReader: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ClaimReader
    package var appID: String
    /// Chosen by the caller, up to 64 bytes.
    package var name: String
    /// The node that asks.
    package var node: String
    /// It is the owner for so long, and again with every KeepReader.
    package var lease: Duration

    package init(appID: String = "", name: String = "", node: String = "", lease: Duration = .zero) {
        self.appID = appID
        self.name = name
        self.node = node
        self.lease = lease
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.name, name)
        sink.field(Fields.node, node)
        sink.field(Fields.leaseMs, milliseconds: lease)
    }
}

extension ClaimReader: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__claim_reader__unpack)
        self.init(
            appID: WireText(message.app_id).string, name: WireText(message.name).string,
            node: WireText(message.node).string, lease: .milliseconds(Int64(message.lease_ms)))
    }
}

package struct ReaderClaimed: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ReaderClaimed
    /// Greater than that of every owner before; 0 = another node is the owner.
    package var term: UInt64
    /// After which to read on. A new reader begins with what happens next.
    package var position: StreamPosition
    /// What the last owner kept.
    package var state: [UInt8]
    /// With a term of 0: the node that owns it.
    package var owner: String
    /// With a term of 0: when its lease ends.
    package var wait: Duration

    package init(
        term: UInt64 = 0, position: StreamPosition, state: [UInt8] = [], owner: String = "",
        wait: Duration = .zero
    ) {
        self.term = term
        self.position = position
        self.state = state
        self.owner = owner
        self.wait = wait
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.term, term)
        sink.field(Fields.position, position)
        state.withUnsafeBytes { sink.field(Fields.state, WireText($0)) }
        sink.field(Fields.owner, owner)
        sink.field(Fields.waitMs, milliseconds: wait)
    }
}

extension ReaderClaimed: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__reader_claimed__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            term: message.term, position: position, state: Array(WireText(message.state).bytes),
            owner: WireText(message.owner).string, wait: .milliseconds(Int64(message.wait_ms)))
    }
}

/// An event that a reader has given up.
package struct DeadLetter: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.DeadLetter
    /// Storage numbers them.
    package var number: UInt64
    /// Of the event.
    package var position: StreamPosition
    /// UTC; when it was given up.
    package var timeMilliseconds: UInt64
    /// One sentence.
    package var reason: String
    /// What the reader wants to keep of it.
    package var body: [UInt8]

    package init(
        number: UInt64 = 0, position: StreamPosition, timeMilliseconds: UInt64 = 0, reason: String = "",
        body: [UInt8] = []
    ) {
        self.number = number
        self.position = position
        self.timeMilliseconds = timeMilliseconds
        self.reason = reason
        self.body = body
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.number, number)
        sink.field(Fields.position, position)
        sink.field(Fields.timeMs, timeMilliseconds)
        sink.field(Fields.reason, reason)
        body.withUnsafeBytes { sink.field(Fields.body, WireText($0)) }
    }
}

extension DeadLetter {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__DeadLetter>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            number: message.number, position: position, timeMilliseconds: message.time_ms,
            reason: WireText(message.reason).string, body: Array(WireText(message.body).bytes))
    }
}

/// Keeps how far a reader has come. Nothing of it is kept unless the term is that of the present owner.
package struct KeepReader: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.KeepReader
    package var appID: String
    package var name: String
    package var term: UInt64
    /// 0 = the owner gives the reader up.
    package var lease: Duration
    /// After which to read on.
    package var position: StreamPosition
    /// At most 64 KiB.
    package var state: [UInt8]
    /// At most 100. A reader has at most 1,000: the oldest go.
    package var letters: [DeadLetter]
    /// Dead letters that are removed.
    package var removed: [DeadLetterNumber]

    package init(
        appID: String = "", name: String = "", term: UInt64 = 0, lease: Duration = .zero,
        position: StreamPosition, state: [UInt8] = [], letters: [DeadLetter] = [],
        removed: [DeadLetterNumber] = []
    ) {
        self.appID = appID
        self.name = name
        self.term = term
        self.lease = lease
        self.position = position
        self.state = state
        self.letters = letters
        self.removed = removed
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.name, name)
        sink.field(Fields.term, term)
        sink.field(Fields.leaseMs, milliseconds: lease)
        sink.field(Fields.position, position)
        state.withUnsafeBytes { sink.field(Fields.state, WireText($0)) }
        sink.field(Fields.letters, letters)
        sink.field(Fields.removed, removed)
    }
}

extension KeepReader: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__keep_reader__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        var letters: [DeadLetter] = []
        letters.reserveCapacity(message.n_letters)
        for index in 0..<message.n_letters {
            letters.append(try DeadLetter(decoded: message.letters[index]))
        }
        var removed: [DeadLetterNumber] = []
        removed.reserveCapacity(message.n_removed)
        for index in 0..<message.n_removed {
            removed.append(try DeadLetterNumber(decoded: message.removed[index]))
        }
        self.init(
            appID: WireText(message.app_id).string, name: WireText(message.name).string,
            term: message.term, lease: .milliseconds(Int64(message.lease_ms)), position: position,
            state: Array(WireText(message.state).bytes), letters: letters, removed: removed)
    }
}

package struct DeadLetterNumber: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.DeadLetterNumber
    package var number: UInt64

    package init(number: UInt64 = 0) {
        self.number = number
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.number, number)
    }
}

extension DeadLetterNumber {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__DeadLetterNumber>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(number: message.number)
    }
}

package struct ReaderKept: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ReaderKept
    /// False: another node is the owner, or the reader was moved.
    package var isKept: Bool

    package init(isKept: Bool = false) {
        self.isKept = isKept
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.kept, isKept)
    }
}

extension ReaderKept: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__reader_kept__unpack)
        self.init(isKept: message.kept != 0)
    }
}

/// Moves a reader to another position, or forgets it with its dead letters. Its owner learns of it by its
/// next KeepReader, which isn't kept.
package struct MoveReader: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.MoveReader
    package var appID: String
    package var name: String
    /// Epoch 0: before the oldest event that is kept.
    package var position: StreamPosition
    /// The reader is forgotten instead.
    package var forgets: Bool

    package init(appID: String = "", name: String = "", position: StreamPosition, forgets: Bool = false) {
        self.appID = appID
        self.name = name
        self.position = position
        self.forgets = forgets
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.name, name)
        sink.field(Fields.position, position)
        sink.field(Fields.forgets, forgets)
    }
}

extension MoveReader: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__move_reader__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            appID: WireText(message.app_id).string, name: WireText(message.name).string,
            position: position, forgets: message.forgets != 0)
    }
}

package struct ReaderMoved: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ReaderMoved
    /// Whether there is the reader.
    package var isFound: Bool

    package init(isFound: Bool = false) {
        self.isFound = isFound
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.found, isFound)
    }
}

extension ReaderMoved: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__reader_moved__unpack)
        self.init(isFound: message.found != 0)
    }
}

/// Asks for a page of an app's readers, ordered by name.
package struct ReadersRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ReadersRequest
    package var appID: String
    /// The last name of the page before.
    package var after: String

    package init(appID: String = "", after: String = "") {
        self.appID = appID
        self.after = after
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.after, after)
    }
}

extension ReadersRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__readers_request__unpack)
        self.init(appID: WireText(message.app_id).string, after: WireText(message.after).string)
    }
}

package struct EventReader: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EventReader
    package var name: String
    /// Empty if nobody owns it.
    package var owner: String
    package var term: UInt64
    /// What is left of the lease.
    package var lease: Duration
    /// After which it reads on.
    package var position: StreamPosition
    /// What the owner kept.
    package var state: [UInt8]
    /// How many dead letters it has.
    package var letters: UInt32
    /// How many were dropped, because it had too many.
    package var dropped: UInt64

    package init(
        name: String = "", owner: String = "", term: UInt64 = 0, lease: Duration = .zero,
        position: StreamPosition, state: [UInt8] = [], letters: UInt32 = 0, dropped: UInt64 = 0
    ) {
        self.name = name
        self.owner = owner
        self.term = term
        self.lease = lease
        self.position = position
        self.state = state
        self.letters = letters
        self.dropped = dropped
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.name, name)
        sink.field(Fields.owner, owner)
        sink.field(Fields.term, term)
        sink.field(Fields.leaseMs, milliseconds: lease)
        sink.field(Fields.position, position)
        state.withUnsafeBytes { sink.field(Fields.state, WireText($0)) }
        sink.field(Fields.letters, letters)
        sink.field(Fields.dropped, dropped)
    }
}

extension EventReader {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EventReader>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            name: WireText(message.name).string, owner: WireText(message.owner).string,
            term: message.term, lease: .milliseconds(Int64(message.lease_ms)), position: position,
            state: Array(WireText(message.state).bytes), letters: message.letters,
            dropped: message.dropped)
    }
}

package struct ReadersResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ReadersResponse
    /// At most 100.
    package var readers: [EventReader]
    /// Whether another page follows.
    package var hasMore: Bool
    /// Of the app's newest event.
    package var newest: StreamPosition
    /// Before the oldest event that is kept.
    package var oldest: StreamPosition

    package init(
        readers: [EventReader] = [], hasMore: Bool = false, newest: StreamPosition, oldest: StreamPosition
    ) {
        self.readers = readers
        self.hasMore = hasMore
        self.newest = newest
        self.oldest = oldest
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.readers, readers)
        sink.field(Fields.more, hasMore)
        sink.field(Fields.newest, newest)
        sink.field(Fields.oldest, oldest)
    }
}

extension ReadersResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__readers_response__unpack)
        var readers: [EventReader] = []
        readers.reserveCapacity(message.n_readers)
        for index in 0..<message.n_readers {
            readers.append(try EventReader(decoded: message.readers[index]))
        }
        guard let newest = StreamPosition(message.newest) else { throw .undecodable }
        guard let oldest = StreamPosition(message.oldest) else { throw .undecodable }
        self.init(readers: readers, hasMore: message.more != 0, newest: newest, oldest: oldest)
    }
}

/// Asks for a page of a reader's dead letters, ordered by number.
package struct DeadLettersRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.DeadLettersRequest
    package var appID: String
    package var name: String
    /// The last number of the page before.
    package var after: UInt64
    /// At most so many, up to 100.
    package var limit: UInt32

    package init(appID: String = "", name: String = "", after: UInt64 = 0, limit: UInt32 = 0) {
        self.appID = appID
        self.name = name
        self.after = after
        self.limit = limit
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.name, name)
        sink.field(Fields.after, after)
        sink.field(Fields.limit, limit)
    }
}

extension DeadLettersRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__dead_letters_request__unpack)
        self.init(
            appID: WireText(message.app_id).string, name: WireText(message.name).string,
            after: message.after, limit: message.limit)
    }
}

package struct DeadLettersResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.DeadLettersResponse
    package var letters: [DeadLetter]
    /// Whether another page follows.
    package var hasMore: Bool

    package init(letters: [DeadLetter] = [], hasMore: Bool = false) {
        self.letters = letters
        self.hasMore = hasMore
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.letters, letters)
        sink.field(Fields.more, hasMore)
    }
}

extension DeadLettersResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__dead_letters_response__unpack)
        var letters: [DeadLetter] = []
        letters.reserveCapacity(message.n_letters)
        for index in 0..<message.n_letters {
            letters.append(try DeadLetter(decoded: message.letters[index]))
        }
        self.init(letters: letters, hasMore: message.more != 0)
    }
}

/// A change that the holder of an API key has made or tried.
package struct AuditLine: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AuditLine
    /// Storage numbers the lines of an app, in their order.
    package var number: UInt64
    /// UTC; when it ended.
    package var timeMilliseconds: UInt64
    /// Who: the id of the key, as "key ID".
    package var by: String
    /// From where.
    package var address: String
    /// The kind of change, such as "POST users ban".
    package var what: String
    /// The user, channel or thing that it is about.
    package var whom: String
    /// The status, and the name of the error.
    package var outcome: String
    /// Lines of this key and kind that were left out since the one before, because they were too many.
    package var omitted: UInt64

    package init(
        number: UInt64 = 0, timeMilliseconds: UInt64 = 0, by: String = "", address: String = "",
        what: String = "", whom: String = "", outcome: String = "", omitted: UInt64 = 0
    ) {
        self.number = number
        self.timeMilliseconds = timeMilliseconds
        self.by = by
        self.address = address
        self.what = what
        self.whom = whom
        self.outcome = outcome
        self.omitted = omitted
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.number, number)
        sink.field(Fields.timeMs, timeMilliseconds)
        sink.field(Fields.by, by)
        sink.field(Fields.address, address)
        sink.field(Fields.what, what)
        sink.field(Fields.whom, whom)
        sink.field(Fields.outcome, outcome)
        sink.field(Fields.omitted, omitted)
    }
}

extension AuditLine {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__AuditLine>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            number: message.number, timeMilliseconds: message.time_ms, by: WireText(message.by).string,
            address: WireText(message.address).string, what: WireText(message.what).string,
            whom: WireText(message.whom).string, outcome: WireText(message.outcome).string,
            omitted: message.omitted)
    }
}

/// Adds a line to the audit trail of an app. Of each key and kind of change the newest 1,000 stay.
package struct KeepAudit: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.KeepAudit
    package var appID: String
    /// Without a number.
    package var line: AuditLine

    package init(appID: String = "", line: AuditLine) {
        self.appID = appID
        self.line = line
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.line, line)
    }
}

extension KeepAudit: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__keep_audit__unpack)
        try self.init(appID: WireText(message.app_id).string, line: AuditLine(decoded: message.line))
    }
}

/// Asks for a page of the audit lines of an app, the newest first.
package struct AuditRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AuditRequest
    package var appID: String
    /// Only lines with smaller numbers; 0 = from the newest.
    package var before: UInt64
    /// At most so many, up to 1,000.
    package var limit: UInt32

    package init(appID: String = "", before: UInt64 = 0, limit: UInt32 = 0) {
        self.appID = appID
        self.before = before
        self.limit = limit
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.before, before)
        sink.field(Fields.limit, limit)
    }
}

extension AuditRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__audit_request__unpack)
        self.init(appID: WireText(message.app_id).string, before: message.before, limit: message.limit)
    }
}

package struct AuditResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AuditResponse
    /// The newest first.
    package var lines: [AuditLine]
    /// Whether older ones follow.
    package var hasMore: Bool

    package init(lines: [AuditLine] = [], hasMore: Bool = false) {
        self.lines = lines
        self.hasMore = hasMore
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.lines, lines)
        sink.field(Fields.more, hasMore)
    }
}

extension AuditResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__audit_response__unpack)
        var lines: [AuditLine] = []
        lines.reserveCapacity(message.n_lines)
        for index in 0..<message.n_lines {
            lines.append(try AuditLine(decoded: message.lines[index]))
        }
        self.init(lines: lines, hasMore: message.more != 0)
    }
}
