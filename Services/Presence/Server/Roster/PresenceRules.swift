package import RTMModel

/// When changes of a channel are announced one by one, and when in batches (P-20).
package struct AnnounceRules: Sendable, Hashable {
    /// Up to this many visible users, every change is an event of its own (P-21).
    package var announceMax: Int
    /// How long changes of a bigger channel are collected, in milliseconds (P-22).
    package var interval: UInt64
    /// How long a leave is held back in case the user returns, in milliseconds (P-25).
    package var debounce: UInt64
    /// Limit: bytes of states that a bigger channel announces in one interval; at least the states of one
    /// user are (L-51).
    package var statesBytesMax: Int

    package init(
        announceMax: Int, interval: UInt64, debounce: UInt64, statesBytesMax: Int = 256 * 1024
    ) {
        self.announceMax = announceMax
        self.interval = interval
        self.debounce = debounce
        self.statesBytesMax = statesBytesMax
    }
}

/// The rules that every store of rosters follows. Times are in milliseconds.
package struct PresenceRules: Sendable, Hashable {
    package var announce: AnnounceRules
    package var states: StateLimits
    /// How long after its last renewal a lease ends.
    package var leaseTimeToLive: UInt64
    /// How long after the start leases don't end and edges fill the rosters without events. Edges need that
    /// time to find their way back.
    package var grace: UInt64
    /// Limit: rosters in the memory of a process.
    package var channelsMax: Int
    /// How many users there may be in a channel, quiet ones included; 0 means that there is no limit (L-42).
    package var usersMax: Int
    /// The same for a stream channel (L-26).
    package var streamUsersMax: Int

    package init(
        announce: AnnounceRules, states: StateLimits, leaseTimeToLive: UInt64, grace: UInt64,
        channelsMax: Int, usersMax: Int = 0, streamUsersMax: Int = 0
    ) {
        self.announce = announce
        self.states = states
        self.leaseTimeToLive = leaseTimeToLive
        self.grace = grace
        self.channelsMax = channelsMax
        self.usersMax = usersMax
        self.streamUsersMax = streamUsersMax
    }

    /// When changes are announced in a channel of this type. The publishers of topics are announced one by
    /// one and at once, however many they are: a subscriber has to know whom there is to receive (C-12).
    func announce(in type: ChannelType) -> AnnounceRules {
        guard type == .topics else { return announce }
        return AnnounceRules(
            announceMax: .max, interval: announce.interval, debounce: 0,
            statesBytesMax: announce.statesBytesMax)
    }

    /// The states of a publisher of topics are its topics, with their metas (L-8, L-9, L-27).
    func states(in type: ChannelType) -> StateLimits { type == .topics ? .topics : states }

    func usersMax(in type: ChannelType) -> Int {
        switch type {
        case .stream: streamUsersMax
        case .topics: 0
        case .message, .user, .topic, .none: usersMax
        }
    }

    /// The error for one more user of a full channel. Edges pass it on to the client.
    func isFull(_ type: ChannelType) -> RTMError {
        RTMError(
            type == .stream ? .channelJoinFailed : .channelSubscribeFailed,
            "the channel has all the users that it may have", retryAfter: .seconds(5),
            limit: .init(name: "users in a channel", value: UInt64(usersMax(in: type))))
    }
}

extension RTMError {
    /// Whether a full channel has refused one more user.
    var isFullChannel: Bool { code == .channelSubscribeFailed || code == .channelJoinFailed }
}

/// A user of an app.
package struct UserKey: Sendable, Hashable {
    package var appID: String
    package var userID: String

    package init(appID: String, userID: String) {
        self.appID = appID
        self.userID = userID
    }
}

/// Channels are ordered by app, type and name, so that a step that concerns several channels visits them in
/// one order.
extension ChannelKey: Comparable {
    package static func < (first: ChannelKey, second: ChannelKey) -> Bool {
        (first.appID, first.type.rawValue, first.name) < (second.appID, second.type.rawValue, second.name)
    }
}
