// Written by protocol/generate_wire.py from service/messaging_service.proto: `make generate`.
// swift-format-ignore-file

import CProtobufC
package import RTMModel
import RTMProtocolC

extension Schema {
    /// rtm.service.LeaderPush
    package enum LeaderPush {
        package static var term: SchemaField<UInt64> { SchemaField(1) }
        package static var follows: SchemaField<UInt64> { SchemaField(2) }
        package static var lineage: SchemaField<[EarlierTerm]> { SchemaField(3) }
    }

    /// rtm.service.EarlierTerm
    package enum EarlierTerm {
        package static var term: SchemaField<UInt64> { SchemaField(1) }
    }

    /// rtm.service.NodesPush
    package enum NodesPush {
        package static var nodes: SchemaField<[NodeAddress]> { SchemaField(1) }
    }

    /// rtm.service.NodeAddress
    package enum NodeAddress {
        package static var host: SchemaField<String> { SchemaField(1) }
        package static var port: SchemaField<UInt32> { SchemaField(2) }
    }

    /// rtm.service.ChannelKey
    package enum ChannelKey {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var type: SchemaField<Enumeration> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.service.AttachRequest
    package enum AttachRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var interest: SchemaField<UInt64> { SchemaField(2) }
        package static var after: SchemaField<StreamPosition> { SchemaField(3) }
        package static var exclusive: SchemaField<Bool> { SchemaField(4) }
        package static var ownership: SchemaField<UInt64> { SchemaField(5) }
        package static var owner: SchemaField<UInt64> { SchemaField(6) }
        package static var returns: SchemaField<Bool> { SchemaField(7) }
        package static var attempt: SchemaField<UInt64> { SchemaField(8) }
    }

    /// rtm.service.AttachResponse
    package enum AttachResponse {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var ownership: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.service.SkipPush
    package enum SkipPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var features: SchemaField<UInt32> { SchemaField(3) }
        package static var wentBack: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.SupersededPush
    package enum SupersededPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var owner: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.DetachPush
    package enum DetachPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var loggedOut: SchemaField<Bool> { SchemaField(2) }
    }

