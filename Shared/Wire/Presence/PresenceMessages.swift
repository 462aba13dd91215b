package import RTMModel

/// The messages between edge and presence (protocol/schema/service/presence_service.proto).
package enum PresenceMethod {
    package static let join: UInt32 = 1
    package static let call: UInt32 = 2
    package static let leave: UInt32 = 3
    package static let sessionEnded: UInt32 = 4
    package static let lease: UInt32 = 5
    package static let sync: UInt32 = 6
    package static let roster: UInt32 = 7
}

package struct JoinRequest: WireMessage, Sendable, Hashable {
    package var channel: ChannelKey
    package var caller: Caller
    package var lease: UInt64
    package var quiet: Bool
    package var presenceTimeout: Duration
    /// Whether the answer shall say who is there.
    package var wantsSnapshot: Bool

    package init(
        channel: ChannelKey, caller: Caller, lease: UInt64, quiet: Bool, presenceTimeout: Duration,
        wantsSnapshot: Bool
    ) {
        self.channel = channel
        self.caller = caller
        self.lease = lease
        self.quiet = quiet
        self.presenceTimeout = presenceTimeout
        self.wantsSnapshot = wantsSnapshot
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, caller)
        sink.field(3, lease)
        sink.field(4, quiet)
        sink.field(5, presenceTimeout.milliseconds)
        sink.field(6, wantsSnapshot)
    }
}

package struct JoinResponse: WireMessage {
    /// Events up to here are in the snapshot.
    package let position: StreamPosition
    /// ServerFrames with their length prefixes.
    package let frames: WireText
    /// The snapshot doesn't fit in here: it is to be asked for (`RosterRequest`).
    package let isTooBig: Bool

    package init(position: StreamPosition, frames: WireText, isTooBig: Bool = false) {
        self.position = position
        self.frames = frames
        self.isTooBig = isTooBig
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, position)
        sink.field(2, frames)
        sink.field(3, isTooBig)
    }
}

/// Asks for a part of the snapshot of a channel with very many users.
package struct RosterRequest: WireMessage, Sendable, Hashable {
    package var channel: ChannelKey
    /// As the response before says; 0: from the beginning.
    package var snapshot: UInt64

    package init(channel: ChannelKey, snapshot: UInt64 = 0) {
        self.channel = channel
        self.snapshot = snapshot
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, snapshot)
    }
}

package struct RosterResponse: WireMessage {
    /// ServerFrames with their length prefixes.
    package let frames: WireText
    /// By which the next part is asked for; 0: this was the last.
    package let snapshot: UInt64

    package init(frames: WireText, snapshot: UInt64) {
        self.frames = frames
        self.snapshot = snapshot
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, frames)
        sink.field(2, snapshot)
    }
}

/// The session has unsubscribed.
package struct LeavePush: WireMessage, Sendable, Hashable {
    package var channel: ChannelKey
    package var caller: Caller

    package init(channel: ChannelKey, caller: Caller) {
        self.channel = channel
        self.caller = caller
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, caller)
    }
}

/// How a session came to its end, for those who keep something of it.
package enum SessionEnd: Int, Sendable, Hashable, CaseIterable {
    /// It leaves its channels now.
    case loggedOut = 1
    /// Its presence timeouts begin (S-42).
    case lost = 2
    /// It leaves its channels now: another instance of its user has logged in (S-12).
    case superseded = 3
}

package struct SessionEndedPush: WireMessage, Sendable, Hashable {
    package var caller: Caller
    package var end: SessionEnd

    package init(caller: Caller, end: SessionEnd) {
        self.caller = caller
        self.end = end
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, caller)
        sink.field(2, UInt64(end.rawValue))
    }
}

package struct LeaseRequest: WireMessage, Sendable, Hashable {
    package var lease: UInt64

    package init(lease: UInt64) { self.lease = lease }

    package func write(to sink: inout some FieldSink) { sink.field(1, lease) }
}

package struct LeaseResponse: WireMessage, Sendable, Hashable {
    /// The lease ends this long after its last renewal.
    package var timeToLive: Duration
    /// False: nothing is known under the lease, everything has to be told.
    package var isKnown: Bool

    package init(timeToLive: Duration, isKnown: Bool) {
        self.timeToLive = timeToLive
        self.isKnown = isKnown
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, timeToLive.milliseconds)
        sink.field(2, isKnown)
    }
}

/// Memberships under a lease; what isn't among them when the last has come is lost.
package struct SyncRequest: WireMessage, Sendable, Hashable {
    package var lease: UInt64
    package var memberships: [Membership]
    package var isFirst: Bool
    package var isLast: Bool

    package init(lease: UInt64, memberships: [Membership], isFirst: Bool, isLast: Bool) {
        self.lease = lease
        self.memberships = memberships
        self.isFirst = isFirst
        self.isLast = isLast
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, lease)
        for membership in memberships { sink.field(2, membership) }
        sink.field(3, isFirst)
        sink.field(4, isLast)
    }
}

package struct SyncResponse: WireMessage, Sendable, Hashable {
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}

package struct Membership: WireMessage, Sendable, Hashable {
    package var channel: ChannelKey
    package var caller: Caller
    package var quiet: Bool
    package var presenceTimeout: Duration

    package init(channel: ChannelKey, caller: Caller, quiet: Bool, presenceTimeout: Duration) {
        self.channel = channel
        self.caller = caller
        self.quiet = quiet
        self.presenceTimeout = presenceTimeout
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, caller)
        sink.field(3, quiet)
        sink.field(4, presenceTimeout.milliseconds)
    }
}
