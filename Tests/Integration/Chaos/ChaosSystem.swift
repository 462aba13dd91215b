import AgoraRtmKit
import Foundation
import NIOCore
import RTMClient
import RTMTestSupport
import Synchronization

/// The services as processes, with two edges and one messaging node or several; every line between clients,
/// edges and messaging is a bad one, and processes are killed.
///
/// All chance comes from one seed. A seed makes the same plan again, though not the same run, because
/// processes and the scheduler have an influence, too.
final class ChaosSystem: Sendable {
    /// An edge with the bad lines to it, and from it to each messaging node.
    struct Edge: Sendable {
        let listeners: ChaosListeners
        let messaging: [FaultProxy]
    }

    struct Deeds: Sendable {
        var edgeKills = 0
        /// The time in milliseconds since 1970 (UTC).
        var messagingKills: [UInt64] = []
        /// What happened to messaging nodes that have a journal, and to its Redis.
        var takeovers = 0
        var losses = 0
        /// How often all nodes were dead while Redis was.
        var doubleFailures = 0
        var lineFaults = 0
    }

    let system: RunningSystem
    /// Where an edge can be reached whose lines are good, and which isn't killed alone.
    let whole: ServerAddress
    let edges: [Edge]
    private let certificate: TestCertificate
    /// Whether all services are one process.
    private let isStandalone: Bool
    /// Of the journal of several messaging nodes; nil if there is one without a journal.
    private let journal: JournalVillain?
    private let processes: Mutex<[ServiceProcess]>
    private let done = Mutex(Deeds())

    private init(
        _ system: RunningSystem, whole: ServerAddress, _ edges: [Edge], _ processes: [ServiceProcess],
        _ journal: JournalVillain?, _ certificate: TestCertificate, isStandalone: Bool = false
    ) {
        self.system = system
        self.whole = whole
        self.edges = edges
        self.certificate = certificate
        self.isStandalone = isStandalone
        self.journal = journal
        self.processes = Mutex(processes)
    }

    var deeds: Deeds { done.withLock { $0 } }

    /// These edges come beside the one that the system has, which stays whole for clients that need a good
    /// one.
    static func start(
        in system: RunningSystem, journalIn journal: JournalVillain? = nil, _ certificate: TestCertificate
    ) async throws -> ChaosSystem {
        let whole = try ServerAddress(system.address("edge"))
        let nodes = journal == nil ? [system.address("messaging")] : system.messagingNodes
        var edges: [Edge] = []
        var processes: [ServiceProcess] = []
        for _ in 0..<2 {
            var messaging: [FaultProxy] = []
            for node in nodes { messaging.append(try await FaultProxy.start(to: node)) }
            system.detour(to: "messaging", through: Self.list(messaging))
            let listeners = try await ChaosListeners.start(certificate)
            processes.append(try await system.launchEdge(listeners.options, listen: listeners.address))
            edges.append(Edge(listeners: listeners, messaging: messaging))
        }
        return ChaosSystem(system, whole: whole, edges, processes, journal, certificate)
    }

    /// All services are one process.
    ///
    /// - Parameter options: more options of that process.
    static func withStandalone(
        _ options: [String], presence: [String], _ certificate: TestCertificate,
        _ body: (ChaosSystem) async throws -> Void
    ) async throws {
        let listeners = try await ChaosListeners.start(certificate, prefix: "edge-")
        try await RunningSystem.with(
            .standalone, listen: listeners.address, edge: listeners.options + options, presence: presence
        ) { system in
            try await body(
                ChaosSystem(
                    system, whole: try ServerAddress(listeners.address),
                    [Edge(listeners: listeners, messaging: [])], [], nil, certificate, isStandalone: true))
        }
    }

    private static func list(_ proxies: [FaultProxy]) -> String {
        proxies.map(\.address).joined(separator: ",")
    }

    // MARK: Clients

    /// - Parameters:
    ///   - number: half of the clients prefer one edge, half the other.
    ///   - isKit: whether it uses the compatible API.
    ///   - keys: with which it encrypts, and which it understands.
    func client(
        _ user: String, _ number: Int, isKit: Bool = false, keys: [EncryptionKey] = []
    ) throws -> any ChaosClient {
        let transport = isKit ? .tcp : ChaosTransport(ofClient: number)
        let addresses = (number % 2 == 0 ? edges : edges.reversed()).map { $0.listeners.url(transport) }
        guard !isKit else {
            let config = AgoraRtmClientConfig(appId: "dev", userId: user)
            let privateConfig = AgoraRtmPrivateConfig()
            privateConfig.serviceType = [.message]
            privateConfig.accessPointHosts = addresses
            config.privateConfig = privateConfig
            return try ChaosKitClient(config)
        }
        let client = try system.client(user) { configuration in
            configuration.servers = addresses.compactMap { try? ServerAddress($0) }
            if transport.hasTLS { configuration.tls = .enabled(caFile: certificate.certificate) }
            configuration.encryptionKeys = keys
            configuration.requestTimeout = .seconds(5)
            configuration.timing.heartbeatInterval = .milliseconds(500)
            configuration.timing.heartbeatAnswer = .milliseconds(1_500)
        }
        return ChaosRTMClient(client)
    }

    // MARK: Chaos

