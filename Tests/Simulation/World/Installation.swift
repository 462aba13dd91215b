// A whole installation in one process: edges, messaging, apps, and the network between them.

import NIOCore
import RTMModel

@testable import RTMGatewayServer
@testable import RTMPresenceServer
@testable import RTMTestKit

final class Installation {
    /// How many of what there are.
    struct Size {
        var edges = 2
        /// By user: so many apps.
        var users = [2, 2, 1, 1, 1]
        /// Nil: there is no presence service.
        var presence: Presence?
        /// Nil: there is one messaging node, without a journal.
        var company: MessagingNodeProcess.Company?
        /// Whether apps have a second path.
        var hasSecondPaths = false
        /// Nil: there is neither storage nor a gateway.
        var backend: Backend?

        struct Backend {
            var gateways: Int
            /// All have one receiver each.
            var webhooks: [WebhookRecord]
            var settings: WebhookQueue.Settings
            /// How long an answer of a receiver may take.
            var timeout = TimeAmount.seconds(10)
        }

        struct Presence {
            var announce: AnnounceRules
            /// Of every app.
            var timeout: Duration
            var heartbeat = Duration.seconds(5)
        }
    }

    let world: VirtualWorld
    let network: SimulatedNetwork
    let journal: HistoryLog
    let edgeHosts: [Host]
    private(set) var edges: [Host: EdgeProcess] = [:]
    let messagingHosts: [Host]
    private(set) var messaging: [Host: MessagingNodeProcess] = [:]
    private(set) var redis: RedisProcess?
    /// By shard, as it was last heard of.
    private var epochs: [Int: UInt64] = [:]
    private(set) var presence: PresenceProcess?
    private(set) var storage: StorageProcess?
    private var disk: StorageDisk?
    let receivers: [Receiver]
    let gatewayHosts: [Host]
    private(set) var gateways: [Host: GatewayProcess] = [:]
    /// How often logs were lost.
    private(set) var losses = 0
    /// Living apps by their host, in order.
    private(set) var devices: [(host: Host, device: Device)] = []
    private let size: Size
    private var lives = 0

    init(_ world: VirtualWorld, _ size: Size) {
        self.world = world
        self.size = size
        network = SimulatedNetwork(world)
        journal = HistoryLog(world)
        edgeHosts = (1...size.edges).map { Host("edge\($0)") }
        messagingHosts =
            size.company.map { (1...$0.nodes).map { Host("messaging\($0)") } } ?? [MessagingNodeProcess.host]
        gatewayHosts = (0..<(size.backend?.gateways ?? 0)).map { Host("gateway\($0 + 1)") }
        let place = (world, journal)
        receivers = (size.backend?.webhooks ?? []).map { Receiver($0, in: place.0, journal: place.1) }
        if size.company != nil { redis = RedisProcess(in: network, random: world.random("redis")) }
        for host in messagingHosts { startMessaging(host) }
        startPresence()
        startStorage()
        for host in gatewayHosts { startGateway(host) }
        for host in edgeHosts { startEdge(host) }
        for (user, count) in size.users.enumerated() {
            for _ in 0..<count { startDevice(of: "user\(user + 1)") }
        }
    }

    private func nextLife(_ what: String) -> RandomStream {
        lives += 1
        return world.random("\(what) \(lives)")
    }

    // MARK: Services

    func startMessaging(_ host: Host) {
        guard messaging[host] == nil else { return }
        messaging[host] = MessagingNodeProcess(
            host, size.company, in: network, random: nextLife("messaging")
        ) { [unowned self] in received($0) }
    }

    func killMessaging(_ host: Host, silently: Bool) {
        guard let messaging = messaging.removeValue(forKey: host) else { return }
        if size.company == nil { lose() }
        messaging.kill(silently: silently)
    }

    /// Lets the others lead first.
    func drainMessaging(_ host: Host) {
        guard let node = messaging[host] else { return }
        node.drain { [unowned self, weak node] in
            guard let node, messaging[host] === node else { return }
            journal.record(.fault("\(host) has drained"))
            killMessaging(host, silently: false)
        }
    }

    private func received(_ news: MessagingJournals.News) {
        switch news {
        case .becameLeader(let shard, let epoch):
            let before = epochs.updateValue(epoch, forKey: shard)
            guard let before, before != epoch else { return }
            journal.record(.fault("shard \(shard) begins anew"))
            lose()
        case .log(let line): journal.record(.fault(line))
        }
    }

