import RTMModel
package import RTMServiceKit
import RTMWire

/// The configuration keys of a presence node.
package enum PresenceKeys {
    package static let listen = ConfigurationKey<HostPort>.address(
        "presence.listen", default: HostPort(host: "127.0.0.1", port: 7730),
        "Where edges connect; keep it off the public network.")
    package static let messaging = ConfigurationKey<HostPort>.address(
        "presence.messaging", default: HostPort(host: "127.0.0.1", port: 7720),
        "The messaging node, to whose channel logs the events go.")
    package static let announceMax = ConfigurationKey<Int>.int(
        "presence.announce.max", default: 50, in: 0...1_000_000,
        "Up to so many visible users in a channel every change is an event of its own; above, changes are collected."
    )
    package static let interval = ConfigurationKey<Duration>.duration(
        "presence.interval", default: .seconds(30), in: .milliseconds(10) ... .seconds(300),
        "How long the changes of a big channel are collected before its users hear of them.")
    package static let debounce = ConfigurationKey<Duration>.duration(
        "presence.debounce", default: .seconds(2), in: .zero ... .seconds(60),
        "How long a leave is held back; a user who returns meanwhile has not been away. 0s: told at once.")
    package static let statesMax = ConfigurationKey<Int>.int(
        "presence.states.max", default: 32, in: 1...1_000, "Temporary states of a user in one channel.")
    package static let stateKeyBytesMax = ConfigurationKey<Int>.int(
        "presence.states.keyBytesMax", default: 32, in: 1...1_024, "Bytes of a state's key.")
    package static let stateValueBytesMax = ConfigurationKey<Int>.int(
        "presence.states.valueBytesMax", default: 1_024, in: 1...65_536, "Bytes of a state's value.")
    package static let leaseTimeToLive = ConfigurationKey<Duration>.duration(
        "presence.leaseTtl", default: .seconds(15), in: .seconds(1) ... .seconds(300),
        "An edge that isn't heard of for so long is gone: the presence timeouts of its users begin.")
    package static let grace = ConfigurationKey<Duration>.duration(
        "presence.grace", default: .seconds(30), in: .zero ... .seconds(600),
        "How long after its start this node lets edges fill its rosters again without telling anybody.")
    package static let sweepInterval = ConfigurationKey<Duration>.duration(
        "presence.sweepInterval", default: .milliseconds(250), in: .milliseconds(5) ... .seconds(10),
        "How often is looked for what is due: leases, presence timeouts, held-back leaves, collected changes."
    )
    package static let channelsMax = ConfigurationKey<Int>.int(
        "presence.channels.max", default: 1_000_000, in: 1...100_000_000,
        "Channels with a roster in this node; a join to one more is refused.")

    static let own: [KeyDeclaration] = [
        LinkKeys.secret.declaration, announceMax.declaration, interval.declaration, debounce.declaration,
        statesMax.declaration, stateKeyBytesMax.declaration, stateValueBytesMax.declaration,
        leaseTimeToLive.declaration, grace.declaration, sweepInterval.declaration, channelsMax.declaration,
    ]
}

extension PresenceRules {
    init(_ configuration: Configuration) {
        self.init(
            announce: AnnounceRules(
                announceMax: configuration[PresenceKeys.announceMax],
                interval: configuration[PresenceKeys.interval].milliseconds,
                debounce: configuration[PresenceKeys.debounce].milliseconds),
            states: StateLimits(
                countMax: configuration[PresenceKeys.statesMax],
                keyBytesMax: configuration[PresenceKeys.stateKeyBytesMax],
                valueBytesMax: configuration[PresenceKeys.stateValueBytesMax]),
            leaseTimeToLive: configuration[PresenceKeys.leaseTimeToLive].milliseconds,
            grace: configuration[PresenceKeys.grace].milliseconds,
            channelsMax: configuration[PresenceKeys.channelsMax])
    }
}
