package import RTMWire

/// A node of a service of shards: it has all of them, and leads some. What the services have in common at
/// the called end stands here, as `ShardedClient` has it for the calling one.
package protocol ShardedNode {
    associatedtype Shard: NodeShard
    var shards: [Shard] { get }
}

extension ShardedNode {
    /// The handler of a caller's link, which is about one shard.
    package func handler(of link: AcceptedServiceLink) -> any ServiceLinkHandler { shards[link.shard] }

    /// Callers learn over their links to shard 0 which nodes there are.
    package func announce(_ nodes: [NodeAddress]) { shards.first?.announce(NodesPush(nodes: nodes)) }
}

/// A shard at a node, as callers see it over its links.
package protocol NodeShard: ServiceLinkHandler {
    associatedtype LinkID: Hashable
    static var leaderPush: ServicePush<LeaderPush> { get }
    static var nodesPush: ServicePush<NodesPush> { get }
    /// The open ones.
    var links: [LinkID: AcceptedServiceLink] { get }
    /// The nodes that links learn when they open; nil if another shard announces them, or nobody knows them.
    var nodes: NodesPush? { get set }
}

extension NodeShard {
    package func announce(_ nodes: NodesPush) {
        self.nodes = nodes
        for link in links.values { link.push(Self.nodesPush, nodes) }
    }

    /// This node leads the shard.
    package func announce(_ leader: LeaderPush) {
        for link in links.values { link.push(Self.leaderPush, leader) }
    }
}

extension ServiceLinkServerConfiguration {
    /// Says how many shards there are. A caller has a link for each of them, and opens all of them together.
    package mutating func spread(over shards: Int) {
        self.shards = shards
        linksMax *= shards
        unauthenticatedMax *= shards
        unauthenticatedPerAddressMax *= shards
    }
}
