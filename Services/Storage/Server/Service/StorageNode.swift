import RTMServiceKit
import RTMServiceLink
import RTMWire

/// A storage node: a `StorageShard` for each shard, some of which it leads. All of it lives on one event
/// loop.
final class StorageNode: ShardedNode {
    let shards: [StorageShard]
    /// Where callers reach the nodes that share the database.
    private var addresses: [String] = []

    init(_ shards: [StorageShard]) { self.shards = shards }

    /// The database has said which nodes share it.
    func learned(_ nodes: StorageNodes) {
        for (number, shard) in shards.enumerated() { shard.leader = nodes.leader(of: number) }
        guard nodes.addresses != addresses else { return }
        addresses = nodes.addresses
        announce(addresses.compactMap(Self.place(of:)))
    }

    /// Nil for an address that isn't HOST:PORT.
    private static func place(of address: String) -> NodeAddress? {
        (try? HostPort(text: address)).map { NodeAddress(host: $0.host, port: UInt32($0.port)) }
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
