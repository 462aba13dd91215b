import Logging
import NIOCore
import NIOEmbedded
import RTMModel
import RTMServiceKit
import RTMServiceLink

@testable import RTMEdgeServer

/// One life of an edge: a real loop with the pipelines of its clients.
final class EdgeProcess {
    let host: Host
    let loop: EdgeLoop
    private let network: SimulatedNetwork
    private var channels: [EmbeddedChannel] = []
    private var isDraining = false

    init(_ host: Host, messaging: [Host], in network: SimulatedNetwork, random: RandomStream) {
        self.host = host
        self.network = network
        let world = network.world
        let logger = Logger(label: "edge") { _ in SwiftLogNoOpLogHandler() }
        let metrics = MetricsRegistry()
        let jitter = NIOLoopBound(random, eventLoop: world.loop)
        var link = ServiceLinkConfiguration()
        link.random = { jitter.value.share() }
        let links = EdgeServiceLinks(
            messaging: messaging.map { .inProcess(SimulatedEndpoint($0, in: network, from: host)) },
            presence: .inProcess(SimulatedEndpoint(PresenceProcess.host, in: network, from: host)),
            storage: .inProcess(SimulatedEndpoint(Host("storage"), in: network, from: host)),
            link: link, node: host.description)
        let probe = ReadinessRegistry(logger: logger).probe("messaging")
        loop = EdgeLoop(
            eventLoop: world.loop, configuration: .simulated, links: links, metrics: EdgeMetrics(metrics),
            reachability: Reachability(loops: 1, messaging: probe, metrics: metrics), logger: logger,
            wallClock: { world.utcMilliseconds }, random: random)
        loop.start()
        network.listen(host) { [unowned self] in accept($0) }
    }

    private func accept(_ socket: Socket) {
        let connection = ConnectionHandler(loop: loop, isOnSocket: false)
        guard let channel = try? SocketHandler.attach(connection, to: socket, on: network.world.loop) else {
            return
        }
        channels.append(channel)
        channels.removeAll { !$0.isActive }
    }

    /// The process is gone. What is let go here, it lets go without a word to anybody.
    func kill(silently: Bool) {
        network.kill(host, silently: silently)
        for channel in channels { channel.close(promise: nil) }
        channels = []
        if !isDraining { loop.stop() }
    }

    /// Sends everybody away, as before an update.
    func drain(_ done: @escaping () -> Void) {
        isDraining = true
        network.stopListening(host)
        let drained = network.world.loop.makePromise(of: Void.self)
        drained.futureResult.assumeIsolated().whenSuccess(done)
        loop.drain(drained)
    }

    /// What it holds for clients: nothing, when nobody is logged in.
    var leftovers: String? {
        if !loop.sessions.isEmpty { return "\(loop.sessions.count) sessions" }
        if loop.subscribing.channelCount > 0 { return "\(loop.subscribing.channelCount) channels" }
        return nil
    }
}

extension EdgeConfiguration {
    static let simulated = EdgeConfiguration(
        applications: [
            Application(
                id: "app", certificate: nil, subscriptionsMax: Limits.subscribedChannelsMax,
                rates: .simulated)
        ],
        limits: EdgeLimits(
            connectionsMax: 1_000, connectionsPerAddressMax: 1_000, frameBytesMax: 64 * 1024,
            outboundBytesMax: 1024 * 1024, handshakeTimeout: .seconds(10)),
        serverName: "simulated")
}

extension ApplicationRates {
    /// That of logins is the usual one: who comes back is judged by it, too.
    static let simulated = ApplicationRates(
        publish: 0, calls: 0, subscribesMax: 0, login: 2, subscriptionsMax: 0, channelMetadata: 0,
        userMetadata: 0, acquireLock: 0)
}
