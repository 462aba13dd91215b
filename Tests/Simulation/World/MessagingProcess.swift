import Logging
import NIOCore
import RTMServiceKit

@testable import RTMMessagingServer
@testable import RTMServiceLink

/// One life of the messaging service: the real node behind the simulated network. Its logs die with it.
final class MessagingProcess {
    static let host = Host("messaging")

    let node: MessagingShard
    private let server: ServiceLinkServer
    private let network: SimulatedNetwork
    private let sweep: RepeatedTask

    init(in network: SimulatedNetwork, random: RandomStream) {
        self.network = network
        let world = network.world
        let logger = Logger(label: "messaging") { _ in SwiftLogNoOpLogHandler() }
        let minutes: UInt64 = 60_000
        let node = MessagingShard(
            limits: .init(
                partitionCount: 4, ageMax: 5 * minutes / 2, catchUpEntriesMax: 8_192,
                catchUpBytesMax: 4 * 1024 * 1024, idleMax: 5 * minutes / 2, channelsMax: 1_000),
            firstEpoch: random.next() >> 8, secret: random.next(),
            metrics: MessagingMetrics(MetricsRegistry()), logger: logger,
            clock: { world.utcMilliseconds })
        self.node = node
        let bound = NIOLoopBound(node, eventLoop: world.loop)
        var configuration = ServiceLinkServerConfiguration(service: "messaging")
        configuration.incarnation = random.next() | 1
        server = ServiceLinkServer(configuration, links: world.loop, logger: logger) { _ in bound.value }
        sweep = world.loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            bound.value.sweep(1_000)
        }
        network.listen(Self.host) { [server] socket in
            SocketTransport.open(socket, for: server.accept(on: world.loop))
        }
    }

    /// The process is gone, with all that it knew.
    func kill(silently: Bool) {
        network.kill(Self.host, silently: silently)
        sweep.cancel()
    }
}
