package import Logging
import NIOCore
package import RTMModel
package import RTMWire

/// The links of one shard to the nodes of a service. One of the nodes leads the shard: it announces that over
/// its link, and gets all calls. The links to the others stand ready in case it dies.
///
/// A node that was stopped for a while still believes that it is the leader. So an announcement counts only
/// if its term follows the last one that is known here. The link to the previous leader is then closed, and
/// the calls that wait there fail.
///
/// Two addresses may belong to the same node, for example a configured name and the address that the node
/// announces. Then the node announces itself over both links, and when one closes the other takes the calls.
package final class ShardConnections {
    package enum Change: Equatable {
        case none
        /// There is a leader.
        case up
        /// There is no leader.
        case down
        /// There is another leader, which knows nothing of the link to the one before.
        case replaced
    }

    package let shard: Int
    private let service: ShardedService
    package private(set) var all: [ServiceLinkClient]
    private var relays = RelayChoice()
    private let random: () -> Double
    private let logger: Logger
    package let timeout: Duration
    /// Nil while no node announces that it leads.
    package private(set) var leader: ServiceLinkClient?
    private var term: UInt64 = 0
    /// Since when no node leads. It has no meaning while one does.
    private var leaderlessSince: NIODeadline
    private let endOfTurn: EndOfTurn
    /// The next leader, which takes the calls once the link to the previous one has closed.
    private var next: (link: ServiceLinkClient, term: UInt64)?
    private let makeLink: (ServiceLinkAddress) -> ServiceLinkClient

    /// - Parameters:
    ///   - node: the name of this process, for the log of the service.
    ///   - timeout: how long every call may take.
    package init(
        of shard: Int, in service: ShardedService, at addresses: [ServiceLinkAddress],
        _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        self.shard = shard
        self.service = service
        var configuration = ServiceLinkClientConfiguration(service: service.name, node: node)
        configuration.link = link
        configuration.shard = shard
        var logger = logger
        logger[metadataKey: "shard"] = "\(shard)"
        makeLink = { [configuration, logger] address in
            var configuration = configuration
            // Two handshakes, and two connections.
            if address.isRelayed { configuration.connectTimeout *= 3 }
            return ServiceLinkClient(configuration, to: address, endOfTurn: endOfTurn, logger: logger)
        }
        all = addresses.map(makeLink)
        random = link.random
        self.logger = logger
        for address in addresses { relays.changed("\(address)", isUp: false, now: endOfTurn.now) }
        self.timeout = timeout
        self.endOfTurn = endOfTurn
        leaderlessSince = endOfTurn.now
    }

    @inlinable package var isUp: Bool { leader?.isUp ?? false }
    /// How long no node has led; nil if one does.
    package var outage: Duration? {
        isUp ? nil : .nanoseconds((endOfTurn.now - leaderlessSince).nanoseconds)
    }

    /// Throws, without having sent anything, when no node leads or too many requests are open.
    @inlinable
    package func request<Request, Response>(
        _ method: ServiceMethod<Request, Response>, _ body: Request, context: Int
    ) throws(RTMError) {
        guard let leader else { throw noLeader }
        try leader.request(method.number, body, timeout: timeout, context: context)
    }

    /// Throws as `request` does.
    package func call(
        _ method: UInt32, _ body: some WireEncodable, timeout: Duration,
        _ done: @escaping (ServiceLinkOutcome) -> Void
    ) throws(RTMError) {
        guard let leader else { throw noLeader }
        try leader.call(method, body, timeout: timeout, done)
    }

    /// Whether the node leads as soon as the link to the leader before it has closed.
    package func isNext(_ link: ServiceLinkClient) -> Bool { next?.link === link }

    /// For a client it is the same whether no node leads or none can be reached.
    @usableFromInline
    var noLeader: RTMError { RTMError(.notConnected, "\(service.name) can't be reached at present") }

    package func start(delegate: some ServiceLinkClientDelegate) {
        for link in all { link.start(delegate: delegate) }
    }

    package func shutdown() { for link in all { link.shutdown() } }

    /// A node has come.
    package func add(_ address: ServiceLinkAddress, delegate: some ServiceLinkClientDelegate) {
        if !address.isRelayed { relays.changed("\(address)", isUp: false, now: endOfTurn.now) }
        let link = makeLink(address)
        all.append(link)
        link.start(delegate: delegate)
    }

    /// A node has gone, and no connection to it is there.
    package func remove(_ link: ServiceLinkClient) {
        if !link.address.isRelayed { relays.forget("\(link.address)") }
        all.removeAll { $0 === link }
        link.shutdown()
    }

    // MARK: - The leader

    /// A node announces that it leads.
    package func announced(_ push: LeaderPush, from link: ServiceLinkClient) -> Change {
        let known = next?.term ?? term
        guard push.continues(known) else {
            link.push(service.outdated, LeaderPush(term: known, follows: known))
            return .none
        }
        // Two nodes without a journal both lead for ever: calls stay where they are.
        if push.term == known, self.leader != nil { return .none }
        guard let leader, leader !== link else {
            defer { (self.leader, term) = (link, push.term) }
            return self.leader == nil ? .up : .none
        }
        next = (link, push.term)
        leader.reset("another \(service.name) node leads")
        return .none
    }

    /// A link is open to a node that has no others beside it, and serves without an announcement.
    package func foundAlone(_ link: ServiceLinkClient) -> Change {
        guard leader == nil else { return .none }
        leader = link
        return .up
    }

    /// A link has closed, and the calls that waited there have failed.
    package func lost(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) -> Change {
        noteLoss(of: link, reason)
        if next?.link === link { next = nil }
        guard leader === link else { return .none }
        leader = nil
        if let next {
            (leader, term) = next
            self.next = nil
            return .replaced
        }
        leader = all.first { $0.isUp && $0.incarnation == link.incarnation }
        leaderlessSince = endOfTurn.now
        return leader == nil ? .down : .replaced
    }
}

