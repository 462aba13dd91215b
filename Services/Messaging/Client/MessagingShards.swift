package import Logging
import NIOCore
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who depends on messaging. All calls come on the event loop of the links.
package protocol MessagingObserver: AnyObject {
    /// The channels of this shard can be called. All attachments to them from before are gone.
    ///
    /// - Parameter isWhole: whether those of all other shards can be called, too.
    func messagingIsUp(_ shard: Int, isWhole: Bool)
    /// The channels of this shard can't be called until it is up again, which comes by itself.
    func messagingIsDown(_ shard: Int, _ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func messagingIsUnreachable(_ reason: ServiceLinkDownReason)
}

extension MessagingObserver {
    package func messagingIsUnreachable(_ reason: ServiceLinkDownReason) {}
}

/// The ways to all channels. Messaging keeps them in shards, and each shard has a leader of its own among the
/// messaging nodes. How many shards there are, the first node tells that leads, and which nodes there are
/// beside those that were configured, any node tells.
package final class MessagingShards<Call> {
    package let arena = DecodeArena()
    private var addresses: [ServiceLinkAddress]
    private var known: KnownNodes
    private let endOfTurn: EndOfTurn
    private let makeLinks: (_ shard: Int, [ServiceLinkAddress]) -> MessagingLinks<Call>
    /// By number. Until the count is known there is only the first one.
    package private(set) var all: [MessagingLinks<Call>]
    private var isCountKnown = false
    /// How many shards each node has, as it says.
    private var shardsSaid: [ObjectIdentifier: Int] = [:]
    private var delegate: (any ServiceLinkClientDelegate<Call>)?
    private var observer: (any MessagingObserver)?
    /// The next time that relays are looked at; nil while no node that lives is out of reach.
    private var relayLook: Scheduled<Void>?
    private var isStopping = false

    /// - Parameters:
    ///   - node: the name of this process, for messaging's log.
    ///   - timeout: how long every call may take.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        self.addresses = addresses
        self.endOfTurn = endOfTurn
        known = KnownNodes(configured: addresses)
        makeLinks = { shard, addresses in
            MessagingLinks(
                of: shard, at: addresses, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
                logger: logger)
        }
        all = [makeLinks(0, addresses)]
    }

    /// Whether every channel can be called.
    package var isUp: Bool { all.allSatisfy(\.isUp) }
    /// Whether some channels can be called.
    package var isPartlyUp: Bool { all.contains(where: \.isUp) }

    /// Whether there is a connection to some node, whether it leads or not.
    package var isReached: Bool { all.contains { $0.all.contains(where: \.isUp) } }

    package func isUp(_ channel: ChannelKey) -> Bool { links(to: channel).isUp }

    /// The addresses, for logs.
    package var addressList: String { addresses.map { "\($0)" }.joined(separator: ", ") }
    /// How many calls have no answer yet.
    package var openRequests: Int {
        all.reduce(0) { $0 + $1.all.reduce(0) { $0 + $1.openRequests } }
    }

    @inlinable
    package func links(to channel: ChannelKey) -> MessagingLinks<Call> {
        all.count == 1 ? all[0] : all[channel.shard(among: all.count)]
    }

    @inlinable
    package func links(to channel: ChannelView) -> MessagingLinks<Call> {
        all.count == 1 ? all[0] : all[channel.shard(among: all.count)]
    }

    // MARK: - From the start to the end

    package func start(_ delegate: some ServiceLinkClientDelegate<Call>, observer: some MessagingObserver) {
        self.delegate = delegate
        self.observer = observer
        for links in all { links.start(delegate: delegate) }
    }

    package func shutdown() {
        isStopping = true
        relayLook?.cancel()
        relayLook = nil
        for links in all { links.shutdown() }
    }

    /// A link has been let go.
    ///
    /// - Returns: whether no link is left.
    package func retired(_ link: ServiceLinkClient<Call>) -> Bool {
        shardsSaid[ObjectIdentifier(link)] = nil
        guard all.allSatisfy({ $0.all.allSatisfy { $0.downReason == .shutDown } }) else { return false }
        (delegate, observer) = (nil, nil)
        return true
    }

    // MARK: - What the links tell

    /// A node is there. It may lead the link's shard or not.
    package func linkUp(_ link: ServiceLinkClient<Call>, _ peer: ServiceLinkPeer) {
        shardsSaid[ObjectIdentifier(link)] = peer.shards
        all[link.configuration.shard].cameUp(link)
    }

    package func linkDown(_ link: ServiceLinkClient<Call>, _ reason: ServiceLinkDownReason) {
        let shard = link.configuration.shard
        tell(shard, all[shard].lost(link, reason), reason)
        lookForRelays()
    }

    package func linkUnreachable(_ link: ServiceLinkClient<Call>, _ reason: ServiceLinkDownReason) {
        let links = all[link.configuration.shard]
        if links.leader == nil { observer?.messagingIsUnreachable(reason) }
        links.noteLoss(of: link, reason)
        lookForRelays()
        let address = "\(link.address)"
        let same = all.flatMap { $0.all.filter { "\($0.address)" == address } }
        guard !same.contains(where: \.isUp), known.isGone(link.address, now: endOfTurn.now) else { return }
        addresses.removeAll { "\($0)" == address }
        for link in same {
            all[link.configuration.shard].remove(link)
        }
    }

    /// A node tells which nodes there are.
    package func heardOfNodes(_ body: UnsafeRawBufferPointer) {
        guard let delegate, let push = try? NodesPush(body, in: arena) else { return }
        for address in known.heard(push.nodes, now: endOfTurn.now) {
            addresses.append(address)
            for links in all { links.add(address, delegate: delegate) }
        }
        lookForRelays()
    }

    /// Relays are looked at as long as time alone may change what is to be done.
    private func lookForRelays() {
        guard relayLook == nil, !isStopping, all.contains(where: { $0.isRelayDue(known.listed) }) else {
            return
        }
        relayLook = endOfTurn.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) { [self] in
            relayLook = nil
            guard let delegate else { return }
            for links in all { links.relay(known.listed, delegate: delegate) }
            lookForRelays()
        }
    }

    /// A node leads the link's shard.
    package func heard(_ body: UnsafeRawBufferPointer, from link: ServiceLinkClient<Call>) {
        guard let push = try? LeadPush(body, in: arena) else { return }
        learnShards(from: link)
        let count = shardsSaid[ObjectIdentifier(link)] ?? all.count
        guard count == all.count else {
            return link.reset(
                "this messaging node has \(count) shards, others have \(all.count): the number is fixed for "
                    + "an installation, and who changes it restarts all processes")
        }
        let shard = link.configuration.shard
        tell(shard, all[shard].heard(push, from: link), nil)
    }

    /// Who leads is right about the number: a node that was started with another one never leads.
    private func learnShards(from link: ServiceLinkClient<Call>) {
        guard !isCountKnown, let delegate, let count = shardsSaid[ObjectIdentifier(link)] else { return }
        isCountKnown = true
        for shard in 1..<max(1, count) {
            let links = makeLinks(shard, addresses)
            all.append(links)
            links.start(delegate: delegate)
        }
    }

    private func tell(
        _ shard: Int, _ change: MessagingLinks<Call>.Change, _ reason: ServiceLinkDownReason?
    ) {
        if change == .down || change == .replaced {
            observer?.messagingIsDown(shard, reason ?? .shutDown)
        }
        if change == .up || change == .replaced { observer?.messagingIsUp(shard, isWhole: isUp) }
    }
}