    /// rtm.service.PublishRequest
    package enum PublishRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var publisher: SchemaField<String> { SchemaField(2) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(3) }
        package static var needsReceiver: SchemaField<Bool> { SchemaField(4) }
        package static var messages: SchemaField<[Message]> { SchemaField(5) }
        package static var instance: SchemaField<UInt64> { SchemaField(6) }
        package static var sequence: SchemaField<UInt64> { SchemaField(7) }
        package static var again: SchemaField<Bool> { SchemaField(8) }
        package static var ageMs: SchemaField<UInt32> { SchemaField(9) }
        package static var epoch: SchemaField<UInt64> { SchemaField(10) }
    }

    /// rtm.service.PublishResponse
    package enum PublishResponse {
        package static var offset: SchemaField<UInt64> { SchemaField(1) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(2) }
        package static var order: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.BackendPublishRequest
    package enum BackendPublishRequest {
        package static var condition: SchemaField<PublishCondition> { SchemaField(1) }
        package static var publish: SchemaField<PublishRequest> { SchemaField(2) }
    }

    /// rtm.service.PublishCondition
    package enum PublishCondition {
        package static var newest: SchemaField<StreamPosition> { SchemaField(1) }
        package static var version: SchemaField<UInt64> { SchemaField(2) }
        package static var versionEpoch: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.service.BackendPublishResponse
    package enum BackendPublishResponse {
        package static var outcome: SchemaField<Enumeration> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(3) }
        package static var rememberedMs: SchemaField<UInt64> { SchemaField(4) }
        package static var version: SchemaField<UInt64> { SchemaField(5) }
        package static var versionEpoch: SchemaField<String> { SchemaField(6) }
        package static var order: SchemaField<UInt32> { SchemaField(7) }
    }

    /// rtm.service.ListRequest
    package enum ListRequest {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var type: SchemaField<Enumeration> { SchemaField(2) }
        package static var prefix: SchemaField<String> { SchemaField(3) }
        package static var after: SchemaField<String> { SchemaField(4) }
        package static var limit: SchemaField<UInt32> { SchemaField(5) }
        package static var name: SchemaField<String> { SchemaField(6) }
    }

    /// rtm.service.ListResponse
    package enum ListResponse {
        package static var channels: SchemaField<[ListedChannel]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
        package static var total: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.service.ListedChannel
    package enum ListedChannel {
        package static var name: SchemaField<String> { SchemaField(1) }
        package static var newest: SchemaField<StreamPosition> { SchemaField(2) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.service.AppendRequest
    package enum AppendRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var source: SchemaField<UInt64> { SchemaField(2) }
        package static var events: SchemaField<[AppendedEvent]> { SchemaField(3) }
    }

    /// rtm.service.AppendedEvent
    package enum AppendedEvent {
        package static var publisher: SchemaField<String> { SchemaField(1) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(2) }
        package static var feature: SchemaField<UInt32> { SchemaField(3) }
        package static var event: SchemaField<Bytes> { SchemaField(4) }
        package static var sequence: SchemaField<UInt64> { SchemaField(5) }
    }

    /// rtm.service.AppendResponse
    package enum AppendResponse {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.ReadRequest
    package enum ReadRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var after: SchemaField<StreamPosition> { SchemaField(2) }
        package static var exceptPublisher: SchemaField<String> { SchemaField(3) }
        package static var features: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.service.ReadResponse
    package enum ReadResponse {
        package static var frames: SchemaField<Bytes> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var gap: SchemaField<Bool> { SchemaField(3) }
        package static var more: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.DeliveryPush
    package enum DeliveryPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var offset: SchemaField<UInt64> { SchemaField(2) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(3) }
        package static var feature: SchemaField<UInt32> { SchemaField(4) }
        package static var frames: SchemaField<Bytes> { SchemaField(5) }
        package static var count: SchemaField<UInt32> { SchemaField(6) }
        package static var offsetsBetween: SchemaField<UInt64> { SchemaField(7) }
    }

    /// rtm.service.FeedPosition
    package enum FeedPosition {
        package static var epoch: SchemaField<UInt64> { SchemaField(1) }
        package static var sequence: SchemaField<UInt64> { SchemaField(2) }
        package static var partition: SchemaField<UInt32> { SchemaField(3) }
        package static var offset: SchemaField<UInt64> { SchemaField(4) }
    }

    /// rtm.service.FeedRequest
    package enum FeedRequest {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var after: SchemaField<FeedPosition> { SchemaField(2) }
        package static var waitMs: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.FeedResponse
    package enum FeedResponse {
        package static var frames: SchemaField<Bytes> { SchemaField(1) }
        package static var next: SchemaField<FeedPosition> { SchemaField(2) }
        package static var gap: SchemaField<Bool> { SchemaField(3) }
        package static var more: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.ExplainRequest
    package enum ExplainRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var entry: SchemaField<StreamPosition> { SchemaField(2) }
    }

    /// rtm.service.ExplainResponse
    package enum ExplainResponse {
        package static var trace: SchemaField<Enumeration> { SchemaField(1) }
        package static var head: SchemaField<StreamPosition> { SchemaField(2) }
        package static var entry: SchemaField<ExplainedEntry> { SchemaField(3) }
        package static var links: SchemaField<[ExplainedLink]> { SchemaField(4) }
        package static var leftMs: SchemaField<UInt64> { SchemaField(5) }
        package static var knownSinceMs: SchemaField<UInt64> { SchemaField(6) }
    }

    /// rtm.service.ExplainedEntry
    package enum ExplainedEntry {
        package static var timestampMs: SchemaField<UInt64> { SchemaField(1) }
        package static var publisher: SchemaField<String> { SchemaField(2) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(3) }
        package static var feature: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.service.ExplainedLink
    package enum ExplainedLink {
        package static var node: SchemaField<String> { SchemaField(1) }
        package static var waitingBytes: SchemaField<UInt64> { SchemaField(2) }
    }
}

/// The methods of messaging.
package enum MessagingMethod {
    /// Request AttachRequest, response AttachResponse.
    @inlinable package static var attach: ServiceMethod<AttachRequest, AttachResponse> { .init(1) }
    /// Push DetachPush, edge to messaging.
    @inlinable package static var detach: ServicePush<DetachPush> { .init(2) }
    /// Request PublishRequest, response PublishResponse.
    @inlinable package static var publish: ServiceMethod<PublishRequest, PublishResponse> { .init(3) }
    /// Request ReadRequest, response ReadResponse.
    @inlinable package static var read: ServiceMethod<ReadRequest, ReadResponse> { .init(4) }
    /// Push DeliveryPush, messaging to edge.
    @inlinable package static var delivery: ServicePush<DeliveryPush> { .init(5) }
    /// Push SupersededPush, messaging to edge.
    @inlinable package static var superseded: ServicePush<SupersededPush> { .init(6) }
    /// Request AppendRequest, response AppendResponse.
    @inlinable package static var append: ServiceMethod<AppendRequest, AppendResponse> { .init(7) }
    /// Push SkipPush, messaging to edge.
    @inlinable package static var skip: ServicePush<SkipPush> { .init(8) }
    /// Push LeaderPush, messaging to its callers.
    @inlinable package static var leader: ServicePush<LeaderPush> { .init(9) }
    /// Push LeaderPush, a caller to a node that announces its leadership without knowing the last leader's
    /// term.
    @inlinable package static var outdated: ServicePush<LeaderPush> { .init(10) }
    /// Push NodesPush, messaging to its callers.
    @inlinable package static var nodes: ServicePush<NodesPush> { .init(11) }
    /// Request BackendPublishRequest, response BackendPublishResponse, from a gateway.
    @inlinable package static var backendPublish: ServiceMethod<BackendPublishRequest, BackendPublishResponse> { .init(12) }
    /// Request ListRequest, response ListResponse, from a gateway.
    @inlinable package static var list: ServiceMethod<ListRequest, ListResponse> { .init(13) }
    /// Request FeedRequest, response FeedResponse, from storage.
    @inlinable package static var feed: ServiceMethod<FeedRequest, FeedResponse> { .init(14) }
    /// Request ExplainRequest, response ExplainResponse, from a gateway.
    @inlinable package static var explain: ServiceMethod<ExplainRequest, ExplainResponse> { .init(15) }

    /// The methods' names by their numbers, for people who look at traces.
    package static let names: [UInt32: String] = [
        1: "attach", 2: "detach", 3: "publish", 4: "read", 5: "delivery", 6: "superseded", 7: "append",
        8: "skip", 9: "leader", 10: "outdated", 11: "nodes", 12: "backendPublish", 13: "list", 14: "feed",
        15: "explain"
    ]
}

/// What became of a backend's publish.
package enum PublishOutcome: Int, Sendable, Hashable, CaseIterable {
    case published = 0
    /// It was published before.
    case repeated = 1
    /// The condition names another position than that of the newest message.
    case outdatedPosition = 2
    /// The channel's last version isn't below that of the condition.
    case outdatedVersion = 3
    /// Another message was published with the same instance.
    case otherContent = 4
}

/// What a log knows of an offset.
package enum EntryTrace: Int, Sendable, Hashable, CaseIterable {
    /// None was asked for.
    case none = 0
    /// It is an entry of the channel.
    case found = 1
    /// No entry has had this offset yet.
    case ahead = 2
    /// The channel has no entry with it; it may be one of another channel.
    case absent = 3
    /// The tail doesn't reach back so far.
    case forgotten = 4
    /// The epoch is another one than that of the log.
    case otherLog = 5
}

/// A node announces that it leads the shard from now on. It is the first push over a link to a leader; every
/// other node refuses all requests. The caller remembers the term. It doesn't accept a leader whose logs
/// don't continue that term: then Redis has come back with older data, and what was acknowledged since is
/// missing.
package struct LeaderPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeaderPush
    /// The number of the leadership; it grows with each one.
    package var term: UInt64
    /// The term of the leader whose logs it continues; if the logs are new, its own term.
    package var follows: UInt64
    /// That term and those before it, the newest first, 16 at most; a term between them that isn't here isn't
    /// continued.
    package var lineage: [EarlierTerm]

    package init(term: UInt64 = 0, follows: UInt64 = 0, lineage: [EarlierTerm] = []) {
        self.term = term
        self.follows = follows
        self.lineage = lineage
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.term, term)
        sink.field(Fields.follows, follows)
        sink.field(Fields.lineage, lineage)
    }
}

extension LeaderPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__leader_push__unpack)
        var lineage: [EarlierTerm] = []
        lineage.reserveCapacity(message.n_lineage)
        for index in 0..<message.n_lineage {
            lineage.append(try EarlierTerm(decoded: message.lineage[index]))
        }
        self.init(term: message.term, follows: message.follows, lineage: lineage)
    }
}