    private func lose() {
        losses += 1
        journal.record(.messagingLost)
    }

    func startPresence() {
        guard presence == nil, let rules = size.presence?.announce else { return }
        presence = PresenceProcess(
            rules, messaging: messagingHosts, in: network, random: nextLife("presence"))
    }

    func killPresence(silently: Bool) {
        guard let presence = presence.take() else { return }
        journal.record(.fault("presence is killed" + (silently ? " with its machine" : "")))
        presence.kill(silently: silently)
    }

    func startEdge(_ host: Host) {
        guard edges[host] == nil else { return }
        journal.record(.fault("\(host) starts"))
        edges[host] = EdgeProcess(
            host, hasEvents: size.backend != nil && size.presence != nil, messaging: messagingHosts,
            in: network, random: nextLife("edge"))
    }

    func killEdge(_ host: Host, silently: Bool) {
        guard let edge = edges.removeValue(forKey: host) else { return }
        journal.record(.edgeEnded("\(host) is killed" + (silently ? " with its machine" : "")))
        edge.kill(silently: silently)
    }

    func drainEdge(_ host: Host) {
        guard let edge = edges.removeValue(forKey: host) else { return }
        journal.record(.fault("\(host) drains"))
        edge.drain { self.journal.record(.edgeEnded("\(host) has drained")) }
    }

    /// How many links pass through a messaging node to another one.
    var relays: Int { messaging.values.reduce(0) { $0 + $1.relays } }

    /// What services hold for clients although nobody is logged in.
    var leftovers: [String] {
        edgeHosts.compactMap { host in edges[host]?.leftovers.map { "\(host) has \($0)" } }
            + [presence?.leftovers].compactMap { $0.map { "presence has \($0)" } }
    }

    // MARK: Storage and gateways

    func startStorage() {
        guard storage == nil, size.backend != nil else { return }
        do {
            let disk = try disk ?? StorageDisk()
            self.disk = disk
            storage = try disk.start(messaging: messagingHosts, in: network, random: nextLife("storage"))
        } catch {
            journal.record(.broken("storage doesn't start: \(error)"))
        }
    }

    func killStorage(silently: Bool) {
        guard let storage = storage.take() else { return }
        journal.record(.fault("storage is killed" + (silently ? " with its machine" : "")))
        storage.kill(silently: silently)
    }

    func startGateway(_ host: Host) {
        guard gateways[host] == nil, let backend = size.backend else { return }
        let random = nextLife("gateway")
        journal.record(.fault("\(host)/\(lives) starts"))
        gateways[host] = GatewayProcess(
            host, life: lives,
            GatewayProcess.Services(
                messaging: messagingHosts, receivers: receivers, settings: backend.settings,
                timeout: backend.timeout), in: network, random: random, journal: journal)
    }

    func killGateway(_ host: Host, silently: Bool) {
        guard let gateway = gateways.removeValue(forKey: host) else { return }
        journal.record(.fault("\(gateway.name) is killed" + (silently ? " with its machine" : "")))
        gateway.kill(silently: silently)
    }

    // MARK: Apps

    func startDevice(of user: String) {
        lives += 1
        let host = Host("device\(lives)")
        // Not all begin with the same edge.
        let first = lives % edgeHosts.count
        let device = Device(
            DeviceID(number: lives, user: user), host: host,
            edges: Array(edgeHosts[first...] + edgeHosts[..<first]), size, in: network,
            random: world.random("device \(lives)"), journal: journal)
        devices.append((host, device))
    }

    func killDevice(_ device: Device) {
        guard let index = devices.firstIndex(where: { $0.device === device }) else { return }
        let (host, _) = devices.remove(at: index)
        device.kill(host)
    }

    /// Lets everything go.
    func end() {
        for (host, device) in devices { device.kill(host) }
        for host in edgeHosts { edges[host]?.kill(silently: true) }
        for host in messagingHosts { messaging[host]?.kill(silently: true) }
        presence?.kill(silently: true)
        for host in gatewayHosts { gateways[host]?.kill(silently: true) }
        storage?.kill(silently: true)
        world.pass(.seconds(60))
        network.end()
        world.end()
        disk?.remove()
    }
}