// MARK: - Nodes that are reached through another one

extension ShardConnections {
    package func cameUp(_ link: ServiceLinkClient) {
        if !link.address.isRelayed { relays.changed("\(link.address)", isUp: true, now: endOfTurn.now) }
    }

    /// A link was lost, or didn't come up.
    package func noteLoss(of link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        guard case .relayed(let node, _) = link.address else {
            let silence = reason == .silent ? link.configuration.link.heartbeatDeadline : .zero
            let (address, now) = ("\(link.address)", endOfTurn.now)
            return relays.changed(address, isUp: false, after: TimeAmount(silence), now: now)
        }
        // A relay that was given up is no failure.
        guard all.contains(where: { $0 === link }) else { return }
        relays.failed(to: node, now: endOfTurn.now)
        remove(link)
    }

    /// Whether time alone changes what `relay` does.
    package func isRelayDue(_ listed: Set<String>) -> Bool { relays.isWaiting(listed) }

    /// Opens and closes links through other nodes, as far as they are needed.
    ///
    /// - Parameter listed: the addresses of the nodes that live, as they say.
    package func relay(_ listed: Set<String>, delegate: some ServiceLinkClientDelegate) {
        for action in relays.next(listed, leader: way, now: endOfTurn.now, random: random) {
            switch action {
            case .open(let node, let relay): open(to: node, through: relay, delegate)
            case .close(let node):
                for link in all where link.address.relayTarget == node { remove(link) }
            }
        }
    }

    private func open(
        to node: String, through relay: String, _ delegate: some ServiceLinkClientDelegate
    ) {
        guard let relay = all.first(where: { "\($0.address)" == relay })?.address else { return }
        logger.debug(
            "another node is asked to relay",
            metadata: ["node": "\(node)", "relay": "\(relay)"])
        add(.relayed(to: node, through: relay), delegate: delegate)
    }

    private var way: RelayChoice.Leader {
        guard let leader, leader.isUp else { return .none }
        return leader.address.relayTarget.map { .relayed(to: $0) } ?? .direct
    }
}

extension LeaderPush {
    /// Whether the leader's logs continue those of this term, or are new since.
    package func continues(_ known: UInt64) -> Bool {
        guard known != term, let oldest = lineage.last?.term else { return known == term || known <= follows }
        return known < oldest || lineage.contains { $0.term == known }
    }
}

extension ServiceLinkAddress {
    fileprivate var isRelayed: Bool { relayTarget != nil }

    /// The address of the node that is reached through another one.
    fileprivate var relayTarget: String? { if case .relayed(let node, _) = self { node } else { nil } }
}