/// One of the terms that a leader continues.
package struct EarlierTerm: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.EarlierTerm
    /// The number of a leadership.
    package var term: UInt64

    package init(term: UInt64 = 0) {
        self.term = term
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.term, term)
    }
}

extension EarlierTerm {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__EarlierTerm>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(term: message.term)
    }
}

/// The live messaging nodes that announce where they are reached. The list goes over links to shard 0, when
/// the link opens and whenever the list changes. A caller connects to all of them, beside those that it was
/// configured with.
package struct NodesPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.NodesPush
    package var nodes: [NodeAddress]

    package init(nodes: [NodeAddress] = []) {
        self.nodes = nodes
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.nodes, nodes)
    }
}

extension NodesPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__nodes_push__unpack)
        var nodes: [NodeAddress] = []
        nodes.reserveCapacity(message.n_nodes)
        for index in 0..<message.n_nodes {
            nodes.append(try NodeAddress(decoded: message.nodes[index]))
        }
        self.init(nodes: nodes)
    }
}

/// Where a node listens for the other services.
package struct NodeAddress: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.NodeAddress
    /// A name or an address.
    package var host: String
    package var port: UInt32

    package init(host: String = "", port: UInt32 = 0) {
        self.host = host
        self.port = port
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.host, host)
        sink.field(Fields.port, port)
    }
}

