/// What happened in a channel, as its subscribers hear it (P-2 to P-6).
package enum PresenceEvent: PublicationEvent, Sendable, Hashable {
    package typealias Fields = Schema.PresenceEvent
    package static var field: SchemaField<Fields> { Schema.Publication.presence }

    case joined
    case left
    case timedOut
    /// The user has set or removed states (P-6). The change names no user; the publication does.
    case statesChanged(StateChange)
    case interval(PresenceInterval)

    /// The schema's numbers.
    private enum Kind: Int {
        case interval = 2
        case joined = 3
        case left = 4
        case timedOut = 5
        case statesChanged = 6
    }

    private var kind: Kind {
        switch self {
        case .joined: .joined
        case .left: .left
        case .timedOut: .timedOut
        case .statesChanged: .statesChanged
        case .interval: .interval
        }
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.type, kind)
        switch self {
        case .statesChanged(let change): sink.field(Fields.states, change)
        case .interval(let interval): sink.field(Fields.interval, interval)
        case .joined, .left, .timedOut: break
        }
    }
}

/// What of a user's states has changed. A subscriber who knows the states from before knows all of them
/// afterwards, and a change of one byte doesn't send the other states again.
package struct StateChange: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.StateChange
    /// Empty where the publication names the user.
    package var userID: String
    /// States that the user has set, with the values that they have now, ordered by key.
    package var items: [StateItem]
    /// Keys of states that the user doesn't have any more.
    package var removed: [String]
    /// Whether the user has the items and no other states.
    package var isWhole: Bool

    package init(
        userID: String = "", items: [StateItem] = [], removed: [String] = [], isWhole: Bool = false
    ) {
        self.userID = userID
        self.items = items
        self.removed = removed
        self.isWhole = isWhole
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.userId, userID)
        sink.field(Fields.items, items)
        sink.field(Fields.removed, removed)
        sink.field(Fields.whole, isWhole)
    }
}

/// What happened in a big channel in one period (P-2). A user in `left` or `timedOut` is gone at the end of
/// the period; every other user in `joined` is there.
package struct PresenceInterval: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PresenceInterval
    package var joined: [String]
    package var left: [String]
    package var timedOut: [String]
    /// What changed of the users' states, each user at most once in a period (P-23).
    package var states: [StateChange]

    package init(
        joined: [String] = [], left: [String] = [], timedOut: [String] = [], states: [StateChange] = []
    ) {
        self.joined = joined
        self.left = left
        self.timedOut = timedOut
        self.states = states
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.joined, joined)
        sink.field(Fields.left, left)
        sink.field(Fields.timedOut, timedOut)
        sink.field(Fields.states, states)
    }
}
