package import RTMWire

/// An event on its way to a channel's log.
package struct RosterEvent: Sendable, Hashable {
    package var event: PresenceEvent
    /// The user whom the event is about; empty for an interval.
    package var user: String
    /// The session that caused the event and doesn't receive it (P-8); 0 if there is none.
    package var exceptSession: UInt64

    package init(_ event: PresenceEvent, user: String, exceptSession: UInt64) {
        self.event = event
        self.user = user
        self.exceptSession = exceptSession
    }

    var byteCount: Int { event.encodedLength + user.utf8.count }
}

/// What a user brings into a channel.
package struct Entry: Sendable, Hashable {
    package var user: String
    package var session: UInt64
    /// The number of the client object; 0 if it is unknown.
    package var instance: UInt64
    /// The number of the session's inbox at messaging, which is greater for a newer login of the user; 0 if
    /// it is unknown.
    package var ownership: UInt64
    package var lease: UInt64
    package var isQuiet: Bool
    /// The presence timeout in milliseconds (L-45).
    package var timeout: UInt64
    /// What the user shows from the beginning, in the order of the keys (P-46). A roster keeps the states
    /// beside the entry.
    package var states: [StateItem]

    package init(
        user: String, session: UInt64, instance: UInt64, ownership: UInt64, lease: UInt64, isQuiet: Bool,
        timeout: UInt64, states: [StateItem] = []
    ) {
        self.user = user
        self.session = session
        self.instance = instance
        self.ownership = ownership
        self.lease = lease
        self.isQuiet = isQuiet
        self.timeout = timeout
        self.states = states
    }

    /// Whether this comes of a newer login of the same user.
    package func isNewer(than other: Entry) -> Bool {
        session != other.session && other.ownership != 0 && other.ownership < ownership
    }
}