extension NodeAddress {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__NodeAddress>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(host: WireText(message.host).string, port: message.port)
    }
}

package struct AttachResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AttachResponse
    /// Deliveries continue after this position.
    package var position: StreamPosition
    /// The owner's number; greater than that of every earlier owner.
    package var ownership: UInt64

    package init(position: StreamPosition, ownership: UInt64 = 0) {
        self.position = position
        self.ownership = ownership
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.ownership, ownership)
    }
}

extension AttachResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__attach_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(position: position, ownership: message.ownership)
    }
}

/// Entries that followed AttachRequest.after are lost, or the log they were in. What follows `position` is
/// pushed next: of a log that began anew, everything that it still has.
package struct SkipPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SkipPush
    package var interest: UInt64
    /// Deliveries continue after this position.
    package var position: StreamPosition
    /// Subscription features that select lost entries; of another log all may be lost.
    package var features: SubscriptionFeatures
    /// The log ends before the caller's position, because Redis came back with older data.
    package var wentBack: Bool

    package init(
        interest: UInt64 = 0, position: StreamPosition, features: SubscriptionFeatures = [],
        wentBack: Bool = false
    ) {
        self.interest = interest
        self.position = position
        self.features = features
        self.wentBack = wentBack
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.interest, interest)
        sink.field(Fields.position, position)
        sink.field(Fields.features, features.rawValue)
        sink.field(Fields.wentBack, wentBack)
    }
}

extension SkipPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__skip_push__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            interest: message.interest, position: position,
            features: SubscriptionFeatures(rawValue: message.features), wentBack: message.went_back != 0)
    }
}

/// Reports to the owner of an exclusive interest that a newer owner has replaced it and that no more entries
/// follow.
package struct SupersededPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SupersededPush
    package var interest: UInt64
    /// AttachRequest.owner of the newer owner; if it is one's own, it is the same client over another
    /// connection. 0 = unknown.
    package var owner: UInt64

    package init(interest: UInt64 = 0, owner: UInt64 = 0) {
        self.interest = interest
        self.owner = owner
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.interest, interest)
        sink.field(Fields.owner, owner)
    }
}