    /// Spoils lines until that time, and then leaves them whole.
    func spoilLines(until end: ContinuousClock.Instant, _ random: inout SeededGenerator) async {
        while ContinuousClock.now < end {
            await letPass(.milliseconds(Int.random(in: 50...600, using: &random)))
            let edge = edges[Int.random(in: 0..<edges.count, using: &random)]
            // One line to messaging carries many sessions, so it is spoiled less often.
            let toMessaging = random.chance(1, in: 4) ? edge.messaging.randomElement(using: &random) : nil
            await spoil(toMessaging.map { [$0] } ?? edge.listeners.lines, &random)
            done.withLock { $0.lineFaults += 1 }
        }
        for line in edges.flatMap({ $0.listeners.lines + $0.messaging }) {
            line.refuse(false)
            line.delayAll(.zero)
            line.spoil(.resume)
        }
    }

    /// The same happens to all of these lines.
    private func spoil(_ lines: [FaultProxy], _ random: inout SeededGenerator) async {
        let share: Double = [0.1, 0.3, 0.6, 1.0].randomElement(using: &random) ?? 1
        switch Int.random(in: 0..<6, using: &random) {
        case 0: for line in lines { line.spoil(share, .close, using: &random) }
        case 1: for line in lines { line.spoil(share, .reset, using: &random) }
        case 2:
            for line in lines { line.spoil(share, .stall, using: &random) }
            await letPass(.milliseconds(Int.random(in: 50...2_500, using: &random)))
            for line in lines { line.spoil(.resume) }
        case 3:
            // Lines are held up, given up by one side, or cut while bytes are on the way.
            for line in lines { line.spoil(share, .stall, using: &random) }
            await letPass(.milliseconds(Int.random(in: 50...2_500, using: &random)))
            for line in lines { line.spoil(share, .reset, using: &random) }
            for line in lines { line.spoil(.resume) }
        case 4:
            let delay = Int64.random(in: 1...150, using: &random)
            for line in lines { line.delayAll(.milliseconds(delay)) }
            await letPass(.milliseconds(Int.random(in: 200...1_500, using: &random)))
            for line in lines { line.delayAll(.zero) }
        default:
            for line in lines { line.refuse(true) }
            for line in lines { line.spoil(share, .close, using: &random) }
            await letPass(.milliseconds(Int.random(in: 50...500, using: &random)))
            for line in lines { line.refuse(false) }
        }
    }

    /// Kills processes until that time. At the end all processes run.
    func killProcesses(until end: ContinuousClock.Instant, _ random: inout SeededGenerator) async throws {
        var turn = 0
        while ContinuousClock.now < end {
            await letPass(.milliseconds(Int.random(in: 1_500...3_500, using: &random)))
            turn += 1
            let pause = Duration.milliseconds(Int.random(in: 0...1_500, using: &random))
            if isStandalone {
                try await killStandalone(for: pause)
            } else if turn % 3 == 2 {
                try await strikeMessaging(for: pause, &random)
            } else {
                try await killEdge(Int.random(in: 0..<edges.count, using: &random), for: pause)
            }
        }
    }

    private func strikeMessaging(
        for pause: Duration, _ random: inout SeededGenerator
    ) async throws {
        guard let journal else { return try await killMessaging(for: pause) }
        // A short run strikes Redis, too.
        if done.withLock({ $0.losses == 0 }) || random.chance(1, in: 3) {
            done.withLock { $0.losses += 1 }
            return try await journal.strike(&random, nodesDie: killNodes)
        }
        let address = system.messagingNodes.randomElement(using: &random) ?? ""
        guard let node = try await system.messagingNode(at: address) else { return }
        done.withLock { $0.takeovers += 1 }
        if random.chance(1, in: 3) {
            // Longer than its lease, or not.
            node.signal(SIGSTOP)
            await letPass(pause * 2)
            node.signal(SIGCONT)
        } else {
            try await node.kill9()
            await letPass(pause)
            try await system.launchMessaging(listen: address)
        }
    }

    private func killMessaging(for pause: Duration) async throws {
        let address = system.address("messaging")
        try await system.process("rtm-messaging").kill9()
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        done.withLock { $0.messagingKills.append(now) }
        await letPass(pause)
        try await system.launch("rtm-messaging", ["--listen", address])
    }

    /// Kills all messaging nodes, and starts them again afterwards.
    private func killNodes(during body: () async throws -> Void) async throws {
        for address in system.messagingNodes { try await system.messagingNode(at: address)?.kill9() }
        try await body()
        for address in system.messagingNodes { try await system.launchMessaging(listen: address) }
        done.withLock { $0.doubleFailures += 1 }
    }

    /// What messaging had is lost, and what storage had isn't.
    private func killStandalone(for pause: Duration) async throws {
        try await system.process("rtm-standalone").kill9()
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        done.withLock {
            $0.messagingKills.append(now)
            $0.edgeKills += 1
        }
        await letPass(pause)
        try await system.launchStandalone()
    }

    private func killEdge(_ number: Int, for pause: Duration) async throws {
        try await processes.withLock { $0[number] }.kill9()
        done.withLock { $0.edgeKills += 1 }
        await letPass(pause)
        system.detour(to: "messaging", through: Self.list(edges[number].messaging))
        let listeners = edges[number].listeners
        let process = try await system.launchEdge(listeners.options, listen: listeners.address)
        processes.withLock { $0[number] = process }
    }

    func stop() async throws {
        for edge in edges {
            for line in edge.listeners.lines + edge.messaging { try await line.stop() }
        }
    }
}
