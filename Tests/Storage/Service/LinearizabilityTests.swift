import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// Histories of real calls over a few real links, with callers that the test makes up. Histories of whole
/// clients are in IntegrationTests.
@Suite("Concurrent histories are linearizable")
struct LinearizabilityTests {
    private static let clients = 100

    private static func with(
        _ engine: StorageEngine, _ body: @escaping (RunningStorage, StorageConnection) async throws -> Void
    ) async throws {
        try await engine.with { url, _ in
            try await RunningStorage.withCaller(
                url.map { ["--storage-database", $0] } ?? [], engine: engine.database, body)
        }
    }

    @Test(
        "D-17: compare-and-set and reads of 100 clients fit one order that agrees with real time",
        arguments: [StorageEngine.sqlite])
    func metadata(_ engine: StorageEngine) async throws {
        try await Self.with(engine) { running, first in
            let callers = [
                first, try await running.caller(), try await running.caller(), try await running.caller(),
            ]
            let history = Shared(RevisionHistory())
            try await first.write([("n", "0")])
            await withTaskGroup(of: Void.self) { group in
                for client in 0..<Self.clients {
                    group.addTask {
                        let user = Caller.user("user \(client)", session: UInt64(client))
                        await Self.work(callers[client % 4], user, client) { call in
                            history.withLock { $0.add(call) }
                        }
                    }
                }
            }
            let last = try await first.metadata().majorRevision
            let seen = history.present
            #expect(seen.violations(from: (revision: 1, value: "0"), to: last) == [])
            #expect(seen.writtenCount == Int(last) - 1 && seen.refusedCount >= Self.clients - 1)
            for caller in callers.dropFirst() { try await caller.close() }
        }
    }

    private static func work(
        _ caller: StorageConnection, _ user: RTMWire.Caller, _ client: Int,
        _ note: @Sendable (RevisionHistory.Call) -> Void
    ) async {
        var known: Int64 = 1
        for number in 0..<20 {
            let begin = ContinuousClock.now
            if number % 3 == 1 {
                guard let set = try? await caller.metadata(by: user) else { continue }
                known = set.majorRevision
                note(.init(begin: begin, outcome: .saw(known, value: set.items.first?.value)))
                continue
            }
            let write = (compared: known, value: "\(client) \(number)")
            do {
                known = try await caller.write(
                    .metadataUpdate, [("n", write.value)], major: known, by: user)
                note(.init(begin: begin, outcome: .wrote(known), write: write))
            } catch {
                let present = (error as? RTMError)?.conflict?.majorRevision
                note(
                    .init(
                        begin: begin, outcome: present.map { .saw($0, value: nil) } ?? .unanswered,
                        write: write))
            }
        }
    }

    @Test(
        "K-4, K-5: of 100 clients that want one lock one has it at a time, and all get it",
        arguments: [StorageEngine.sqlite])
    func lock(_ engine: StorageEngine) async throws {
        try await Self.with(engine) { running, first in
            let second = try await running.caller()
            try await first.setLock()
            let history = Shared(LockHistory())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<Self.clients {
                    group.addTask {
                        let caller = client % 2 == 0 ? first : second
                        let user = Caller.user("user \(client)", session: UInt64(client))
                        let asked = ContinuousClock.now
                        let token = try await caller.acquire(retry: true, by: user)
                        let granted = ContinuousClock.now
                        try await caller.write(
                            .metadataSet, [("holder", user.userID)], lock: "l", token: token, by: user)
                        let releasing = ContinuousClock.now
                        try await caller.release(by: user)
                        history.withLock {
                            $0.add(
                                .init(token: token, asked: asked, granted: granted, releasing: releasing))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let seen = history.present
            #expect(seen.violations == [] && seen.holdCount == Self.clients)
            try await second.close()
        }
    }
}
