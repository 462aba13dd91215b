package import Logging
import NIOCore
import RTMModel
package import RTMWire

/// Is informed when a shard gets a leader or loses it. All calls come on the event loop of the links.
package protocol ShardRouterDelegate: AnyObject {
    /// The shard has a leader. What the previous one knew of this caller is gone.
    ///
    /// - Parameter isWhole: whether all other shards have a leader, too.
    func shardIsUp(_ shard: Int, isWhole: Bool)
    /// The shard has no leader. The router finds the next one by itself.
    func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func connectFailed(_ reason: ServiceLinkDownReason)
}

/// Routes calls to the leader of each shard of a service. The first leader announces how many shards there
/// are, and any node announces which nodes there are beside the configured ones.
package final class ShardRouter {
    package let arena = DecodeArena()
    private let service: ShardedService
    private var addresses: [ServiceLinkAddress]
    private var nodes: NodeDirectory
    private let endOfTurn: EndOfTurn
    private let makeLinks: (_ shard: Int, [ServiceLinkAddress]) -> ShardConnections
    /// By shard. Until the number of shards is known there is only the first one.
    package private(set) var all: [ShardConnections]
    private var isCountKnown = false
    /// How many shards each node has, as its handshake says.
    private var shardCounts: [ObjectIdentifier: Int] = [:]
    private var delegate: (any ServiceLinkClientDelegate)?
    private var owner: (any ShardRouterDelegate)?
    /// The next update of the relays; nil while no living node is out of reach.
    private var relayCheck: Scheduled<Void>?
    private var isStopping = false

    /// - Parameters:
    ///   - node: the name of this process, for the log of the service.
    ///   - timeout: how long every call may take.
    package init(
        _ service: ShardedService, at addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration,
        node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        self.service = service
        self.addresses = addresses
        self.endOfTurn = endOfTurn
        nodes = NodeDirectory(configured: addresses)
        makeLinks = { shard, addresses in
            ShardConnections(
                of: shard, in: service, at: addresses, link, node: node, timeout: timeout,
                endOfTurn: endOfTurn,
                logger: logger)
        }
        all = [makeLinks(0, addresses)]
    }

    /// Whether every shard has a leader.
    package var isUp: Bool { all.allSatisfy(\.isUp) }
    /// Whether some shard has a leader.
    package var isPartlyUp: Bool { all.contains(where: \.isUp) }

    /// Whether a connection to some node is open, whether that node leads or not.
    package var isReached: Bool { all.contains { $0.all.contains(where: \.isUp) } }

    /// The addresses, for logs.
    package var addressList: String { addresses.map { "\($0)" }.joined(separator: ", ") }
    /// How many calls have no answer yet.
    package var openRequests: Int {
        all.reduce(0) { $0 + $1.all.reduce(0) { $0 + $1.openRequests } }
    }

    // MARK: - Start and end

    package func start(_ delegate: some ServiceLinkClientDelegate, owner: some ShardRouterDelegate) {
        self.delegate = delegate
        self.owner = owner
        for links in all { links.start(delegate: delegate) }
    }

    package func shutdown() {
        isStopping = true
        relayCheck?.cancel()
        relayCheck = nil
        for links in all { links.shutdown() }
    }

    /// A link has been closed for good.
    ///
    /// - Returns: whether no link is left.
    package func retired(_ link: ServiceLinkClient) -> Bool {
        shardCounts[ObjectIdentifier(link)] = nil
        guard all.allSatisfy({ $0.all.allSatisfy { $0.downReason == .shutDown } }) else { return false }
        (delegate, owner) = (nil, nil)
        return true
    }

    // MARK: - Calls

    /// Calls the node that leads a shard. `done` is called exactly once: from within this call if nothing was
    /// sent, because no node leads or too many requests are open. Views in the response are valid during the
    /// call of `done`.
    ///
    /// - Parameter waiting: how long the node may wait before it answers, beside the time of every call.
    package func call<Request, Response: ArenaDecodable>(
        _ method: ServiceMethod<Request, Response>, _ request: Request, to nodes: ShardConnections,
        waiting: Duration = .zero, _ done: @escaping (ServiceLinkResult<Response>) -> Void
    ) {
        do throws(RTMError) {
            try nodes.call(method.number, request, timeout: nodes.timeout + waiting) { [self] outcome in
                done(outcome.result { try Response($0, in: arena) })
            }
        } catch {
            done(.failure(.refused(error)))
        }
    }

    // MARK: - Events of the links

    /// A node has sent what is no message of the service, but about its nodes.
    package func received(_ method: UInt32, _ body: UnsafeRawBufferPointer, from link: ServiceLinkClient) {
        switch method {
        case service.leader: receivedLeader(body, from: link)
        case service.nodes: receivedNodes(body)
        default: break
        }
    }

    /// A link is open. The node may lead the link's shard or not.
    package func linkUp(_ link: ServiceLinkClient, _ peer: ServiceLinkPeer) {
        shardCounts[ObjectIdentifier(link)] = peer.shards
        let shard = link.configuration.shard
        all[shard].cameUp(link)
        if service.mayBeAlone, !peer.announcesLeader { announce(shard, all[shard].foundAlone(link), nil) }
    }

    package func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        let shard = link.configuration.shard
        announce(shard, all[shard].lost(link, reason), reason)
        updateRelays()
    }

    package func linkUnreachable(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        let links = all[link.configuration.shard]
        if links.leader == nil { owner?.connectFailed(reason) }
        links.noteLoss(of: link, reason)
        updateRelays()
        let address = "\(link.address)"
        let same = all.flatMap { $0.all.filter { "\($0.address)" == address } }
        guard !same.contains(where: \.isUp), nodes.removeUnlisted(link.address, now: endOfTurn.now) else {
            return
        }
        addresses.removeAll { "\($0)" == address }
        for link in same {
            all[link.configuration.shard].remove(link)
        }
    }

    /// A node has sent the list of all nodes.
    private func receivedNodes(_ body: UnsafeRawBufferPointer) {
        guard let delegate, let push = try? NodesPush(body, in: arena) else { return }
        for address in nodes.received(push.nodes, now: endOfTurn.now) {
            addresses.append(address)
            for links in all { links.add(address, delegate: delegate) }
        }
        updateRelays()
    }

    /// Relays are updated at an interval for as long as time alone may change what is to be done.
    private func updateRelays() {
        guard relayCheck == nil, !isStopping, all.contains(where: { $0.isRelayDue(nodes.listed) }) else {
            return
        }
        relayCheck = endOfTurn.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) { [self] in
            relayCheck = nil
            guard let delegate else { return }
            for links in all { links.relay(nodes.listed, delegate: delegate) }
            updateRelays()
        }
    }

    /// A node announces that it leads the link's shard.
    private func receivedLeader(_ body: UnsafeRawBufferPointer, from link: ServiceLinkClient) {
        guard let push = try? LeaderPush(body, in: arena) else { return }
        learnShards(from: link)
        let count = shardCounts[ObjectIdentifier(link)] ?? all.count
        guard count == all.count else {
            return link.reset(
                "this node has \(count) shards, others have \(all.count): the number is fixed for "
                    + "an installation, and who changes it restarts all processes")
        }
        let shard = link.configuration.shard
        announce(shard, all[shard].announced(push, from: link), nil)
    }

    /// A leader's number of shards is right, because a node with another number never leads.
    private func learnShards(from link: ServiceLinkClient) {
        guard !isCountKnown, let delegate, let count = shardCounts[ObjectIdentifier(link)] else { return }
        isCountKnown = true
        for shard in 1..<max(1, count) {
            let links = makeLinks(shard, addresses)
            all.append(links)
            links.start(delegate: delegate)
        }
    }

    private func announce(
        _ shard: Int, _ change: ShardConnections.Change, _ reason: ServiceLinkDownReason?
    ) {
        if change == .down || change == .replaced {
            owner?.shardIsDown(shard, reason ?? .shutDown)
        }
        if change == .up || change == .replaced { owner?.shardIsUp(shard, isWhole: isUp) }
    }
}
