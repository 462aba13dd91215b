import Logging
import NIOCore
// With this the loop's `now` is virtual; without it the compiler silently takes that of all loops.
import NIOEmbedded
import RTMServiceKit

@testable import RTMPresenceServer
@testable import RTMServiceLink

/// One life of the presence service: the real node with rosters in its memory, which die with it.
final class PresenceProcess {
    static let host = Host("presence")

    private let node: PresenceNode
    private let server: ServiceLinkServer
    private let network: SimulatedNetwork
    private let sweep: RepeatedTask

    init(
        _ announce: AnnounceRules, messaging: [Host], in network: SimulatedNetwork, random: RandomStream
    ) {
        self.network = network
        let world = network.world
        let logger = Logger(label: "presence") { _ in SwiftLogNoOpLogHandler() }
        let rules = PresenceRules(
            announce: announce, states: StateLimits(countMax: 32, keyBytesMax: 32, valueBytesMax: 1_024),
            leaseTimeToLive: 15_000, grace: 30_000, channelsMax: 1_000)
        let jitter = NIOLoopBound(random, eventLoop: world.loop)
        var link = ServiceLinkConfiguration()
        link.random = { jitter.value.share() }
        var settings = PresenceNode.Settings(
            messaging: messaging.map { .inProcess(SimulatedEndpoint($0, in: network, from: Self.host)) },
            link: link, states: rules.states, leaseTimeToLive: .milliseconds(rules.leaseTimeToLive))
        // Some snapshots come with the joins, and some have to be asked for.
        settings.snapshots.joinUsersMax = 3
        let store = EmbeddedPresenceStore(rules, source: random.next() | 1) {
            world.loop.now.uptimeNanoseconds / 1_000_000
        }
        let node = PresenceNode(
            settings, store: store, on: world.loop, metrics: PresenceMetrics(MetricsRegistry()),
            messagingProbe: nil, logger: logger)
        self.node = node
        let bound = NIOLoopBound(node, eventLoop: world.loop)
        var configuration = ServiceLinkServerConfiguration(service: "presence")
        configuration.incarnation = random.next() | 1
        server = ServiceLinkServer(configuration, links: world.loop, logger: logger) { _ in bound.value }
        sweep = world.loop.scheduleRepeatedTask(
            initialDelay: .milliseconds(250), delay: .milliseconds(250)
        ) { _ in bound.value.sweep() }
        node.start()
        network.listen(Self.host) { [server] socket in
            SocketTransport.open(socket, for: server.accept(on: world.loop))
        }
    }

    /// The process is gone, with all that it knew.
    func kill(silently: Bool) {
        network.kill(Self.host, silently: silently)
        sweep.cancel()
        node.shutdown()
    }

    /// What it holds for clients: nothing, when nobody is logged in.
    var leftovers: String? {
        let totals = node.store.totals
        return totals.channels > 0 ? "\(totals.members) members of \(totals.channels) channels" : nil
    }
}
