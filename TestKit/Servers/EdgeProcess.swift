import Logging
import NIOCore
import NIOEmbedded
import RTMEdgeServer
import RTMServiceLink

/// One life of an edge: a real loop with the pipelines of its clients.
final class EdgeProcess {
    let host: Host
    let edge: EmbeddedEdge
    private let network: SimulatedNetwork
    private let between: (Socket) -> [any ChannelHandler]
    private var channels: [EmbeddedChannel] = []
    private var isDraining = false

    /// - Parameters:
    ///   - between: what stands between a client's socket and the edge.
    ///   - make: makes the edge of the services that it reaches and of the world that it is in.
    init(
        _ host: Host, messaging: [Host], in network: SimulatedNetwork, random: RandomStream,
        between: @escaping (Socket) -> [any ChannelHandler] = { _ in [] },
        make: (EmbeddedEdge.Services, EmbeddedEdge.Environment) throws -> EmbeddedEdge
    ) rethrows {
        self.host = host
        self.network = network
        self.between = between
        let world = network.world
        edge = try make(
            EmbeddedEdge.Services(
                messaging: messaging.map { network.address(of: $0) },
                presence: [network.address(of: PresenceProcess.host)],
                storage: [network.address(of: StorageProcess.host)],
                link: network.link(random, from: host)),
            EmbeddedEdge.Environment(
                eventLoop: world.loop, wallClock: { world.utcMilliseconds }, random: random,
                logger: .silent))
        edge.start()
        network.listen(host) { [unowned self] in accept($0) }
    }

    private func accept(_ socket: Socket) {
        let channel = try? SocketHandler.attach(
            edge.makeConnection(), to: socket, between: between(socket), on: network.world.loop)
        guard let channel else { return }
        channels.append(channel)
        channels.removeAll { !$0.isActive }
    }

    /// The process is gone. What is let go here, it lets go without a word to anybody.
    func kill(silently: Bool) {
        network.kill(host, silently: silently)
        for channel in channels { channel.close(promise: nil) }
        channels = []
        if !isDraining { edge.stop() }
    }

    /// Sends everybody away, as before an update.
    func drain(_ done: @escaping () -> Void) {
        isDraining = true
        network.stopListening(host)
        let drained = network.world.loop.makePromise(of: Void.self)
        drained.futureResult.assumeIsolated().whenSuccess(done)
        edge.drain(drained)
    }
}

extension SimulatedNetwork {
    /// The port of every process, where callers expect one.
    static let port = 1

    func address(of host: Host) -> ServiceLinkAddress { .tcp(host: host.description, port: Self.port) }

    /// The links of a service, whose waits between attempts are as long as the seed says.
    func link(_ random: RandomStream, from caller: Host) -> ServiceLinkConfiguration {
        let jitter = NIOLoopBound(random, eventLoop: world.loop)
        var link = ServiceLinkConfiguration()
        link.random = { jitter.value.share() }
        link.dialer = SimulatedLinkDialer(self, from: caller)
        return link
    }
}

extension Logger {
    static let silent = Logger(label: "test world") { _ in SwiftLogNoOpLogHandler() }
}
