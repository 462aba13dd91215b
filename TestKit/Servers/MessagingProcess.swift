import RTMMessagingServer
import RTMServiceKit

/// One life of a messaging node, with whose end its logs end.
final class MessagingProcess {
    static let host = Host("messaging")

    private let messaging: EmbeddedMessaging
    private let network: SimulatedNetwork

    init(_ configuration: Configuration, in network: SimulatedNetwork, random: RandomStream) {
        self.network = network
        let world = network.world
        var random = random
        let messaging = EmbeddedMessaging(
            configuration, random: &random, on: world.loop, logger: .silent,
            clock: { world.utcMilliseconds })
        self.messaging = messaging
        messaging.start()
        network.listen(Self.host) { SocketTransport.open($0, for: messaging.accept()) }
    }

    func kill(silently: Bool) {
        network.kill(Self.host, silently: silently)
        messaging.stop()
    }
}
