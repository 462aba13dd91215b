import CProtobufC
import RTMModel
import RTMProtocolC

extension JoinRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__join_request__unpack)
        try self.init(
            channel: ChannelKey(decoded: message.channel), caller: Caller(decoded: message.caller),
            lease: message.lease, quiet: message.quiet != 0,
            presenceTimeout: .milliseconds(Int64(message.presence_timeout_ms)),
            wantsSnapshot: message.snapshot != 0, claim: message.claim)
    }
}

extension JoinResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__join_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            position: position, frames: WireText(message.frames), isTooBig: message.too_big != 0,
            isOlder: message.older != 0)
    }
}

extension RosterRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__roster_request__unpack)
        try self.init(channel: ChannelKey(decoded: message.channel), snapshot: message.snapshot)
    }
}

extension RosterResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__roster_response__unpack)
        self.init(frames: WireText(message.frames), snapshot: message.snapshot)
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

extension SessionEndedPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__session_ended_push__unpack)
        guard let end = SessionEnd(rawValue: Int(message.end.rawValue)) else { throw .undecodable }
        try self.init(caller: Caller(decoded: message.caller), end: end)
    }
}

extension LeaseRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__lease_request__unpack)
        self.init(lease: message.lease, link: message.link)
    }
}

extension LeaseResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__lease_response__unpack)
        self.init(timeToLive: .milliseconds(Int64(message.ttl_ms)), isKnown: message.known != 0)
    }
}

extension SyncRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__sync_request__unpack)
        var memberships: [Membership] = []
        memberships.reserveCapacity(message.n_memberships)
        for index in 0..<message.n_memberships {
            guard let membership = message.memberships[index]?.pointee else { throw .undecodable }
            memberships.append(try Membership(membership))
        }
        self.init(
            lease: message.lease, memberships: memberships, isFirst: message.first != 0,
            isLast: message.last != 0)
    }
}

extension SyncResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__sync_response__unpack)
        var older: [OlderMembership] = []
        for index in 0..<message.n_older {
            guard let membership = message.older[index]?.pointee else { throw .undecodable }
            older.append(OlderMembership(place: membership.place))
        }
        self.init(older: older)
    }
}

extension Membership {
    fileprivate init(_ message: Rtm__Service__Membership) throws(WireError) {
        try self.init(
            channel: ChannelKey(decoded: message.channel), caller: Caller(decoded: message.caller),
            quiet: message.quiet != 0, presenceTimeout: .milliseconds(Int64(message.presence_timeout_ms)),
            claim: message.claim)
    }
}
