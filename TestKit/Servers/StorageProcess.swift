import RTMServiceKit
import RTMStorageServer

/// One life of storage. What it has acknowledged outlives it.
final class StorageProcess {
    static let host = Host("storage")

    private let storage: EmbeddedStorage
    private let network: SimulatedNetwork

    init(
        _ configuration: Configuration, in directory: String, messaging: [Host], _ network: SimulatedNetwork,
        random: RandomStream
    ) throws {
        self.network = network
        let world = network.world
        var random = random
        let storage = try EmbeddedStorage(
            configuration, in: directory, messaging: messaging.map { network.address(of: $0) },
            network.link(random, from: Self.host), random: &random, on: world.loop, logger: .silent,
            wallClock: { world.utcMilliseconds })
        self.storage = storage
        storage.start()
        network.listen(Self.host) { SocketTransport.open($0, for: storage.accept()) }
    }

    func kill(silently: Bool) {
        network.kill(Self.host, silently: silently)
        storage.stop()
    }
}
