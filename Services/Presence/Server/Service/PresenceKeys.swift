import RTMModel
import RTMRedis
package import RTMServiceKit
import RTMServiceLink
import RTMWire

/// The configuration keys of a presence node.
package struct PresenceKeys: ServiceKeys {
    package static let table = Self()

    package let listen = ConfigurationKey<HostPort>.address(
        "presence.listen", default: HostPort(host: "127.0.0.1", port: 7730),
        "Address where edges connect; keep it off the public network."
    ).forOwnProcess
    package let messaging = ServiceAddressesKey(
        "presence.messaging", default: "127.0.0.1:7720",
        "Messaging nodes, as HOST:PORT, to whose logs presence appends its events. Nodes with a journal in Redis "
            + "announce the addresses of the others.")
    package let announceMax = ConfigurationKey<Int>.int(
        "presence.announce.max", default: 50, in: 0...1_000_000,
        "Up to this many visible users in a channel, every change is an event of its own; above it, changes are collected."
    )
    package let interval = ConfigurationKey<Duration>.duration(
        "presence.interval", default: .seconds(30), in: .milliseconds(10) ... .seconds(300),
        "How long the changes of a big channel are collected before they are announced to its users.")
    package let intervalStatesBytesMax = ConfigurationKey<Int>.byteSize(
        "presence.states.intervalBytesMax", default: 256 * 1024, in: 1024...2 << 20,
        "Bytes of states that a big channel announces at the end of one interval; what exceeds them comes with the next one (L-51)."
    )
    package let debounce = ConfigurationKey<Duration>.duration(
        "presence.debounce", default: .zero, in: .zero ... .seconds(60),
        "How long a leave is held back; a user who returns meanwhile has not been away. With 0s a leave is announced at once."
    )
    package let statesMax = ConfigurationKey<Int>.int(
        "presence.states.max", default: 32, in: 1...1_000, "Temporary states of a user in one channel.")
    package let stateKeyBytesMax = ConfigurationKey<Int>.int(
        "presence.states.keyBytesMax", default: 32, in: 1...1_024, "Bytes of a state's key.")
    package let stateValueBytesMax = ConfigurationKey<Int>.int(
        "presence.states.valueBytesMax", default: 1_024, in: 1...65_536, "Bytes of a state's value.")
    package let leaseTimeToLive = ConfigurationKey<Duration>.duration(
        "presence.leaseTtl", default: .seconds(15), in: .seconds(1) ... .seconds(300),
        "An edge that has sent nothing for this time counts as gone, and the presence timeouts of its users begin."
    )
    package let grace = ConfigurationKey<Duration>.duration(
        "presence.grace", default: .seconds(30), in: .zero ... .seconds(600),
        "How long after this node's start edges may fill its rosters again without events to the other users."
    )
    package let sweepInterval = ConfigurationKey<Duration>.duration(
        "presence.sweepInterval", default: .milliseconds(250), in: .milliseconds(5) ... .seconds(2),
        "How often the node does what is due: ended leases, presence timeouts, held-back leaves, collected changes."
    )
    package let channelsMax = ConfigurationKey<Int>.int(
        "presence.channels.max", default: 1_000_000, in: 1...100_000_000,
        "Channels with a roster in this node's memory; a join to one more is refused. It has no effect with Redis."
    )
    package let usersMax = ConfigurationKey<Int>.int(
        "presence.channels.usersMax", default: 0, in: 0...10_000_000,
        "Users in one channel; a subscribe of one more is refused. 0 means no limit (L-42).")

    package let streamUsersMax = ConfigurationKey<Int>.int(
        "presence.streamChannels.usersMax", default: 1_000, in: 0...10_000_000,
        "Users in one stream channel; a join of one more is refused. 0 means no limit (L-26).")
    let redis = RedisKeySet(
        of: "presence", purpose: "that keeps the rosters for several presence nodes",
        otherwise: "Unset: this process keeps them.")

    static let rules = [
        ConfigurationRule(
            leaseTimeToLive, isAtLeast: 2, times: sweepInterval,
            because: "a sweep has to notice the end of a lease in time"),
        ConfigurationRule(
            interval, times: sweepInterval,
            because: "the changes of a big channel are announced by a sweep"),
    ]

    /// The relation of a node of its own process.
    static let redisRule = ConfigurationRule(
        leaseTimeToLive, times: redis.timeout,
        because: "a renewal that waits for Redis has to be answered before its lease ends",
        when: { !$0[redis.endpoints].isEmpty })
}

extension PresenceRules {
    init(_ configuration: Configuration) {
        self.init(
            announce: AnnounceRules(
                announceMax: configuration[PresenceKeys.announceMax],
                interval: configuration[PresenceKeys.interval].milliseconds,
                debounce: configuration[PresenceKeys.debounce].milliseconds,
                statesBytesMax: configuration[PresenceKeys.intervalStatesBytesMax]),
            states: StateLimits(
                countMax: configuration[PresenceKeys.statesMax],
                keyBytesMax: configuration[PresenceKeys.stateKeyBytesMax],
                valueBytesMax: configuration[PresenceKeys.stateValueBytesMax]),
            leaseTimeToLive: configuration[PresenceKeys.leaseTimeToLive].milliseconds,
            grace: configuration[PresenceKeys.grace].milliseconds,
            channelsMax: configuration[PresenceKeys.channelsMax],
            usersMax: configuration[PresenceKeys.usersMax],
            streamUsersMax: configuration[PresenceKeys.streamUsersMax])
    }
}
