package import Logging
import NIOCore
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// The links of one shard to the messaging nodes of an installation. One of the nodes leads the shard: it
/// says so over its link, and it gets all calls. The others are at hand if it dies.
///
/// A node that was stopped for a while believes that it leads still. So a lead counts only if it follows the
/// last one that is known here, and the link to the node before is ended, with the calls that wait there.
///
/// Two addresses may lead to the same node, for example a name that was configured and the address that the
/// node tells. Then both links hear its lead, and when one ends the other takes the calls.
package final class MessagingLinks<Call> {
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
    package private(set) var all: [ServiceLinkClient<Call>]
    package let timeout: Duration
    /// Nil while no node says that it leads.
    package private(set) var leader: ServiceLinkClient<Call>?
    private var term: UInt64 = 0
    /// Since when no node leads. It has no meaning while one does.
    private var leaderlessSince: NIODeadline
    private let endOfTurn: EndOfTurn
    /// Who leads when the link to the leader before has ended.
    private var next: (link: ServiceLinkClient<Call>, term: UInt64)?
    private let makeLink: (ServiceLinkAddress) -> ServiceLinkClient<Call>

    /// - Parameters:
    ///   - node: the name of this process, for messaging's log.
    ///   - timeout: how long every call may take.
    package init(
        of shard: Int, at addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        self.shard = shard
        var configuration = ServiceLinkClientConfiguration(service: "messaging", node: node)
        configuration.link = link
        configuration.shard = shard
        makeLink = { [configuration] in
            ServiceLinkClient(configuration, to: $0, endOfTurn: endOfTurn, logger: logger)
        }
        all = addresses.map(makeLink)
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
    package func request(_ method: UInt32, _ body: some WireEncodable, _ call: Call) throws(RTMError) {
        guard let leader else { throw Self.noLeader }
        try leader.request(method, body, timeout: timeout, context: call)
    }

    @usableFromInline
    static var noLeader: RTMError { RTMError(.notConnected, "no messaging node leads") }

    package func start(delegate: some ServiceLinkClientDelegate<Call>) {
        for link in all { link.start(delegate: delegate) }
    }

    package func shutdown() { for link in all { link.shutdown() } }

    /// A node has come.
    package func add(_ address: ServiceLinkAddress, delegate: some ServiceLinkClientDelegate<Call>) {
        let link = makeLink(address)
        all.append(link)
        link.start(delegate: delegate)
    }

    /// A node has gone, and no connection to it is there.
    package func remove(_ link: ServiceLinkClient<Call>) {
        all.removeAll { $0 === link }
        link.shutdown()
    }

    // MARK: - Who leads

    /// A node says that it leads.
    package func heard(_ push: LeadPush, from link: ServiceLinkClient<Call>) -> Change {
        let known = next?.term ?? term
        guard push.term == known || push.follows >= known else {
            link.push(MessagingMethod.outdated, LeadPush(term: known, follows: known))
            return .none
        }
        // Two nodes without a journal both lead for ever: calls stay where they are.
        if push.term == known, self.leader != nil { return .none }
        guard let leader, leader !== link else {
            defer { (self.leader, term) = (link, push.term) }
            return self.leader == nil ? .up : .none
        }
        next = (link, push.term)
        leader.reset("another messaging node leads")
        return .none
    }

    /// A link has ended, and the calls that waited there have their outcome.
    package func lost(_ link: ServiceLinkClient<Call>) -> Change {
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