extension SupersededPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__superseded_push__unpack)
        self.init(interest: message.interest, owner: message.owner)
    }
}

/// Ends an interest. Entries for it may still be on their way.
package struct DetachPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.DetachPush
    /// The number that the attach gave.
    package var interest: UInt64
    /// The owner of an exclusive interest has logged out, so an earlier owner may come back (S-10).
    package var isLoggedOut: Bool

    package init(interest: UInt64 = 0, isLoggedOut: Bool = false) {
        self.interest = interest
        self.isLoggedOut = isLoggedOut
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.interest, interest)
        sink.field(Fields.loggedOut, isLoggedOut)
    }
}

extension DetachPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__detach_push__unpack)
        self.init(interest: message.interest, isLoggedOut: message.logged_out != 0)
    }
}

/// A message is published only if all of this is so.
package struct PublishCondition: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PublishCondition
    /// The position of the channel's newest message, events aside; with offset 0 it has none. Absent = not
    /// compared.
    package var newest: StreamPosition?
    /// Of a message that is a whole state: above that of the channel's last one; 0 = it has none.
    package var version: UInt64
    /// A version is above each of another epoch.
    package var versionEpoch: String

    package init(newest: StreamPosition? = nil, version: UInt64 = 0, versionEpoch: String = "") {
        self.newest = newest
        self.version = version
        self.versionEpoch = versionEpoch
    }

    package func write(to sink: inout some FieldSink) {
        if let newest { sink.field(Fields.newest, newest) }
        sink.field(Fields.version, version)
        sink.field(Fields.versionEpoch, versionEpoch)
    }
}

extension PublishCondition: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var newest: StreamPosition? = nil
        var version: UInt64 = 0
        var versionEpoch: String = ""
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.newest: newest = try StreamPosition(scanning: field.bytes)
            case Fields.version: version = try field.uint64
            case Fields.versionEpoch: versionEpoch = try field.view.copiedName()
            default: break
            }
        }
        self.init(newest: newest, version: version, versionEpoch: versionEpoch)
    }
}

package struct BackendPublishResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BackendPublishResponse
    package var outcome: PublishOutcome
    /// Of the message, or of the channel's newest message if this one was refused.
    package var position: StreamPosition
    /// Of the message.
    package var timestampMilliseconds: UInt64
    /// How far back the log reaches, which is how long a repetition is recognised.
    package var rememberedMilliseconds: UInt64
    /// If the version is outdated: the last one, and its epoch.
    package var version: UInt64
    package var versionEpoch: String
    /// Of the message.
    package var order: UInt32

    package init(
        outcome: PublishOutcome, position: StreamPosition, timestampMilliseconds: UInt64 = 0,
        rememberedMilliseconds: UInt64 = 0, version: UInt64 = 0, versionEpoch: String = "",
        order: UInt32 = 0
    ) {
        self.outcome = outcome
        self.position = position
        self.timestampMilliseconds = timestampMilliseconds
        self.rememberedMilliseconds = rememberedMilliseconds
        self.version = version
        self.versionEpoch = versionEpoch
        self.order = order
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.outcome, outcome)
        sink.field(Fields.position, position)
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.rememberedMs, rememberedMilliseconds)
        sink.field(Fields.version, version)
        sink.field(Fields.versionEpoch, versionEpoch)
        sink.field(Fields.order, order)
    }
}

extension BackendPublishResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__backend_publish_response__unpack)
        guard let outcome = PublishOutcome(rawValue: Int(message.outcome.rawValue)) else { throw .undecodable }
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            outcome: outcome, position: position, timestampMilliseconds: message.timestamp_ms,
            rememberedMilliseconds: message.remembered_ms, version: message.version,
            versionEpoch: WireText(message.version_epoch).string, order: message.order)
    }
}

