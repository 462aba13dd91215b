import RTMServiceKit
import RTMServiceLink
import RTMWire

/// A storage node: a `StorageShard` for each shard, some of which it leads. All of it lives on one event
/// loop.
final class StorageNode {
    let shards: [StorageShard]
    /// Where callers reach the nodes that share the database.
    private var addresses: [String] = []

    init(_ shards: [StorageShard]) { self.shards = shards }

    /// The handler of a caller's link.
    func handler(of link: AcceptedServiceLink) -> any ServiceLinkHandler { shards[link.shard] }

    /// The database has said which nodes share it. Callers learn of those that came and went over their links
    /// to shard 0.
    func learned(_ nodes: StorageNodes) {
        for (number, shard) in shards.enumerated() { shard.leader = nodes.leader(of: number) }
        guard nodes.addresses != addresses else { return }
        addresses = nodes.addresses
        shards[0].announce(nodes.push)
    }

    /// Counts for what is stored from now on.
    func keepHistory(for retention: HistoryRetention) {
        for shard in shards { shard.retention = retention }
    }

    /// The apps whose events are kept, and for how long, in milliseconds.
    func keepEvents(for times: [String: UInt64]) {
        for shard in shards { shard.keepEvents(for: times) }
    }

    func start() { for shard in shards { shard.start() } }

    /// Removes what isn't needed any more. The service calls it once a second.
    func cleanUp() { for shard in shards { shard.cleanUp() } }

    func stop() { for shard in shards { shard.stop() } }
}

extension StorageNodes {
    /// Addresses that aren't HOST:PORT are left out.
    fileprivate var push: NodesPush {
        NodesPush(
            nodes: addresses.compactMap { text in
                (try? HostPort(text: text)).map { NodeAddress(host: $0.host, port: UInt32($0.port)) }
            })
    }
}
