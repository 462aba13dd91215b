import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMStorageServer

/// Histories of real calls over real links, checked afterwards against the order that the revisions claim.
@Suite("Concurrent histories are linearizable")
struct LinearizabilityTests {
    /// A call, from its begin to its answer, by one clock.
    private struct Entry: Sendable {
        let begin: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        /// What it claims to have seen or made.
        let revision: Int64
        let isWrite: Bool
        /// Of a write: the revision it compared with.
        let compared: Int64
    }

    /// Who has the lock, as those believe who do.
    private struct Holders: Sendable {
        var now = 0
        var most = 0
        var tokens: [UInt64] = []
    }

    private static let clients = 100

    @Test("D-17: compare-and-set and reads of 100 clients fit one order that agrees with real time")
    func metadata() async throws {
        try await RunningStorage.withCaller { running, first in
            let callers = [
                first, try await running.caller(), try await running.caller(), try await running.caller(),
            ]
            let entries = Shared<[Entry]>([])
            try await first.write([("n", "0")])
            await withTaskGroup(of: Void.self) { group in
                for client in 0..<Self.clients {
                    group.addTask {
                        let user = Caller.user("user \(client)", session: UInt64(client))
                        await Self.work(callers[client % 4], user, client) { entry in
                            entries.withLock { $0.append(entry) }
                        }
                    }
                }
            }
            let history = entries.withLock { $0 }
            let writes = history.filter(\.isWrite).sorted { $0.revision < $1.revision }
            #expect(
                writes.map(\.revision) == Array(2..<Int64(writes.count + 2)), "each revision has one writer")
            #expect(writes.allSatisfy { $0.compared == $0.revision - 1 }, "and it saw the one before")
            Self.checkRealTime(history)
            #expect(try await first.metadata().majorRevision == Int64(writes.count + 1))
            for caller in callers.dropFirst() { try await caller.close() }
        }
    }

    private static func work(
        _ caller: StorageCaller, _ user: RTMWire.Caller, _ client: Int, _ note: @Sendable (Entry) -> Void
    ) async {
        var known: Int64 = 1
        for number in 0..<20 {
            let begin = ContinuousClock.now
            if number % 3 == 0 {
                guard let set = try? await caller.metadata(by: user) else { continue }
                known = set.majorRevision
                note(Entry(begin: begin, end: .now, revision: known, isWrite: false, compared: 0))
            } else if let revision = try? await caller.write(
                .metadataUpdate, [("n", "\(client) \(number)")], major: known, by: user)
            {
                note(Entry(begin: begin, end: .now, revision: revision, isWrite: true, compared: known))
                known = revision
            }
        }
    }

    /// What ended before another one began can't be newer than that. Revisions are the order, so one walk in
    /// time is enough: the greatest revision that had been answered when a call began bounds it from below.
    private static func checkRealTime(_ history: [Entry]) {
        let ends = history.sorted { $0.end < $1.end }
        var place = 0
        var newest: Int64 = 0
        for entry in history.sorted(by: { $0.begin < $1.begin }) {
            while place < ends.count, ends[place].end < entry.begin {
                newest = max(newest, ends[place].revision)
                place += 1
            }
            let isNotStale = entry.isWrite ? entry.revision > newest : entry.revision >= newest
            #expect(isNotStale, "revision \(entry.revision) after \(newest) had been seen")
        }
    }

    @Test("K-4, K-5: of 100 clients that want one lock one has it at a time, and all get it")
    func lock() async throws {
        try await RunningStorage.withCaller { running, first in
            let second = try await running.caller()
            try await first.setLock()
            let holders = Shared(Holders())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<Self.clients {
                    group.addTask {
                        let caller = client % 2 == 0 ? first : second
                        let user = Caller.user("user \(client)", session: UInt64(client))
                        let token = try await caller.acquire(retry: true, by: user)
                        holders.withLock {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                            $0.tokens.append(token)
                        }
                        try await caller.write(
                            .metadataSet, [("holder", user.userID)], lock: "l", token: token, by: user)
                        holders.withLock { $0.now -= 1 }
                        try await caller.release(by: user)
                    }
                }
                try await group.waitForAll()
            }
            let seen = holders.withLock { $0 }
            #expect(seen.most == 1)
            #expect(seen.tokens.count == Self.clients && seen.tokens == seen.tokens.sorted())
            try await second.close()
        }
    }
}

/// A value that several tasks change.
private final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: sending Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result {
        value.withLock(body)
    }
}
