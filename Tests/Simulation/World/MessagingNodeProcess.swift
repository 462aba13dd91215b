import Logging
import NIOCore
import RTMRedis
import RTMServiceKit

@testable import RTMMessagingServer
@testable import RTMServiceLink
@testable import RTMTestKit

/// One life of a messaging node: the real shards behind the simulated network. Without a journal its logs die
/// with it.
final class MessagingNodeProcess {
    /// The only node, where there is no journal.
    static let host = Host("messaging")

    /// What several nodes share.
    struct Company {
        var nodes: Int
        var shards: Int
        /// How long a leader may be silent, in milliseconds.
        var lease: UInt64 = 1_000
        /// Their clients' limit for a command.
        var commandTimeout = Duration.seconds(2)
    }

    let host: Host
    private let node: MessagingNode
    private let metrics: MessagingMetrics
    private let server: ServiceLinkServer
    private let network: SimulatedNetwork
    private let sweep: RepeatedTask
    private var journals: MessagingJournals?
    private var isDead = false

    init(
        _ host: Host, _ company: Company?, in network: SimulatedNetwork, random: RandomStream,
        received: @escaping (MessagingJournals.News) -> Void = { _ in }
    ) {
        self.host = host
        self.network = network
        let world = network.world
        let process = company.map { _ in ProcessLoop(world.loop) }
        let loop: any EventLoop = process ?? world.loop
        let logger = Logger(label: "messaging") { _ in SwiftLogNoOpLogHandler() }
        let minutes: UInt64 = 60_000
        let limits = BrokerLimits(
            partitionCount: 4 * (company?.shards ?? 1), ageMax: 5 * minutes / 2, catchUpEntriesMax: 8_192,
            catchUpBytesMax: 4 * 1024 * 1024, idleMax: 5 * minutes / 2, channelsMax: 1_000)
        let shards = (0..<(company?.shards ?? 1)).map { shard in
            MessagingShard(
                limits: company.map { limits.share(of: shard, among: $0.shards) } ?? limits,
                firstEpoch: random.next() >> 8, secret: random.next(),
                metrics: MessagingMetrics(MetricsRegistry()), logger: logger,
                clock: { world.utcMilliseconds })
        }
        let metrics = MessagingMetrics(MetricsRegistry())
        let node = MessagingNode(shards, metrics: metrics, clock: { world.utcMilliseconds })
        (self.node, self.metrics) = (node, metrics)
        let bound = NIOLoopBound(node, eventLoop: world.loop)
        var configuration = ServiceLinkServerConfiguration(service: "messaging")
        configuration.incarnation = random.next() | 1
        configuration.shards = shards.count
        configuration.link.dialer = SimulatedLinkDialer(network, from: host)
        configuration.relays = ServiceLinkRelays(
            to: { bound.value.address(of: $0) }, observe: { metrics.count($0) })
        server = ServiceLinkServer(configuration, links: loop, logger: logger) {
            bound.value.handler(of: $0)
        }
        sweep = loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            for shard in bound.value.shards { shard.sweep(1_000) }
        }
        if let company, let process {
            journals = MessagingJournals(
                of: node, at: host, company, on: process, in: network, random: random, received: received)
        }
        network.listen(host) { [server] socket in
            SocketTransport.open(socket, for: server.accept(on: loop))
        }
    }

    /// How many links it relays to other nodes.
    var relays: Int { metrics.relays.value }

    /// The process is gone, with all that it knew.
    func kill(silently: Bool) {
        isDead = true
        network.kill(host, silently: silently)
        sweep.cancel()
        journals?.end()
    }

    /// It stands still: nothing is read, and no timer is heard.
    func pause() {
        guard !isDead else { return }
        network.pause(host)
        journals?.loop.pause()
    }

    func resume() {
        guard !isDead else { return }
        network.resume(host)
        journals?.loop.resume()
    }

    /// Lets other nodes lead, and ends.
    func drain(_ done: @escaping () -> Void) {
        guard let journals else { return }
        journals.loop.assumeIsolated().execute { journals.registry.shutdown(within: 20_000, done) }
    }
}
