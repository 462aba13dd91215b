import RTMModel

/// What the server says about the users of a channel. It says only which states have changed. What the app
/// gets names all states of a user (P-6), which `ChannelRoster` knows.
struct PresenceUpdate: Sendable, Hashable {
    enum Change: Sendable, Hashable {
        case joined(String)
        /// The user has come with states, which are the next update (P-46).
        case joinedWithStates(String)
        case left(String)
        case timedOut(String)
        case states(StateChange)
        case interval(Interval)
    }

    /// What has changed of a user's states.
    struct StateChange: Sendable, Hashable {
        var userID: String
        var items: [String: String] = [:]
        var removed: [String] = []
        /// Whether the user has the items and no other states.
        var isWhole = false

        /// The states after the change.
        func applied(to states: [String: String]) -> [String: String] {
            guard !isWhole else { return items }
            var states = states
            for key in removed { states[key] = nil }
            states.merge(items) { $1 }
            return states
        }
    }

    /// What happened within one period of a big channel (P-22).
    struct Interval: Sendable, Hashable {
        var joined: [String] = []
        var left: [String] = []
        var timedOut: [String] = []
        var states: [StateChange] = []
    }

    var change: Change
    /// Milliseconds since 1970 by the server's clock.
    var timestampMilliseconds: UInt64
}
