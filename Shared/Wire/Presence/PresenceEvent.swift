/// What happened in a channel, as its subscribers hear it (P-2 to P-6).
package enum PresenceEvent: PublicationEvent, Sendable, Hashable {
    package typealias Fields = Schema.PresenceEvent
    package static var field: SchemaField<Fields> { Schema.Publication.presence }

    case joined
    case left
    case timedOut
    /// The user has changed states, and these are all that the user has now (P-6).
    case statesChanged([StateItem])
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
        case .statesChanged(let items): sink.field(Fields.items, items)
        case .interval(let interval): sink.field(Fields.interval, interval)
        case .joined, .left, .timedOut: break
        }
    }
}

/// What happened in a big channel in one period (P-2). A user in `left` or `timedOut` is gone at the end of
/// the period; every other user in `joined` is there.
package struct PresenceInterval: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PresenceInterval
    package var joined: [String]
    package var left: [String]
    package var timedOut: [String]
    /// The changes of states in their order, each with all states that the user had then.
    package var states: [UserState]

    package init(
        joined: [String] = [], left: [String] = [], timedOut: [String] = [], states: [UserState] = []
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