/// Asks a shard for channels of an app, ordered by the bytes of their names.
package struct ListRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ListRequest
    package var appID: String
    /// User: the inboxes that somebody holds, which are the users who are online.
    package var type: ChannelType
    /// Names that begin so.
    package var prefix: String
    /// Names behind this one.
    package var after: String
    /// Rows; at most 1000.
    package var limit: UInt32
    /// This channel alone, whether it is in memory or not; empty = all of them.
    package var name: String

    package init(
        appID: String = "", type: ChannelType, prefix: String = "", after: String = "", limit: UInt32 = 0,
        name: String = ""
    ) {
        self.appID = appID
        self.type = type
        self.prefix = prefix
        self.after = after
        self.limit = limit
        self.name = name
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.type, type)
        sink.field(Fields.prefix, prefix)
        sink.field(Fields.after, after)
        sink.field(Fields.limit, limit)
        sink.field(Fields.name, name)
    }
}

extension ListRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__list_request__unpack)
        guard let type = ChannelType(rawValue: Int(message.type.rawValue)) else { throw .undecodable }
        self.init(
            appID: WireText(message.app_id).string, type: type, prefix: WireText(message.prefix).string,
            after: WireText(message.after).string, limit: message.limit,
            name: WireText(message.name).string)
    }
}

package struct ListResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ListResponse
    package var channels: [ListedChannel]
    /// Whether more follow behind the last one.
    package var hasMore: Bool
    /// How many of the app and type have the prefix.
    package var total: UInt64

    package init(channels: [ListedChannel] = [], hasMore: Bool = false, total: UInt64 = 0) {
        self.channels = channels
        self.hasMore = hasMore
        self.total = total
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channels, channels)
        sink.field(Fields.more, hasMore)
        sink.field(Fields.total, total)
    }
}

extension ListResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__list_response__unpack)
        var channels: [ListedChannel] = []
        channels.reserveCapacity(message.n_channels)
        for index in 0..<message.n_channels {
            channels.append(try ListedChannel(decoded: message.channels[index]))
        }
        self.init(channels: channels, hasMore: message.more != 0, total: message.total)
    }
}

package struct ListedChannel: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ListedChannel
    package var name: String
    /// As in PublishCondition.
    package var newest: StreamPosition
    /// Of the newest entry, or when the channel began; 0 = the channel isn't in memory.
    package var timestampMilliseconds: UInt64

    package init(name: String = "", newest: StreamPosition, timestampMilliseconds: UInt64 = 0) {
        self.name = name
        self.newest = newest
        self.timestampMilliseconds = timestampMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.name, name)
        sink.field(Fields.newest, newest)
        sink.field(Fields.timestampMs, timestampMilliseconds)
    }
}

extension ListedChannel {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__ListedChannel>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        guard let newest = StreamPosition(message.newest) else { throw .undecodable }
        self.init(
            name: WireText(message.name).string, newest: newest,
            timestampMilliseconds: message.timestamp_ms)
    }
}

package struct AppendResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AppendResponse
    /// The position of the last event, also if it was appended before, or of the log's head if there was no
    /// event.
    package var position: StreamPosition
    /// Of that entry.
    package var timestampMilliseconds: UInt64

    package init(position: StreamPosition, timestampMilliseconds: UInt64 = 0) {
        self.position = position
        self.timestampMilliseconds = timestampMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.timestampMs, timestampMilliseconds)
    }
}

extension AppendResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__append_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(position: position, timestampMilliseconds: message.timestamp_ms)
    }
}

/// Entries after a position, for one subscriber who catches up.
package struct ReadRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ReadRequest
    package var channel: ChannelKey
    package var after: StreamPosition
    /// Entries of this user that the user's own session doesn't receive are left out; empty = none.
    package var exceptPublisher: String
    /// Only entries that one of these subscription features selects; with 32 the messages among the user's
    /// own are not left out.
    package var features: SubscriptionFeatures

    package init(
        channel: ChannelKey, after: StreamPosition, exceptPublisher: String = "",
        features: SubscriptionFeatures = []
    ) {
        self.channel = channel
        self.after = after
        self.exceptPublisher = exceptPublisher
        self.features = features
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.after, after)
        sink.field(Fields.exceptPublisher, exceptPublisher)
        sink.field(Fields.features, features.rawValue)
    }
}

