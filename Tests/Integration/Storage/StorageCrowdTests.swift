import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// A hundred clients, each with its own login and connection, use the storage process over an edge. Their
/// observations are recorded and judged afterwards.
@Suite(.serialized, .ends(withinMinutes: 4)) struct StorageCrowdTests {
    private static let count = 100
    private static let auction = MetadataTarget.channel("auction")

    private func withCrowd(_ body: ([RTMClient]) async throws -> Void) async throws {
        let edge = ["--rates-channel-metadata", "0", "--rates-acquire-lock", "0"]
        try await RunningSystem.with(.fourProcesses, edge: edge) { system in
            let clients = try (0..<Self.count).map { try system.client("user \($0)") }
            do {
                try await Self.all(clients) { client, _ in try await client.login() }
                try await body(clients)
            } catch {
                for client in clients { await client.close() }
                throw error
            }
            for client in clients { await client.close() }
        }
    }

    /// Does the calls all at once.
    private static func all(
        _ clients: [RTMClient], _ work: @escaping @Sendable (RTMClient, Int) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask { try await work(client, number) }
            }
            try await group.waitForAll()
        }
    }

    private static func write(
        _ value: String, over compared: Int64, by client: RTMClient
    ) async -> RevisionHistory.Call {
        let begin = ContinuousClock.now
        let outcome: RevisionHistory.Outcome
        do throws(RTMError) {
            outcome = .wrote(
                try await client.updateMetadata(
                    ["price": value], of: auction, options: .init(majorRevision: compared)))
        } catch {
            outcome = error.conflict.map { .saw($0.majorRevision, value: nil) } ?? .unanswered
        }
        return .init(begin: begin, outcome: outcome, write: (compared: compared, value: value))
    }

    @Test(
        "Appendix D, D-5, D-17, D-45: 100 clients compare with one revision: one wins, and one event says so")
    func oneWins() async throws {
        try await withCrowd { clients in
            var events = clients[0].events().makeAsyncIterator()
            var revision = try await clients[0].setMetadata(["price": "0"], of: Self.auction)
            try await clients[0].subscribe(to: "auction", features: .metadata)
            #expect(await events.nextStorage()?.metadata.majorRevision == revision)
            for round in 1...5 {
                let history = Shared(RevisionHistory())
                let compared = revision
                try await Self.all(clients) { client, number in
                    let call = await Self.write("\(round) \(number)", over: compared, by: client)
                    history.withLock { $0.add(call) }
                }
                let seen = history.present
                let start = (revision: compared, value: "")
                #expect(seen.violations(from: start, to: compared + 1) == [])
                #expect(seen.writtenCount == 1 && seen.refusedCount == Self.count - 1)
                revision = try await clients[round].metadata(of: Self.auction).majorRevision
                #expect(revision == compared + 1)
                #expect(await events.nextStorage()?.metadata.majorRevision == revision)
            }
        }
    }

    @Test("D-17, D-45: writes and reads of 100 clients fit one order, and a watcher is told that order")
    func compareAndSet() async throws {
        try await withCrowd { clients in
            let start = try await clients[0].setMetadata(["price": "0"], of: Self.auction)
            var events = clients[0].events().makeAsyncIterator()
            try await clients[0].subscribe(to: "auction", features: .metadata)
            #expect(await events.nextStorage()?.metadata.majorRevision == start)
            let history = Shared(RevisionHistory())
            try await Self.all(clients) { client, number in
                var known = start
                for turn in 0..<12 {
                    let call: RevisionHistory.Call
                    if turn % 3 == 1 {
                        let begin = ContinuousClock.now
                        let set = try await client.metadata(of: Self.auction)
                        known = set.majorRevision
                        call = .init(begin: begin, outcome: .saw(known, value: set["price"]))
                    } else {
                        call = await Self.write("\(number) \(turn)", over: known, by: client)
                        if case .wrote(let revision) = call.outcome { known = revision }
                    }
                    history.withLock { $0.add(call) }
                }
            }
            let last = try await clients[0].metadata(of: Self.auction).majorRevision
            let seen = history.present
            #expect(seen.violations(from: (revision: start, value: "0"), to: last) == [])
            #expect(seen.writtenCount > 0 && seen.refusedCount >= Self.count - 1)
            var reported: [Int64] = []
            while reported.last != last, let event = await events.nextStorage() {
                reported.append(event.metadata.majorRevision)
            }
            #expect(reported == Array(start + 1..<last + 1))
        }
    }

    @Test("K-4, K-5, fencing: 100 clients and one lock: one owner at a time, growing tokens, all are served")
    func oneLock() async throws {
        try await withCrowd { clients in
            try await clients[0].setLock("hammer", in: "auction")
            let history = Shared(LockHistory())
            let asked = ContinuousClock.now
            let first = try await clients[0].acquireLock("hammer", in: "auction")
            let granted = ContinuousClock.now
            try await Self.all(Array(clients.dropFirst())) { client, _ in
                let begin = ContinuousClock.now
                let refusal = await code { _ = try await client.acquireLock("hammer", in: "auction") }
                #expect(refusal == .lockAcquireFailed)
                history.withLock { $0.addRefusal(from: begin, to: .now) }
            }
            let releasing = ContinuousClock.now
            try await clients[0].releaseLock("hammer", in: "auction")
            history.withLock {
                $0.add(.init(token: first, asked: asked, granted: granted, releasing: releasing))
            }
            try await Self.all(clients) { client, _ in
                let hold = try await Self.hold(client)
                history.withLock { $0.add(hold) }
            }
            let seen = history.present
            #expect(seen.violations == [] && seen.holdCount == Self.count + 1)
            let lock = try await clients[0].locks(of: "auction").first
            #expect(lock != nil && lock?.owner == nil)
            let bids = try await clients[0].metadata(of: Self.auction)["bids"]
            #expect(bids == "\(Self.count)", "what an owner reads and writes nobody else overwrites")
        }
    }

    /// Counts up without comparing: only the lock keeps others away.
    private static func hold(_ client: RTMClient) async throws -> LockHistory.Hold {
        let asked = ContinuousClock.now
        let token = try await client.acquireLock("hammer", in: "auction", waits: true)
        let granted = ContinuousClock.now
        let bids = try await client.metadata(of: auction)["bids"].flatMap { Int($0) } ?? 0
        try await client.setMetadata(
            ["bids": "\(bids + 1)"], of: auction, options: .init(lock: "hammer", fencingToken: token))
        let releasing = ContinuousClock.now
        try await client.releaseLock("hammer", in: "auction")
        return .init(token: token, asked: asked, granted: granted, releasing: releasing)
    }
}
