// Written by protocol/generate_wire.py from service/presence_service.proto: `make generate`.
// swift-format-ignore-file

import CProtobufC
package import RTMModel
import RTMProtocolC

extension Schema {
    /// rtm.service.JoinRequest
    package enum JoinRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var caller: SchemaField<Caller> { SchemaField(2) }
        package static var lease: SchemaField<UInt64> { SchemaField(3) }
        package static var quiet: SchemaField<Bool> { SchemaField(4) }
        package static var presenceTimeoutMs: SchemaField<UInt32> { SchemaField(5) }
        package static var snapshot: SchemaField<Bool> { SchemaField(6) }
        package static var ownership: SchemaField<UInt64> { SchemaField(7) }
        package static var states: SchemaField<[StateItem]> { SchemaField(8) }
    }

    /// rtm.service.JoinResponse
    package enum JoinResponse {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var frames: SchemaField<Bytes> { SchemaField(2) }
        package static var tooBig: SchemaField<Bool> { SchemaField(3) }
        package static var older: SchemaField<Bool> { SchemaField(4) }
        package static var statesSet: SchemaField<Bool> { SchemaField(5) }
        package static var statesCost: SchemaField<UInt64> { SchemaField(6) }
    }

    /// rtm.service.RosterRequest
    package enum RosterRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var snapshot: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.RosterResponse
    package enum RosterResponse {
        package static var frames: SchemaField<Bytes> { SchemaField(1) }
        package static var snapshot: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.LeavePush
    package enum LeavePush {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var caller: SchemaField<Caller> { SchemaField(2) }
        package static var lease: SchemaField<UInt64> { SchemaField(3) }
        package static var link: SchemaField<UInt64> { SchemaField(4) }
    }

    /// rtm.service.SessionEndedPush
    package enum SessionEndedPush {
        package static var caller: SchemaField<Caller> { SchemaField(1) }
        package static var end: SchemaField<Enumeration> { SchemaField(2) }
    }

    /// rtm.service.LeaseRequest
    package enum LeaseRequest {
        package static var lease: SchemaField<UInt64> { SchemaField(1) }
        package static var link: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.LeaseResponse
    package enum LeaseResponse {
        package static var ttlMs: SchemaField<UInt32> { SchemaField(1) }
        package static var known: SchemaField<Bool> { SchemaField(2) }
    }

    /// rtm.service.SyncRequest
    package enum SyncRequest {
        package static var lease: SchemaField<UInt64> { SchemaField(1) }
        package static var memberships: SchemaField<[Membership]> { SchemaField(2) }
        package static var first: SchemaField<Bool> { SchemaField(3) }
        package static var last: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.SyncResponse
    package enum SyncResponse {
        package static var older: SchemaField<[OlderMembership]> { SchemaField(1) }
    }

    /// rtm.service.OlderMembership
    package enum OlderMembership {
        package static var place: SchemaField<UInt32> { SchemaField(1) }
    }

    /// rtm.service.Membership
    package enum Membership {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var caller: SchemaField<Caller> { SchemaField(2) }
        package static var quiet: SchemaField<Bool> { SchemaField(3) }
        package static var presenceTimeoutMs: SchemaField<UInt32> { SchemaField(4) }
        package static var ownership: SchemaField<UInt64> { SchemaField(5) }
        package static var unannounced: SchemaField<Bool> { SchemaField(6) }
        package static var states: SchemaField<[StateItem]> { SchemaField(7) }
    }
}

/// The methods of presence.
package enum PresenceMethod {
    /// Request JoinRequest, response JoinResponse.
    @inlinable package static var join: ServiceMethod<JoinRequest, JoinResponse> { .init(1) }
    /// Request CallRequest, response CallResponse.
    @inlinable package static var call: ServiceMethod<CallRequest, CallResponse> { .init(2) }
    /// Push LeavePush, edge to presence.
    @inlinable package static var leave: ServicePush<LeavePush> { .init(3) }
    /// Push SessionEndedPush, edge to presence.
    @inlinable package static var sessionEnded: ServicePush<SessionEndedPush> { .init(4) }
    /// Request LeaseRequest, response LeaseResponse.
    @inlinable package static var lease: ServiceMethod<LeaseRequest, LeaseResponse> { .init(5) }
    /// Request SyncRequest, response SyncResponse.
    @inlinable package static var sync: ServiceMethod<SyncRequest, SyncResponse> { .init(6) }
    /// Request RosterRequest, response RosterResponse.
    @inlinable package static var roster: ServiceMethod<RosterRequest, RosterResponse> { .init(7) }

    /// The methods' names by their numbers, for people who look at traces.
    package static let names: [UInt32: String] = [
        1: "join", 2: "call", 3: "leave", 4: "sessionEnded", 5: "lease", 6: "sync", 7: "roster"
    ]
}

/// How a session ended.
package enum SessionEnd: Int, Sendable, Hashable, CaseIterable {
    /// The user leaves the session's channels at once.
    case loggedOut = 1
    /// The presence timeouts of the session begin: the user stays in the channels until they have passed
    /// (S-42).
    case lost = 2
    /// The user leaves the session's channels at once, because another instance of the user has logged
    /// in.
    case superseded = 3
}

/// A session's user enters a channel, or changes how it is there. The same user with the same instance in
/// another session has come back, and no event is published. With another instance it is a takeover, and the
/// old session leaves first (S-12). A join with a smaller ownership than the present session's changes
/// nothing while the present session is online, because that one belongs to a newer login: an edge that is
/// cut off from messaging doesn't know yet that the user has logged in elsewhere.
package struct JoinRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.JoinRequest
    package var channel: ChannelKey
    package var caller: Caller
    /// LeaseRequest.lease of the event loop.
    package var lease: UInt64
    /// Others don't see the user.
    package var quiet: Bool
    /// How long the user stays listed after a loss.
    package var presenceTimeout: Duration
    /// Whether the answer shall list the users in the channel.
    package var wantsSnapshot: Bool
    /// AttachResponse.ownership of the session's inbox; greater for a newer login; 0 = unknown.
    package var ownership: UInt64
    /// What the user shows from now on, besides the states that it has; no more than SetState may set.
    package var states: [StateItem]

    package init(
        channel: ChannelKey, caller: Caller, lease: UInt64 = 0, quiet: Bool = false,
        presenceTimeout: Duration = .zero, wantsSnapshot: Bool = false, ownership: UInt64 = 0,
        states: [StateItem] = []
    ) {
        self.channel = channel
        self.caller = caller
        self.lease = lease
        self.quiet = quiet
        self.presenceTimeout = presenceTimeout
        self.wantsSnapshot = wantsSnapshot
        self.ownership = ownership
        self.states = states
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.caller, caller)
        sink.field(Fields.lease, lease)
        sink.field(Fields.quiet, quiet)
        sink.field(Fields.presenceTimeoutMs, milliseconds: presenceTimeout)
        sink.field(Fields.snapshot, wantsSnapshot)
        sink.field(Fields.ownership, ownership)
        sink.field(Fields.states, states)
    }
}