extension ReadRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__read_request__unpack)
        guard let after = StreamPosition(message.after) else { throw .undecodable }
        try self.init(
            channel: ChannelKey(decoded: message.channel), after: after,
            exceptPublisher: WireText(message.except_publisher).string,
            features: SubscriptionFeatures(rawValue: message.features))
    }
}

package struct ReadResponse: WireMessage {
    package typealias Fields = Schema.ReadResponse
    /// ServerFrames with their length prefixes, as subscribers receive them.
    package var frames: WireText
    /// Of the last entry considered; with `gap`: where the log can be read on, as in SkipPush.
    package var position: StreamPosition
    /// Entries that were asked for are lost, up to `position` or with the log they were in; `frames` is
    /// empty.
    package var gap: Bool
    /// More entries follow; the caller reads again after `position`.
    package var more: Bool

    package init(frames: WireText = .empty, position: StreamPosition, gap: Bool = false, more: Bool = false) {
        self.frames = frames
        self.position = position
        self.gap = gap
        self.more = more
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.frames, frames)
        sink.field(Fields.position, position)
        sink.field(Fields.gap, gap)
        sink.field(Fields.more, more)
    }
}

extension ReadResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__read_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            frames: WireText(message.frames), position: position, gap: message.gap != 0,
            more: message.more != 0)
    }
}

/// A place among the entries of all channels of an app in one shard.
package struct FeedPosition: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.FeedPosition
    /// Of the shard's logs; 0 = no place.
    package var epoch: UInt64
    /// Of the shard's entries, of all apps, so many had come: no entry of the app before them is missing.
    package var sequence: UInt64
    /// The newest entry of the app before the place: its partition.
    package var partition: UInt32
    /// And its offset there; 0 = there was none.
    package var offset: UInt64

    package init(epoch: UInt64 = 0, sequence: UInt64 = 0, partition: UInt32 = 0, offset: UInt64 = 0) {
        self.epoch = epoch
        self.sequence = sequence
        self.partition = partition
        self.offset = offset
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.epoch, epoch)
        sink.field(Fields.sequence, sequence)
        sink.field(Fields.partition, partition)
        sink.field(Fields.offset, offset)
    }
}

extension FeedPosition {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__FeedPosition>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            epoch: message.epoch, sequence: message.sequence, partition: message.partition,
            offset: message.offset)
    }
}

/// Asks for the entries of all channels of an app in this shard after a place, in the order in which they
/// came.
package struct FeedRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.FeedRequest
    package var appID: String
    /// Epoch 0: from the oldest entry that is kept.
    package var after: FeedPosition
    /// How long to wait if there is none.
    package var wait: Duration

    package init(appID: String = "", after: FeedPosition, wait: Duration = .zero) {
        self.appID = appID
        self.after = after
        self.wait = wait
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.after, after)
        sink.field(Fields.waitMs, milliseconds: wait)
    }
}

extension FeedRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__feed_request__unpack)
        try self.init(
            appID: WireText(message.app_id).string, after: FeedPosition(decoded: message.after),
            wait: .milliseconds(Int64(message.wait_ms)))
    }
}

package struct FeedResponse: WireMessage {
    package typealias Fields = Schema.FeedResponse
    /// ServerFrames with their length prefixes, as subscribers receive them.
    package var frames: WireText
    /// After which to read on.
    package var next: FeedPosition
    /// Entries after the given place are lost. Those that follow the loss are in `frames`.
    package var gap: Bool
    /// Whether there are more at once.
    package var more: Bool

    package init(frames: WireText = .empty, next: FeedPosition, gap: Bool = false, more: Bool = false) {
        self.frames = frames
        self.next = next
        self.gap = gap
        self.more = more
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.frames, frames)
        sink.field(Fields.next, next)
        sink.field(Fields.gap, gap)
        sink.field(Fields.more, more)
    }
}

extension FeedResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__feed_response__unpack)
        try self.init(
            frames: WireText(message.frames), next: FeedPosition(decoded: message.next),
            gap: message.gap != 0, more: message.more != 0)
    }
}

