import Foundation
import RTMClient
import RTMTestSupport
import Synchronization
import Testing

/// A rolling restart, as operators do it: every process is told to stop and is started anew, one after the
/// other, while clients publish. `make rolling` runs it alone.
@Suite(.serialized) struct RollingTests {
    private static let channels = ["north", "east", "south", "west"]

    @Test(
        "Every process is restarted in turn under load: nothing is lost, doubled or disordered, and no gap is said",
        .ends(withinMinutes: 5))
    func rolling() async throws {
        let redis = try RedisServerProcess()
        defer { redis.end() }
        try await redis.isListening()
        let journal = ["--redis-endpoints", "unix:\(redis.socket)"]
        try await RunningSystem.with(
            .fourProcesses, presence: journal, messaging: journal + ["--shards", "4"], messagingNodes: 2
        ) { system in
            let installation = try await RollingInstallation.start(in: system)
            // A subscribe to a shard that moves just then would be refused.
            try await system.isShared(4)
            try await system.ready()
            let clients = try (0..<12).map { number in
                try installation.client("user\(number)", prefersFirst: number % 2 == 0)
            }
            for client in clients { try await client.start(channels: Self.channels) }
            let published = Shared([DeliveryRecord.Published]())
            let isOver = Shared(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { isOver.withLock { $0 = true } }
                    try await installation.restartAll {
                        let count = published.present.count
                        try await eventually("messages flow") { published.present.count > count + 200 }
                    }
                }
                for client in clients {
                    group.addTask { await Self.publish(by: client, into: published) { isOver.present } }
                }
                try await group.waitForAll()
            }
            try await Self.settle(clients, published.present)
            Self.judge(clients, published.present)
            for client in clients { await client.close() }
        }
    }

    /// Publishes one message after the other, so that their order is known.
    private static func publish(
        by client: any ChaosClient, into published: Shared<[DeliveryRecord.Published]>,
        until isOver: () -> Bool
    ) async {
        for number in 0... where !isOver() {
            let channel = channels[number % channels.count]
            let text = "\(client.user) \(number)"
            let outcome = await client.publish(text, to: channel)
            published.withLock {
                $0.append(.init(text: text, publisher: client.user, channel: channel, outcome: outcome))
            }
            await letPass(.milliseconds(20))
            if isOver() { return }
        }
    }

    /// Everybody has received what was published last.
    private static func settle(
        _ clients: [any ChaosClient], _ published: [DeliveryRecord.Published]
    ) async throws {
        for last in Dictionary(grouping: published, by: \.channel).values.compactMap(\.last) {
            for client in clients where client.user != last.publisher {
                try await eventually("\(client.user) hears '\(last.text)' in \(last.channel)") {
                    client.hasSeen(last.text, in: last.channel)
                }
            }
        }
    }

    private static func judge(_ clients: [any ChaosClient], _ published: [DeliveryRecord.Published]) {
        let record = DeliveryRecord(published: published, views: clients.flatMap(\.views))
        let complaints = clients.flatMap(\.complaints) + record.breaches() + record.needlessGaps()
        for complaint in complaints.prefix(40) { Issue.record("\(complaint)") }
        #expect(!published.contains { $0.outcome == .unknown }, "every publisher knows what has become of it")
        #expect(record.received > record.acknowledged)
    }
}

/// Two of each service but storage, at addresses that stay the same.
private final class RollingInstallation: Sendable {
    private struct Member {
        var process: ServiceProcess
        let start: @Sendable () async throws -> ServiceProcess
    }

    private let system: RunningSystem
    private let edges: [String]
    private let members: Mutex<[Member]>

    private init(_ system: RunningSystem, _ edges: [String], _ members: [Member]) {
        self.system = system
        self.edges = edges
        self.members = Mutex(members)
    }

    static func start(in system: RunningSystem) async throws -> RollingInstallation {
        var members: [Member] = []
        for listen in system.messagingNodes {
            let process = try #require(try await system.messagingNode(at: listen))
            members.append(Member(process: process) { try await system.launchMessaging(listen: listen) })
        }
        let presences = [system.address("presence"), "127.0.0.1:\(try FreePorts.take(1)[0])"]
        var processes = [try system.process("rtm-presence")]
        processes.append(try await system.launchPresence(listen: presences[1]))
        for (process, listen) in zip(processes, presences) {
            members.append(Member(process: process) { try await system.launchPresence(listen: listen) })
        }
        members.append(
            Member(process: try system.process("rtm-storage")) { try await system.launchStorage() })
        let edges = [system.address("edge"), "127.0.0.1:\(try FreePorts.take(1)[0])"]
        processes = [try system.process("rtm-edge")]
        processes.append(try await system.launchEdge(listen: edges[1]))
        for (process, listen) in zip(processes, edges) {
            members.append(Member(process: process) { try await system.launchEdge(listen: listen) })
        }
        let installation = RollingInstallation(system, edges, members)
        for member in members { try await installation.isReady(member.process) }
        return installation
    }

    func client(_ user: String, prefersFirst: Bool) throws -> ChaosRTMClient {
        let servers = prefersFirst ? edges : edges.reversed()
        return ChaosRTMClient(
            try system.client(user) { configuration in
                configuration.servers = servers.compactMap { try? ServerAddress($0) }
                configuration.requestTimeout = .seconds(30)
            })
    }

    /// Stops each process and starts it again, and waits until it is ready before the next one.
    func restartAll(between: () async throws -> Void) async throws {
        try await between()
        for number in members.withLock({ $0.indices }) {
            let member = members.withLock { $0[number] }
            member.process.signal(SIGTERM)
            #expect(try await member.process.exit() == 0)
            let fresh = try await member.start()
            members.withLock { $0[number].process = fresh }
            try await isReady(fresh)
            try await between()
        }
    }

    private func isReady(_ process: ServiceProcess) async throws {
        let admin = try #require(try await process.listening()["admin"])
        try await eventually("\(process.name) is ready", within: .seconds(30)) {
            try await system.get("http://\(admin)/ready").status == 200
        }
    }
}
