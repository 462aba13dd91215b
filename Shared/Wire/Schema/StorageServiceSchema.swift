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
    }

    /// rtm.service.EdgeFindings
    package enum EdgeFindings {
        package static var sessions: SchemaField<[EdgeSession]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
        package static var total: SchemaField<UInt64> { SchemaField(3) }
        package static var subscribers: SchemaField<[SubscriberCount]> { SchemaField(4) }
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

    /// rtm.service.PurgeHistoryRequest
    package enum PurgeHistoryRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var beforeMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.PurgeHistoryResponse
    package enum PurgeHistoryResponse {
        package static var removed: SchemaField<UInt64> { SchemaField(1) }
    }
}

/// The numbers of the methods of storage.
package enum StorageMethod {
    /// Request AppendHistoryRequest.
    package static let appendHistory: UInt32 = 1
    /// Request CallRequest, response StorageCallResponse.
    package static let call: UInt32 = 2
    /// Request SnapshotRequest, response SnapshotResponse.
    package static let snapshot: UInt32 = 3
    /// Push LockGrantedPush, storage to edge.
    package static let lockGranted: UInt32 = 4
    /// Push SessionPush, edge to storage.
    package static let session: UInt32 = 5
    /// Request Ban, response BanOutcome, from an operator's program.
    package static let ban: UInt32 = 6
    /// Push Ban, storage to every link: those that hold when it opens, then each that is asked for.
    package static let banned: UInt32 = 7
    /// Push BanReport, edge to storage: what came of a Ban with a number.
    package static let banReport: UInt32 = 8
    /// Request BansRequest, response BansResponse, from an operator's program.
    package static let bans: UInt32 = 9
    /// Request EdgeQuestion, response EdgeAnswers, from a gateway.
    package static let askEdges: UInt32 = 10
    /// Push EdgeQuestion, storage to every link.
    package static let edgeQuestion: UInt32 = 11
    /// Push EdgeAnswer, edge to storage.
    package static let edgeAnswer: UInt32 = 12
    /// Request PurgeHistoryRequest, response PurgeHistoryResponse, from a gateway.
    package static let purgeHistory: UInt32 = 13

    /// The methods' names, for people who look at traces.
    package static let names: [UInt32: String] = [
        appendHistory: "appendHistory", call: "call", snapshot: "snapshot", lockGranted: "lockGranted",
        session: "session", ban: "ban", banned: "banned", banReport: "banReport", bans: "bans",
        askEdges: "askEdges", edgeQuestion: "edgeQuestion", edgeAnswer: "edgeAnswer",
        purgeHistory: "purgeHistory"
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
    package var metadata: Bool
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

/// A user who may not log in for a while, or whose session ends now.
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

/// What came of an operator's Ban.
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

/// What a gateway asks every event loop of every edge. Storage only passes it on: each of them has a link to
/// it, and none to a gateway.
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

/// The answers that came in time.
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
    package var afterSession: UInt64
    /// Of this user alone; empty = of all.
    package var userID: String
    /// Whose subscribers are to be counted.
    package var channels: [ChannelKey]

    package init(
        appID: String = "", limit: UInt32 = 0, prefix: String = "", afterUser: String = "",
        afterSession: UInt64 = 0, userID: String = "", channels: [ChannelKey] = []
    ) {
        self.appID = appID
        self.limit = limit
        self.prefix = prefix
        self.afterUser = afterUser
        self.afterSession = afterSession
        self.userID = userID
        self.channels = channels
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.limit, limit)
        sink.field(Fields.prefix, prefix)
        sink.field(Fields.afterUser, afterUser)
        sink.field(Fields.afterSession, afterSession)
        sink.field(Fields.userId, userID)
        sink.field(Fields.channels, channels)
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
        self.init(
            appID: WireText(message.app_id).string, limit: message.limit,
            prefix: WireText(message.prefix).string, afterUser: WireText(message.after_user).string,
            afterSession: message.after_session, userID: WireText(message.user_id).string,
            channels: channels)
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

    package init(
        sessions: [EdgeSession] = [], hasMore: Bool = false, total: UInt64 = 0,
        subscribers: [SubscriberCount] = []
    ) {
        self.sessions = sessions
        self.hasMore = hasMore
        self.total = total
        self.subscribers = subscribers
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.sessions, sessions)
        sink.field(Fields.more, hasMore)
        sink.field(Fields.total, total)
        sink.field(Fields.subscribers, subscribers)
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
        self.init(
            sessions: sessions, hasMore: message.more != 0, total: message.total, subscribers: subscribers)
    }
}

package struct SubscriberCount: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SubscriberCount
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

/// Removes stored messages of a channel for good.
package struct PurgeHistoryRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PurgeHistoryRequest
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
