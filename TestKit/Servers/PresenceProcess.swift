import RTMPresenceServer
import RTMServiceLink

/// One life of the presence service: the real node with rosters in its memory, which die with it.
final class PresenceProcess {
    static let host = Host("presence")

    let presence: EmbeddedPresence
    private let network: SimulatedNetwork

    /// - Parameter make: makes the node of the messaging nodes that it reaches, and of its links.
    init(
        messaging: [Host], in network: SimulatedNetwork, random: RandomStream,
        make: ([ServiceLinkAddress], ServiceLinkConfiguration) -> EmbeddedPresence
    ) {
        self.network = network
        let presence = make(
            messaging.map { network.address(of: $0) }, network.link(random, from: Self.host))
        self.presence = presence
        presence.start()
        network.listen(Self.host) { SocketTransport.open($0, for: presence.accept()) }
    }

    /// The process is gone, with all that it knew.
    func kill(silently: Bool) {
        network.kill(Self.host, silently: silently)
        presence.stop()
    }
}
