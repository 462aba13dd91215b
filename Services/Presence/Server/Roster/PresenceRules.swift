package import RTMModel

/// When changes of a channel are told one by one, and when in batches (P-20).
package struct AnnounceRules: Sendable, Hashable {
    /// Up to so many visible users every change is an event of its own (P-21).
    package var announceMax: Int
    /// In milliseconds: how long changes of a bigger channel are collected (P-22).
    package var interval: UInt64
    /// In milliseconds: how long a leave is held back for a return (P-25).
    package var debounce: UInt64

    package init(announceMax: Int, interval: UInt64, debounce: UInt64) {
        self.announceMax = announceMax
        self.interval = interval
        self.debounce = debounce
    }
}

/// What every store of rosters goes by. Times are in milliseconds.
package struct PresenceRules: Sendable, Hashable {
    package var announce: AnnounceRules
    package var states: StateLimits
    /// A lease ends so long after its last renewal.
    package var leaseTimeToLive: UInt64
    /// How long after the beginning leases don't end and edges fill the rosters without events: they need
    /// that time to find their way back.
    package var grace: UInt64
    /// Limit: rosters in the memory of a process.
    package var channelsMax: Int

    package init(
        announce: AnnounceRules, states: StateLimits, leaseTimeToLive: UInt64, grace: UInt64, channelsMax: Int
    ) {
        self.announce = announce
        self.states = states
        self.leaseTimeToLive = leaseTimeToLive
        self.grace = grace
        self.channelsMax = channelsMax
    }
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

/// By app, type and name, so that whatever is done in several channels is done in one order.
extension ChannelKey: Comparable {
    package static func < (first: ChannelKey, second: ChannelKey) -> Bool {
        (first.appID, first.type.rawValue, first.name) < (second.appID, second.type.rawValue, second.name)
    }
}
