import Foundation
import RTMClient
import RTMTestSupport
import Synchronization
import Testing

/// Two of each service, at addresses that stay the same. Of storage there is one where it is over a file.
final class RollingInstallation: Sendable {
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

    /// - Parameters:
    ///   - edge: options of the edges.
    ///   - storageNodes: more than one only where storage is over a database.
    static func start(
        in system: RunningSystem, edge: [String] = [], storageNodes: Int = 1
    ) async throws -> RollingInstallation {
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
        let others = try FreePorts.take(storageNodes - 1).map { "127.0.0.1:\($0)" }
        let storages = [system.address("storage")] + others
        let folders = storages.indices.map { $0 == 0 ? "storage" : "storage-\($0)" }
        processes = [try system.process("rtm-storage")]
        for (listen, folder) in zip(storages, folders).dropFirst() {
            processes.append(try await system.launchStorage(listen: listen, data: folder))
        }
        for (process, (listen, folder)) in zip(processes, zip(storages, folders)) {
            members.append(
                Member(process: process) { try await system.launchStorage(listen: listen, data: folder) })
        }
        let edges = [system.address("edge"), "127.0.0.1:\(try FreePorts.take(1)[0])"]
        processes = [try system.process("rtm-edge")]
        processes.append(try await system.launchEdge(edge, listen: edges[1]))
        for (process, listen) in zip(processes, edges) {
            members.append(Member(process: process) { try await system.launchEdge(edge, listen: listen) })
        }
        let installation = RollingInstallation(system, edges, members)
        for member in members { try await installation.isReady(member.process) }
        return installation
    }

    /// Clients that know both edges; each edge is the first choice of half of them.
    func clients(_ count: Int) throws -> [ChaosRTMClient] {
        try (0..<count).map { number in
            let servers = number % 2 == 0 ? edges : edges.reversed()
            let client = try system.client("user\(number)") { configuration in
                configuration.servers = servers.compactMap { try? ServerAddress($0) }
                configuration.requestTimeout = .seconds(30)
            }
            return ChaosRTMClient(client)
        }
    }

    /// Stops each process and starts it again, and waits until it is ready before the next one: messaging,
    /// presence, storage, the edges.
    func restartAll(
        _ timeline: RollingTimeline? = nil, between: () async throws -> Void
    ) async throws {
        try await between()
        for number in members.withLock({ $0.indices }) {
            let member = members.withLock { $0[number] }
            timeline?.stops(member.process.name)
            member.process.signal(SIGTERM)
            #expect(try await member.process.exit() == 0)
            let fresh = try await member.start()
            members.withLock { $0[number].process = fresh }
            try await isReady(fresh)
            try await between()
        }
    }

    /// What each edge that answers has counted, by its process.
    func edgeCounters() async -> [Int32: RollingTimeline.EdgeCounters] {
        var counters: [Int32: RollingTimeline.EdgeCounters] = [:]
        for process in members.withLock({ $0.map(\.process) }) where process.name == "rtm-edge" {
            guard let admin = try? await process.listening()["admin"],
                let page = try? await system.get("http://\(admin)/metrics")
            else { continue }
            counters[process.pid] = RollingTimeline.EdgeCounters(page.body)
        }
        return counters
    }

    private func isReady(_ process: ServiceProcess) async throws {
        let admin = try #require(try await process.listening()["admin"])
        try await eventually("\(process.name) is ready", within: .seconds(30)) {
            try await system.get("http://\(admin)/ready").status == 200
        }
    }
}