extension JoinRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__join_request__unpack)
        var states: [StateItem] = []
        states.reserveCapacity(message.n_states)
        for index in 0..<message.n_states {
            states.append(try StateItem(decoded: message.states[index]))
        }
        try self.init(
            channel: ChannelKey(decoded: message.channel), caller: Caller(decoded: message.caller),
            lease: message.lease, quiet: message.quiet != 0,
            presenceTimeout: .milliseconds(Int64(message.presence_timeout_ms)),
            wantsSnapshot: message.snapshot != 0, ownership: message.ownership, states: states)
    }
}

/// Where the session's presence events begin, and the snapshot before them.
package struct JoinResponse: WireMessage {
    package typealias Fields = Schema.JoinResponse
    /// The snapshot contains the events up to this position of the channel's log.
    package var position: StreamPosition
    /// The snapshot: ServerFrames with their length prefixes.
    package var frames: WireText
    /// The snapshot doesn't fit into the answer, so the edge has to ask for it (RosterRequest).
    package var isTooBig: Bool
    /// A newer login of the user is in the channel, so this session isn't listed.
    package var isOlder: Bool
    /// The user shows JoinRequest.states; false if they were refused, or if there are none.
    package var hasSetStates: Bool
    /// The bytes of the states that were announced, times the users who get them; as CallResponse.cost.
    package var statesCost: UInt64

    package init(
        position: StreamPosition, frames: WireText = .empty, isTooBig: Bool = false,
        isOlder: Bool = false, hasSetStates: Bool = false, statesCost: UInt64 = 0
    ) {
        self.position = position
        self.frames = frames
        self.isTooBig = isTooBig
        self.isOlder = isOlder
        self.hasSetStates = hasSetStates
        self.statesCost = statesCost
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.frames, frames)
        sink.field(Fields.tooBig, isTooBig)
        sink.field(Fields.older, isOlder)
        sink.field(Fields.statesSet, hasSetStates)
        sink.field(Fields.statesCost, statesCost)
    }
}

