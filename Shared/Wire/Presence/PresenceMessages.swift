package import RTMModel

/// The numbers of the methods of presence (protocol/schema/service/presence_service.proto).
package enum PresenceMethod {
    package static let join: UInt32 = 1
    package static let call: UInt32 = 2
    package static let leave: UInt32 = 3
    package static let sessionEnded: UInt32 = 4
    package static let lease: UInt32 = 5
    package static let sync: UInt32 = 6
    package static let roster: UInt32 = 7
}

/// Says that a session's user enters a channel, or changes how it is there.
package struct JoinRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.JoinRequest
    package var channel: ChannelKey
    package var caller: Caller
    package var lease: UInt64
    package var quiet: Bool
    package var presenceTimeout: Duration
    /// Whether the answer shall list the users who are there.
    package var wantsSnapshot: Bool
    /// The number of the session's inbox at messaging: greater than that of every earlier login of the user.
    package var claim: UInt64

    package init(
        channel: ChannelKey, caller: Caller, lease: UInt64, quiet: Bool, presenceTimeout: Duration,
        wantsSnapshot: Bool, claim: UInt64
    ) {
        self.channel = channel
        self.caller = caller
        self.lease = lease
        self.quiet = quiet
        self.presenceTimeout = presenceTimeout
        self.wantsSnapshot = wantsSnapshot
        self.claim = claim
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.caller, caller)
        sink.field(Fields.lease, lease)
        sink.field(Fields.quiet, quiet)
        sink.field(Fields.presenceTimeoutMs, milliseconds: presenceTimeout)
        sink.field(Fields.snapshot, wantsSnapshot)
        sink.field(Fields.claim, claim)
    }
}

package struct JoinResponse: WireMessage {
    package typealias Fields = Schema.JoinResponse
    /// The snapshot contains the events up to this position.
    package let position: StreamPosition
    /// ServerFrames with their length prefixes.
    package let frames: WireText
    /// The snapshot doesn't fit into the answer, so the edge has to ask for it (`RosterRequest`).
    package let isTooBig: Bool
    /// A newer login of the user is in the channel, so the session isn't listed.
    package let isOlder: Bool

    package init(
        position: StreamPosition, frames: WireText, isTooBig: Bool = false, isOlder: Bool = false
    ) {
        self.position = position
        self.frames = frames
        self.isTooBig = isTooBig
        self.isOlder = isOlder
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.frames, frames)
        sink.field(Fields.tooBig, isTooBig)
        sink.field(Fields.older, isOlder)
    }
}

/// Asks for a part of the snapshot of a channel with very many users.
package struct RosterRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.RosterRequest
    package var channel: ChannelKey
    /// The number from the response before, or 0 to start from the beginning.
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

package struct RosterResponse: WireMessage {
    package typealias Fields = Schema.RosterResponse
    /// ServerFrames with their length prefixes.
    package let frames: WireText
    /// The number with which the edge asks for the next part; 0 if this was the last one.
    package let snapshot: UInt64

    package init(frames: WireText, snapshot: UInt64) {
        self.frames = frames
        self.snapshot = snapshot
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.frames, frames)
        sink.field(Fields.snapshot, snapshot)
    }
}

/// Says that the session has unsubscribed.
package struct LeavePush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeavePush
    package var channel: ChannelKey
    package var caller: Caller
    package var lease: UInt64
    /// As in `LeaseRequest`.
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

/// How a session came to its end, for the services that keep something of it.
package enum SessionEnd: Int, Sendable, Hashable, CaseIterable {
    /// The user leaves the session's channels at once.
    case loggedOut = 1
    /// The presence timeouts of the session begin: the user stays in the channels until they have passed
    /// (S-42).
    case lost = 2
    /// The user leaves the session's channels at once, because another instance of the user has logged in
    /// (S-12).
    case superseded = 3
}

/// Says that a session has ended.
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

/// Takes or renews the lease under which an edge's memberships stand.
package struct LeaseRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeaseRequest
    package var lease: UInt64
    /// The number of the edge loop's link: greater for a newer one, 0 if it is unknown.
    package var link: UInt64

    package init(lease: UInt64, link: UInt64 = 0) {
        self.lease = lease
        self.link = link
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.lease, lease)
        sink.field(Fields.link, link)
    }
}

package struct LeaseResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeaseResponse
    /// The lease ends this long after its last renewal.
    package var timeToLive: Duration
    /// False if presence knows nothing under the lease. Then the edge has to send all its memberships.
    package var isKnown: Bool

    package init(timeToLive: Duration, isKnown: Bool) {
        self.timeToLive = timeToLive
        self.isKnown = isKnown
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.ttlMs, milliseconds: timeToLive)
        sink.field(Fields.known, isKnown)
    }
}

/// Memberships under a lease. A membership that isn't among them when the last request has come is lost.
package struct SyncRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SyncRequest
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
        sink.field(Fields.lease, lease)
        sink.field(Fields.memberships, memberships)
        sink.field(Fields.first, isFirst)
        sink.field(Fields.last, isLast)
    }
}

package struct SyncResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SyncResponse
    /// The memberships of the request that aren't listed, because newer logins of their users are in the
    /// channels.
    package var older: [OlderMembership]

    package init(older: [OlderMembership] = []) { self.older = older }

    package func write(to sink: inout some FieldSink) { sink.field(Fields.older, older) }
}

package struct OlderMembership: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.OlderMembership
    /// The place of the membership in the request, counted from 0.
    package var place: UInt32

    package init(place: UInt32) { self.place = place }

    package func write(to sink: inout some FieldSink) { sink.field(Fields.place, place) }
}

/// A user in a channel, with the session that brought it there.
package struct Membership: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.Membership
    package var channel: ChannelKey
    package var caller: Caller
    package var quiet: Bool
    package var presenceTimeout: Duration
    /// As in `JoinRequest`.
    package var claim: UInt64

    package init(
        channel: ChannelKey, caller: Caller, quiet: Bool, presenceTimeout: Duration, claim: UInt64
    ) {
        self.channel = channel
        self.caller = caller
        self.quiet = quiet
        self.presenceTimeout = presenceTimeout
        self.claim = claim
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.caller, caller)
        sink.field(Fields.quiet, quiet)
        sink.field(Fields.presenceTimeoutMs, milliseconds: presenceTimeout)
        sink.field(Fields.claim, claim)
    }
}
