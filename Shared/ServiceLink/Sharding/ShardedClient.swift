package import RTMWire

/// A service whose nodes share out numbered shards, and announce over their links which ones they lead.
package struct ShardedService: Sendable {
    package let name: String
    /// By which a node announces that it leads.
    let leader: ServicePush<LeaderPush>
    /// By which a caller names a later leadership than the node knows.
    let outdated: ServicePush<LeaderPush>
    /// By which a node names all nodes.
    let nodes: ServicePush<NodesPush>
    /// Whether a node that has no others beside it says so when a link opens, and serves without an
    /// announcement.
    let mayBeAlone: Bool

    package init(
        name: String, leader: ServicePush<LeaderPush>, outdated: ServicePush<LeaderPush>,
        nodes: ServicePush<NodesPush>, mayBeAlone: Bool = false
    ) {
        (self.name, self.leader, self.outdated, self.nodes) = (name, leader, outdated, nodes)
        self.mayBeAlone = mayBeAlone
    }
}

/// A client of a service of shards. Here stands what all of them have in common: what the links say about the
/// nodes goes to the router. A client adds what it sends for every message, and decodes the answers to that;
/// all other calls are answered by a closure (`ShardRouter.call`).
package protocol ShardedClient: ServiceLinkClientDelegate {
    var shards: ShardRouter { get }
    /// All links are closed for good: nobody is called any more.
    func retired()
}

extension ShardedClient {
    package func shutdown() { shards.shutdown() }

    package func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) { shards.linkUp(link, peer) }

    package func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        shards.linkDown(link, reason)
    }

    package func linkUnreachable(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        shards.linkUnreachable(link, reason)
    }

    package func linkRetired(_ link: ServiceLinkClient) { if shards.retired(link) { retired() } }

    package func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        shards.received(method, body, from: link)
    }
}
