/// The nodes that share a database, as it knows them.
package struct StorageNodes: Sendable, Hashable {
    package struct Node: Sendable, Hashable {
        let name: String
        /// Differs for each start of the node.
        let instance: String
        /// Where callers reach it; empty if the others needn't name it.
        let address: String
        /// Whether it is about to end, and gives up all that it has.
        package let isLeaving: Bool

        package init(name: String, instance: String, address: String, isLeaving: Bool) {
            self.name = name
            self.instance = instance
            self.address = address
            self.isLeaving = isLeaving
        }
    }

    /// Those that keep their lease.
    package var living: [Node] = []
    /// By shard: the instance that has it, or had it last; empty if that has given it up.
    var owners: [String] = []
    /// What an acknowledgement means there; nil if that isn't known.
    var durability: CommitDurability?
    /// Why this node doesn't keep its own lease; nil if it does.
    var failure: String?

    package init(
        living: [Node] = [], owners: [String] = [], durability: CommitDurability? = nil,
        failure: String? = nil
    ) {
        self.living = living
        self.owners = owners
        self.durability = durability
        self.failure = failure
    }

    /// Where callers reach the nodes.
    var addresses: [String] { living.filter { !$0.isLeaving && !$0.address.isEmpty }.map(\.address).sorted() }

    /// Where the owner of a shard is reached, or its name; empty if it has none.
    func leader(of shard: Int) -> String {
        let owner = owners.indices.contains(shard) ? owners[shard] : ""
        guard let node = living.first(where: { $0.instance == owner }) else { return "" }
        return node.address.isEmpty ? node.name : node.address
    }
}
