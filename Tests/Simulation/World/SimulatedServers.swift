import NIOCore
import NIOEmbedded
import RTMModel

@testable import RTMEdgeServer
@testable import RTMPresenceServer
@testable import RTMTestKit

extension EdgeProcess {
    convenience init(
        _ host: Host, hasEvents: Bool, messaging: [Host], in network: SimulatedNetwork, random: RandomStream
    ) {
        self.init(host, messaging: messaging, in: network, random: random) {
            EmbeddedEdge(.simulated(hasEvents: hasEvents), named: host.description, $0, in: $1)
        }
    }

    /// What it holds for clients: nothing, when nobody is logged in.
    var leftovers: String? {
        let loop = edge.loop
        if !loop.sessions.isEmpty { return "\(loop.sessions.count) sessions" }
        if loop.subscribing.channelCount > 0 { return "\(loop.subscribing.channelCount) channels" }
        return nil
    }
}

extension PresenceProcess {
    convenience init(
        _ announce: AnnounceRules, messaging: [Host], in network: SimulatedNetwork, random: RandomStream
    ) {
        let rules = PresenceRules(
            announce: announce, states: StateLimits(countMax: 32, keyBytesMax: 32, valueBytesMax: 1_024),
            leaseTimeToLive: 15_000, grace: 30_000, channelsMax: 1_000)
        // Some snapshots come with the joins, and some have to be asked for.
        var snapshots = SnapshotLimits()
        snapshots.joinUsersMax = 3
        var random = random
        self.init(messaging: messaging, in: network, random: random) {
            EmbeddedPresence(
                rules, messaging: $0, $1, snapshots: snapshots, sweepInterval: .milliseconds(250),
                random: &random, on: network.world.loop, logger: .silent)
        }
    }

    /// What it holds for clients: nothing, when nobody is logged in.
    var leftovers: String? {
        let totals = presence.node.store.totals
        return totals.channels > 0 ? "\(totals.members) members of \(totals.channels) channels" : nil
    }
}

extension EdgeConfiguration {
    static func simulated(hasEvents: Bool) -> EdgeConfiguration {
        EdgeConfiguration(
            applications: [
                Application(
                    id: "app", subscriptionsMax: Limits.subscribedChannelsMax,
                    rates: .simulated, hasEvents: hasEvents)
            ],
            limits: EdgeLimits(
                connectionsMax: 1_000, connectionsPerAddressMax: 1_000, frameBytesMax: 64 * 1024,
                outboundBytesMax: 1024 * 1024, handshakeTimeout: .seconds(10)),
            serverName: "simulated")
    }
}

extension ApplicationRates {
    /// That of logins is the usual one: who comes back is judged by it, too.
    static let simulated = ApplicationRates(
        publish: 0, calls: 0, subscribesMax: 0, login: 2, subscriptionsMax: 0, channelMetadata: 0,
        userMetadata: 0, acquireLock: 0)
}
