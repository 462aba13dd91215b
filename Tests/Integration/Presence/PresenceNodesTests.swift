import RTMClient
import RTMModel
import RTMTestSupport
import Synchronization
import Testing

/// An edge that is told several presence nodes, which share a Redis.
@Suite(.serialized, .ends(withinMinutes: 4)) struct PresenceNodesTests {
    /// What calls of presence have brought, one after the other.
    private final class Calls: Sendable {
        private struct Outcomes {
            var succeeded = 0
            var failures: Set<ErrorCode> = []
            var lacking: [[String]] = []
        }

        private let outcomes = Mutex(Outcomes())

        var succeeded: Int { outcomes.withLock { $0.succeeded } }
        var failures: Set<ErrorCode> { outcomes.withLock { $0.failures } }
        /// The answers in which somebody was missing.
        var lacking: [[String]] { outcomes.withLock { $0.lacking } }

        /// Asks who is there and changes a state, until the task is cancelled.
        func go(on client: RTMClient, members: [String]) async {
            var count = 0
            while !Task.isCancelled {
                do throws(RTMError) {
                    count += 1
                    try await client.setState(["count": "\(count)"], in: "lobby")
                    let users = try await client.whoNow(in: "lobby").users.map(\.userID)
                    outcomes.withLock {
                        $0.succeeded += 1
                        if users.sorted() != members { $0.lacking.append(users) }
                    }
                } catch {
                    outcomes.withLock { _ = $0.failures.insert(error.code) }
                }
            }
        }
    }

    @Test("either node is killed under load: calls go on over the other one, and nobody has left")
    func nodeKilled() async throws {
        let options = ["--debounce", "0s", "--lease-ttl", "5s"]
        try await PresenceRecoveryTests.withSystem(.redis, options) { system, _ in
            let listen = [
                system.address("presence"), "127.0.0.1:\(try FreePorts.take(1)[0])",
            ]
            var nodes = [try system.process("rtm-presence")]
            nodes.append(try await system.launchPresence(listen: listen[1]))
            system.detour(to: "presence", through: listen.joined(separator: ","))
            try await system.launchEdge()
            try await system.ready()
            try await system.withClients("anna", "ben", "cleo") { clients in
                let record = PresenceRecord(clients[0])
                for client in clients { try await client.subscribe(to: "lobby") }
                try await record.first("join cleo")
                let before = record.all.count
                let calls = Calls()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for client in clients.dropFirst() {
                        group.addTask { await calls.go(on: client, members: ["anna", "ben", "cleo"]) }
                    }
                    for index in nodes.indices {
                        try await nodes[index].kill9()
                        let count = calls.succeeded
                        try await eventually("calls go on without node \(index)", within: .seconds(60)) {
                            calls.succeeded > count + 50
                        }
                        nodes[index] = try await system.launchPresence(listen: listen[index])
                    }
                    group.cancelAll()
                }
                // The last calls are cancelled.
                let expected: Set<ErrorCode> = [
                    .presenceOperationFailed, .presenceOperationTimeout, .cancelled,
                ]
                #expect(calls.failures.isSubset(of: expected))
                #expect(calls.lacking == [])
                let since = record.all.dropFirst(before).map(\.text)
                let moves = since.filter { text in
                    ["join", "leave", "timeout"].contains { text.hasPrefix($0) }
                }
                #expect(moves == [])
                try await clients[1].setState(["count": "last"], in: "lobby")
                try await record.first("state ben[count=last]")
            }
        }
    }
}
