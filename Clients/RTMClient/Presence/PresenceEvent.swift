public import RTMModel

/// A user of a channel, and the temporary states that it shows there.
public struct UserState: Sendable, Hashable {
    /// Whose states they are.
    public var userID: String
    /// The states by their keys.
    public var states: [String: String]

    /// Makes the value, as tests of apps do.
    public init(userID: String, states: [String: String] = [:]) {
        self.userID = userID
        self.states = states
    }
}

/// A channel that a user is in.
public struct UserChannel: Sendable, Hashable {
    /// The type of the channel.
    public var type: ChannelType
    /// The name of the channel.
    public var name: String

    /// Makes the value, as tests of apps do.
    public init(type: ChannelType, name: String) {
        self.type = type
        self.name = name
    }
}

/// Who came, left, timed out or changed a state in a subscribed channel, or who is there at all (P-1…P-7).
public struct PresenceEvent: Sendable, Hashable {
    /// The type of the channel.
    public var channelType: ChannelType
    /// The name of the channel.
    public var channelName: String
    /// What changed.
    public var change: Change
    /// Milliseconds since 1970 by the server's clock.
    public var timestampMilliseconds: UInt64

    /// What changed about who is in a channel.
    public enum Change: Sendable, Hashable {
        /// Everybody who is there, by user id. This user is among them unless its subscription is quiet. A
        /// snapshot comes after subscribing, after a reconnect, and whenever the server brings the client up
        /// to date. It replaces all that is known.
        case snapshot([UserState])
        /// What happened within one period, in a channel with too many users for single events (P-22).
        case interval(PresenceInterval)
        /// A user has come, with these states (P-46).
        case joined(String, states: [String: String] = [:])
        /// A user has gone.
        case left(String)
        /// The user lost its connection and didn't return within its `presenceTimeout` (S-42).
        case timedOut(String)
        /// The user has other states now. The event names all of them.
        case statesChanged(UserState)
        /// The app doesn't learn who is here.
        case outage(PresenceOutage)
    }

    /// Makes the value, as tests of apps do.
    public init(
        channelType: ChannelType, channelName: String, change: Change, timestampMilliseconds: UInt64
    ) {
        self.channelType = channelType
        self.channelName = channelName
        self.change = change
        self.timestampMilliseconds = timestampMilliseconds
    }

    /// The user that the event is about, or `nil` for a snapshot, an interval and an outage.
    public var userID: String? {
        switch change {
        case .joined(let userID, _), .left(let userID), .timedOut(let userID): userID
        case .statesChanged(let user): user.userID
        case .snapshot, .interval, .outage: nil
        }
    }
}

/// Why a subscription has no presence events (P-7).
public enum PresenceOutage: Sendable, Hashable {
    /// The subscription has not asked for them.
    case notAskedFor
    /// The server can't give them at present. A snapshot says that they are back.
    case unavailable
}

/// What happened in a big channel within one period. To know who is there afterwards, add `joined`, then take
/// `left` and `timedOut` away. A user who is in both came and went (P-24).
public struct PresenceInterval: Sendable, Hashable {
    /// Who has come.
    public var joined: [String]
    /// Who has gone.
    public var left: [String]
    /// Whose connection was lost for too long.
    public var timedOut: [String]
    /// The users whose states have changed, each once and with all states that the user has now (P-23).
    public var states: [UserState]
    /// How many users are there now, or `nil` while no snapshot has come.
    public var occupancy: Int?

    /// Makes the value, as tests of apps do.
    public init(
        joined: [String] = [], left: [String] = [], timedOut: [String] = [], states: [UserState] = [],
        occupancy: Int? = nil
    ) {
        self.joined = joined
        self.left = left
        self.timedOut = timedOut
        self.states = states
        self.occupancy = occupancy
    }
}