extension JoinResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__join_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            position: position, frames: WireText(message.frames), isTooBig: message.too_big != 0,
            isOlder: message.older != 0, hasSetStates: message.states_set != 0,
            statesCost: message.states_cost)
    }
}

/// Asks for the snapshot of a channel with very many users, page by page: for the next page when the last one
/// has arrived. It contains everybody who joined before its first page was requested, so one snapshot serves
/// all who wait for one at that time.
package struct RosterRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.RosterRequest
    package var channel: ChannelKey
    /// The number from the response before; 0 = from the beginning.
    package var snapshot: UInt64

    package init(channel: ChannelKey, snapshot: UInt64 = 0) {
        self.channel = channel
        self.snapshot = snapshot
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.snapshot, snapshot)
    }
}

extension RosterRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__roster_request__unpack)
        try self.init(channel: ChannelKey(decoded: message.channel), snapshot: message.snapshot)
    }
}

/// One page of the snapshot.
package struct RosterResponse: WireMessage {
    package typealias Fields = Schema.RosterResponse
    /// ServerFrames with their length prefixes.
    package var frames: WireText
    /// The number with which the next page is requested within half a minute; 0 = this was the last page.
    package var snapshot: UInt64

    package init(frames: WireText = .empty, snapshot: UInt64 = 0) {
        self.frames = frames
        self.snapshot = snapshot
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.frames, frames)
        sink.field(Fields.snapshot, snapshot)
    }
}

extension RosterResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__roster_response__unpack)
        self.init(frames: WireText(message.frames), snapshot: message.snapshot)
    }
}

/// The session has unsubscribed.
package struct LeavePush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeavePush
    package var channel: ChannelKey
    package var caller: Caller
    /// Lease and link as in LeaseRequest, which may come behind this.
    package var lease: UInt64
    package var link: UInt64

    package init(channel: ChannelKey, caller: Caller, lease: UInt64 = 0, link: UInt64 = 0) {
        self.channel = channel
        self.caller = caller
        self.lease = lease
        self.link = link
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.caller, caller)
        sink.field(Fields.lease, lease)
        sink.field(Fields.link, link)
    }
}

extension LeavePush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__leave_push__unpack)
        try self.init(
            channel: ChannelKey(decoded: message.channel), caller: Caller(decoded: message.caller),
            lease: message.lease, link: message.link)
    }
}

/// Reports that a session has ended.
package struct SessionEndedPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SessionEndedPush
    package var caller: Caller
    package var end: SessionEnd

    package init(caller: Caller, end: SessionEnd) {
        self.caller = caller
        self.end = end
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.caller, caller)
        sink.field(Fields.end, end)
    }
}

extension SessionEndedPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__session_ended_push__unpack)
        guard let end = SessionEnd(rawValue: Int(message.end.rawValue)) else { throw .undecodable }
        try self.init(caller: Caller(decoded: message.caller), end: end)
    }
}

/// Each event loop of an edge holds one lease for all its sessions. If the lease isn't renewed in time, they
/// are lost. The first request of each link. Presence keeps to what comes over the newest link that has named
/// the lease: what was sent over an older one, perhaps to another presence node, comes late and changes
/// nothing.
package struct LeaseRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeaseRequest
    /// Random, kept for the life of the loop.
    package var lease: UInt64
    /// The number of the loop's link to presence; greater for a newer one; 0 = unknown.
    package var link: UInt64

    package init(lease: UInt64 = 0, link: UInt64 = 0) {
        self.lease = lease
        self.link = link
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.lease, lease)
        sink.field(Fields.link, link)
    }
}

extension LeaseRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__lease_request__unpack)
        self.init(lease: message.lease, link: message.link)
    }
}

/// How long the lease lasts, and whether presence knows its memberships.
package struct LeaseResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeaseResponse
    /// How long the lease lasts from now on.
    package var timeToLive: Duration
    /// False: presence knows no memberships under the lease, so the edge sends all of them (SyncRequest).
    package var isKnown: Bool

    package init(timeToLive: Duration = .zero, isKnown: Bool = false) {
        self.timeToLive = timeToLive
        self.isKnown = isKnown
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.ttlMs, milliseconds: timeToLive)
        sink.field(Fields.known, isKnown)
    }
}

