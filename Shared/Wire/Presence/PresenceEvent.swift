/// What happened in a channel, as its subscribers receive it (P-2 to P-6).
package enum PresenceEvent: PublicationEvent, Sendable, Hashable {
    package typealias Fields = Schema.PresenceEvent
    package static var field: SchemaField<Fields> { Schema.Publication.presence }

    case joined
    /// The user came with states, which are the next event (P-46).
    case joinedWithStates
    case left
    case timedOut
    /// The user has set or removed states (P-6). The change names no user; the publication does.
    case statesChanged(StateChange)
    case interval(PresenceInterval)

    /// The schema's numbers.
    enum Kind: Int {
        case interval = 2
        case joined = 3
        case left = 4
        case timedOut = 5
        case statesChanged = 6
    }

    private var kind: Kind {
        switch self {
        case .joined, .joinedWithStates: .joined
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
        case .joinedWithStates: sink.field(Fields.states, StateChange())
        case .joined, .left, .timedOut: break
        }
    }
}