/// Asks what is known of an entry of a channel, and which links get the channel's entries.
package struct ExplainRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ExplainRequest
    package var channel: ChannelKey
    /// With epoch 0 it is of the present log; absent = no entry is asked for.
    package var entry: StreamPosition?

    package init(channel: ChannelKey, entry: StreamPosition? = nil) {
        self.channel = channel
        self.entry = entry
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        if let entry { sink.field(Fields.entry, entry) }
    }
}

extension ExplainRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__explain_request__unpack)
        try self.init(channel: ChannelKey(decoded: message.channel), entry: StreamPosition(message.entry))
    }
}

package struct ExplainResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ExplainResponse
    package var trace: EntryTrace
    /// Of the channel's newest entry.
    package var head: StreamPosition
    /// If it was found.
    package var entry: ExplainedEntry?
    /// Each gets every entry of the channel.
    package var links: [ExplainedLink]
    /// When the last of these links went; 0 = there is one, or that isn't known.
    package var leftMilliseconds: UInt64
    /// A link that went since then is known by left_ms.
    package var knownSinceMilliseconds: UInt64

    package init(
        trace: EntryTrace, head: StreamPosition, entry: ExplainedEntry? = nil,
        links: [ExplainedLink] = [], leftMilliseconds: UInt64 = 0, knownSinceMilliseconds: UInt64 = 0
    ) {
        self.trace = trace
        self.head = head
        self.entry = entry
        self.links = links
        self.leftMilliseconds = leftMilliseconds
        self.knownSinceMilliseconds = knownSinceMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.trace, trace)
        sink.field(Fields.head, head)
        if let entry { sink.field(Fields.entry, entry) }
        sink.field(Fields.links, links)
        sink.field(Fields.leftMs, leftMilliseconds)
        sink.field(Fields.knownSinceMs, knownSinceMilliseconds)
    }
}

extension ExplainResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__explain_response__unpack)
        guard let trace = EntryTrace(rawValue: Int(message.trace.rawValue)) else { throw .undecodable }
        guard let head = StreamPosition(message.head) else { throw .undecodable }
        var links: [ExplainedLink] = []
        links.reserveCapacity(message.n_links)
        for index in 0..<message.n_links {
            links.append(try ExplainedLink(decoded: message.links[index]))
        }
        try self.init(
            trace: trace, head: head,
            entry: message.entry == nil ? nil : ExplainedEntry(decoded: message.entry), links: links,
            leftMilliseconds: message.left_ms, knownSinceMilliseconds: message.known_since_ms)
    }
}

package struct ExplainedEntry: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ExplainedEntry
    package var timestampMilliseconds: UInt64
    package var publisher: String
    /// As in DeliveryPush.
    package var publisherSession: UInt64
    /// As in DeliveryPush.
    package var feature: SubscriptionFeatures

    package init(
        timestampMilliseconds: UInt64 = 0, publisher: String = "", publisherSession: UInt64 = 0,
        feature: SubscriptionFeatures = []
    ) {
        self.timestampMilliseconds = timestampMilliseconds
        self.publisher = publisher
        self.publisherSession = publisherSession
        self.feature = feature
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.publisherSession, publisherSession)
        sink.field(Fields.feature, feature.rawValue)
    }
}

extension ExplainedEntry {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__ExplainedEntry>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            timestampMilliseconds: message.timestamp_ms, publisher: WireText(message.publisher).string,
            publisherSession: message.publisher_session,
            feature: SubscriptionFeatures(rawValue: message.feature))
    }
}

/// A link that wants a channel.
package struct ExplainedLink: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ExplainedLink
    /// The name of the process at its other end.
    package var node: String
    /// What waits for it, of all channels.
    package var waitingBytes: UInt64

    package init(node: String = "", waitingBytes: UInt64 = 0) {
        self.node = node
        self.waitingBytes = waitingBytes
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.node, node)
        sink.field(Fields.waitingBytes, waitingBytes)
    }
}

extension ExplainedLink {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__ExplainedLink>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(node: WireText(message.node).string, waitingBytes: message.waiting_bytes)
    }
}