extension LeaseResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__lease_response__unpack)
        self.init(timeToLive: .milliseconds(Int64(message.ttl_ms)), isKnown: message.known != 0)
    }
}

/// All memberships under a lease, in as many requests as it takes. A membership that isn't among them is lost
/// when the last request has come. A request that is neither the first nor the last, outside of such a
/// sequence, repeats some of them: those that presence has not listed.
package struct SyncRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SyncRequest
    package var lease: UInt64
    /// At most some hundred.
    package var memberships: [Membership]
    /// Of the sequence.
    package var isFirst: Bool
    /// Of the sequence.
    package var isLast: Bool

    package init(
        lease: UInt64 = 0, memberships: [Membership] = [], isFirst: Bool = false, isLast: Bool = false
    ) {
        self.lease = lease
        self.memberships = memberships
        self.isFirst = isFirst
        self.isLast = isLast
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.lease, lease)
        sink.field(Fields.memberships, memberships)
        sink.field(Fields.first, isFirst)
        sink.field(Fields.last, isLast)
    }
}

extension SyncRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__sync_request__unpack)
        var memberships: [Membership] = []
        memberships.reserveCapacity(message.n_memberships)
        for index in 0..<message.n_memberships {
            memberships.append(try Membership(decoded: message.memberships[index]))
        }
        self.init(
            lease: message.lease, memberships: memberships, isFirst: message.first != 0,
            isLast: message.last != 0)
    }
}

/// What presence did not list.
package struct SyncResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SyncResponse
    /// The memberships that aren't listed, as in JoinResponse.
    package var older: [OlderMembership]

    package init(older: [OlderMembership] = []) {
        self.older = older
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.older, older)
    }
}

extension SyncResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__sync_response__unpack)
        var older: [OlderMembership] = []
        older.reserveCapacity(message.n_older)
        for index in 0..<message.n_older {
            older.append(try OlderMembership(decoded: message.older[index]))
        }
        self.init(older: older)
    }
}

/// A membership of an older login: a newer login of the user is in the channel.
package struct OlderMembership: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.OlderMembership
    /// The index of the membership in the request, counted from 0.
    package var place: UInt32

    package init(place: UInt32 = 0) {
        self.place = place
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.place, place)
    }
}

extension OlderMembership {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__OlderMembership>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(place: message.place)
    }
}

/// A user in a channel, with the session that brought the user there.
package struct Membership: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.Membership
    package var channel: ChannelKey
    package var caller: Caller
    /// As in JoinRequest.
    package var quiet: Bool
    /// As in JoinRequest.
    package var presenceTimeout: Duration
    /// As in JoinRequest.
    package var ownership: UInt64
    /// The join didn't reach presence, so the other users get an event now, also from a presence that begins
    /// anew.
    package var unannounced: Bool
    /// What the user shows from now on; nothing if presence lists the session already, whose states may be
    /// newer.
    package var states: [StateItem]

    package init(
        channel: ChannelKey, caller: Caller, quiet: Bool = false, presenceTimeout: Duration = .zero,
        ownership: UInt64 = 0, unannounced: Bool = false, states: [StateItem] = []
    ) {
        self.channel = channel
        self.caller = caller
        self.quiet = quiet
        self.presenceTimeout = presenceTimeout
        self.ownership = ownership
        self.unannounced = unannounced
        self.states = states
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.caller, caller)
        sink.field(Fields.quiet, quiet)
        sink.field(Fields.presenceTimeoutMs, milliseconds: presenceTimeout)
        sink.field(Fields.ownership, ownership)
        sink.field(Fields.unannounced, unannounced)
        sink.field(Fields.states, states)
    }
}

extension Membership {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__Membership>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        var states: [StateItem] = []
        states.reserveCapacity(message.n_states)
        for index in 0..<message.n_states {
            states.append(try StateItem(decoded: message.states[index]))
        }
        try self.init(
            channel: ChannelKey(decoded: message.channel), caller: Caller(decoded: message.caller),
            quiet: message.quiet != 0, presenceTimeout: .milliseconds(Int64(message.presence_timeout_ms)),
            ownership: message.ownership, unannounced: message.unannounced != 0, states: states)
    }
}
