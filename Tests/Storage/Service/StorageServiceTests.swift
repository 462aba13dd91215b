import Foundation
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

@Suite("The storage service over its links, with a real database")
struct StorageServiceTests {
    @Test("D-42, D-43, D-45: each write is answered and announced once, with the whole set, in order")
    func events() async throws {
        try await RunningStorage.withCaller { running, caller in
            let log = try await running.reader(.message("lobby"))
            #expect(try await caller.write([("a", "1"), ("b", "2")]) == 1)
            #expect(try await caller.write(.metadataUpdate, [("b", "3")]) == 2)
            #expect(
                await failure { try await caller.write(.metadataUpdate, [("c", "3")]) }?.code
                    == .storageOutdatedRevision)
            #expect(try await caller.write(.metadataRemove, [("a", "")], by: .user("ben")) == 3)
            try await eventually("all events") { log.storageEvents.count >= 3 }
            #expect(log.storageEvents.map(\.majorRevision) == [1, 2, 3])
            #expect(log.storageEvents.map { $0.items.map(\.value) } == [["1", "2"], ["1", "3"], ["3"]])
            #expect(log.publications.map(\.publisher) == ["anna", "anna", "ben"])
            let set = try await caller.metadata()
            #expect(set.majorRevision == 3 && set.items.map(\.key) == ["b"] && set.items[0].revision == 2)
            try await log.close()
        }
    }

    @Test("D-44: a user's metadata is announced in a log of its own, of type none")
    func userMetadata() async throws {
        try await RunningStorage.withCaller { running, caller in
            let log = try await running.reader(.user("ben"))
            try await caller.write([("mood", "fine")], to: "ben", type: .none)
            try await eventually("the event") { log.storageEvents.count == 1 }
            let frames = try await caller.snapshot(
                SnapshotRequest(channel: .user("ben"), metadata: true, locks: true))
            #expect(frames.count == 1 && frames[0].metadata.items.map(\.value) == ["fine"])
            try await log.close()
        }
    }

    @Test("R-20: answers that together are longer than a link's queue all come, and the link stays")
    func longAnswers() async throws {
        try await RunningStorage.withCaller { _, caller in
            let (now, payload) = (WallClock.milliseconds(), [UInt8](repeating: 120, count: 30_000))
            for number in 1...8 as ClosedRange<UInt64> {
                try await caller.appendHistory(
                    to: .message("big"), by: "ben", at: now - number, payload)
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                // Of 240 KB each, where a link that 32 MiB wait for is closed.
                for _ in 0..<400 {
                    group.addTask { try await caller.history(.message, "big", count: 100).messages.count }
                }
                for try await count in group { #expect(count == 8) }
            }
        }
    }

    @Test("D-5, D-17: of 100 concurrent writes with one revision exactly one wins, and one event says so")
    func compareAndSet() async throws {
        try await RunningStorage.withCaller { running, caller in
            let log = try await running.reader(.message("lobby"))
            let first = try await caller.write([("price", "0")])
            let callers = [caller, try await running.caller(), try await running.caller()]
            let outcomes = await withTaskGroup(of: RTMError?.self) { group in
                for number in 1...100 {
                    group.addTask {
                        await failure {
                            try await callers[number % 3].write(
                                .metadataUpdate, [("price", "\(number)")], major: first,
                                by: .user("user \(number)", session: UInt64(number)))
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let losers = outcomes.compactMap(\.self)
            #expect(losers.count == 99)
            #expect(losers.allSatisfy { $0.code == .storageOutdatedRevision })
            #expect(losers.allSatisfy { $0.conflict?.majorRevision == first + 1 })
            try await eventually("the events") { log.storageEvents.count >= 2 }
            #expect(try await caller.write(.metadataUpdate, [("price", "end")]) == first + 2)
            try await eventually("the last event") { log.storageEvents.count >= 3 }
            #expect(log.storageEvents.map(\.majorRevision) == [first, first + 1, first + 2])
            for other in callers.dropFirst() { try await other.close() }
            try await log.close()
        }
    }

    @Test("K-4, K-5, K-14: waiting, handing over and the events of it")
    func lockLine() async throws {
        try await RunningStorage.withCaller { running, caller in
            let log = try await running.reader(.message("lobby"))
            try await caller.setLock(ttl: 20)
            let first = try await caller.acquire(by: .user("anna"))
            async let second = caller.acquire(retry: true, by: .user("ben", session: 2))
            try await eventually("ben stands in line") { try await caller.inLine == 1 }
            try await caller.release(by: .user("anna"))
            let token = try await second
            #expect(token > first)
            let locks = try await caller.locks()
            #expect(locks.locks.map(\.owner) == ["ben"] && locks.locks[0].ttlS == 20)
            #expect(locks.locks[0].fencingToken == token)
            try await eventually("four events") { log.lockEvents.count == 4 }
            #expect(
                log.lockEvents.map(\.type) == [
                    .lockEventSet, .lockEventAcquired, .lockEventReleased, .lockEventAcquired,
                ])
            #expect(log.lockEvents.map(\.lock.owner) == ["", "anna", "anna", "ben"])
            #expect(log.lockEvents.allSatisfy { $0.revision <= locks.revision })
            try await log.close()
        }
    }

    @Test("D-20, fencing: a write under a lock that was lost is refused, however late it comes")
    func fencing() async throws {
        try await RunningStorage.withCaller { _, caller in
            try await caller.setLock()
            let stale = try await caller.acquire(by: .user("anna"))
            try await caller.write([("a", "1")], lock: "l", token: stale)
            try await caller.release(by: .user("anna"))
            #expect(
                await failure { try await caller.write([("a", "2")], lock: "l") }?.code
                    == .storageLockNotAcquired)
            let present = try await caller.acquire(by: .user("anna"))
            #expect(
                await failure { try await caller.write([("a", "2")], lock: "l", token: stale) }?.code
                    == .storageLockNotAcquired)
            try await caller.write([("a", "3")], lock: "l", token: present)
            #expect(
                await failure { try await caller.write([("a", "4")], lock: "l", by: .user("ben")) }?.code
                    == .storageLockNotAcquired)
            #expect(try await caller.metadata().items.map(\.value) == ["3"])
        }
    }

    @Test("K-6: a wait ends when its session does; K-11: an owner that left and came back keeps the lock")
    func sessions() async throws {
        try await RunningStorage.withCaller { _, caller in
            let anna = Caller.user("anna")
            let ben = Caller.user("ben", session: 2)
            try await caller.setLock()
            let token = try await caller.acquire(by: anna)
            async let wait = failure { try await caller.acquire(retry: true, by: ben) }
            try await eventually("ben stands in line") { try await caller.inLine == 1 }
            try await caller.push(ben, .ended)
            #expect(await wait?.code == .lockOperationFailed)
            try await caller.push(anna, .left, .message("lobby"))
            try await caller.push(.user("anna", session: 5), .entered, .message("lobby"))
            #expect(try await caller.acquire(held: token, by: .user("anna", session: 5)) == token)
            #expect(
                await failure { try await caller.acquire(held: token + 99, by: anna) }?.code
                    == .lockNotAcquired)
        }
    }

    @Test("L-11, K-1, D-14: malformed names and types are refused with their codes")
    func refusals() async throws {
        try await RunningStorage.withCaller { _, caller in
            #expect(await failure { try await caller.setLock("") }?.code == .lockInvalidName)
            #expect(await failure { try await caller.setLock("ä") }?.code == .lockInvalidName)
            #expect(
                await failure { try await caller.write([("a", "1")], type: .user) }?.code
                    == .invalidChannelType)
            #expect(
                await failure { try await caller.history(.user, "ben") }?.code
                    == .historyOperationNotPermitted)
            #expect(
                await failure { try await caller.call(.whoNow(.init()), by: .user("anna")) }?.code
                    == .serviceNotSupport)
        }
    }

    @Test("H-1, H-9, H-10: what was stored is found at once, once, as it was published")
    func history() async throws {
        try await RunningStorage.withCaller { _, caller in
            let lobby = ChannelKey.message("lobby")
            try await caller.appendHistory(
                to: lobby, by: "anna", at: 1_000, [0, 255], type: .binary, customType: "x")
            #expect(
                await failure {
                    try await caller.appendHistory(
                        to: ChannelKey(appID: "app", type: .stream, name: "s"), by: "ben", at: 1, [])
                }?.code == .invalidChannelType)
            // A message of 1970 is expired under every retention but the permanent one.
            #expect(try await caller.history().messages.isEmpty)
        }
        try await RunningStorage.withCaller(["--storage-history-retention", "permanent"]) { _, caller in
            let lobby = ChannelKey.message("lobby")
            try await caller.appendHistory(
                to: lobby, by: "anna", at: 1_000, [0, 255], type: .binary, customType: "x")
            try await caller.appendHistory(to: lobby, by: "ben", at: 2_000, Array("hi".utf8))
            try await caller.appendHistory(to: lobby, by: "ben", at: 2_000, Array("hi".utf8))
            let page = try await caller.history()
            #expect(page.messages.map(\.timestampMs) == [2_000, 1_000] && page.newStartMs == 0)
            #expect(page.messages.map(\.publisher) == ["ben", "anna"])
            #expect(page.messages.map(\.type) == [.text, .binary] && page.messages[1].customType == "x")
            #expect(
                page.messages[0].payload == Data("hi".utf8) && page.messages[1].payload == Data([0, 255]))
            let first = try await caller.history(count: 1)
            #expect(first.messages.map(\.timestampMs) == [2_000] && first.newStartMs == 1_001)
            #expect(
                try await caller.history(count: 1, start: first.newStartMs).messages.map(\.timestampMs) == [
                    1_000
                ])
        }
    }

    @Test(
        "M-25: a message that is sent again is stored once, also at another time and to the end of its life")
    func historyAgain() async throws {
        try await RunningStorage.withCaller(["--storage-history-retention", "permanent"]) { _, caller in
            let inbox = ChannelKey(appID: "app", type: .user, name: "anna")
            let first = PublishOrigin(instance: 7, sequence: 1)
            for time in [1_000, 1_500, 900] as [UInt64] {
                try await caller.appendHistory(
                    to: inbox, by: "ben", at: time, Array("hi".utf8), origin: first)
            }
            // The same words are sent as another message, of the same client or of another one.
            for (instance, sequence) in [(7, 2), (8, 1)] as [(UInt64, UInt64)] {
                try await caller.appendHistory(
                    to: inbox, by: "ben", at: 2_000, Array("hi".utf8),
                    origin: PublishOrigin(instance: instance, sequence: sequence))
            }
            let page = try await caller.history(.user, "anna")
            #expect(page.messages.map(\.timestampMs) == [2_000, 2_000, 1_000])
            #expect(page.messages.map(\.order) == [1, 0, 0])
        }
    }

    @Test("H-8: two messages of one millisecond are both kept, each with an order of its own")
    func historyOfOneMillisecond() async throws {
        try await RunningStorage.withCaller(["--storage-history-retention", "permanent"]) { _, caller in
            let inbox = ChannelKey(appID: "app", type: .user, name: "anna")
            for publisher in ["ben", "cora", "dan", "ben"] {
                try await caller.appendHistory(to: inbox, by: publisher, at: 1_000, Array("hi".utf8))
            }
            let page = try await caller.history(.user, "anna")
            #expect(page.messages.map(\.timestampMs) == [1_000, 1_000, 1_000])
            #expect(page.messages.map(\.order) == [2, 1, 0])
            #expect(page.messages.map(\.publisher) == ["dan", "cora", "ben"])
        }
    }

    @Test("L-42: what an app may have is limited where an operator says so, and given back by removal")
    func quotas() async throws {
        let arguments = [
            "--storage-metadata-channels-max", "2", "--storage-metadata-users-max", "1",
            "--storage-locks-max", "2",
        ]
        try await RunningStorage.withCaller(arguments) { running, caller in
            try await caller.write([("k", "v")], to: "a")
            try await caller.write([("k", "v")], to: "b")
            let refused = await failure { try await caller.write([("k", "v")], to: "c") }
            #expect(refused?.code == .storageOperationFailed && refused?.limit?.value == 2)
            try await caller.write([("k", "w")], to: "b")
            #expect(try await caller.metadata(of: "c").majorRevision == 0)
            try await caller.write(.metadataRemove, [], to: "a")
            try await caller.write([("k", "v")], to: "c")

            try await caller.write([("k", "v")], to: "anna", type: .none)
            #expect(
                await failure { try await caller.write([("k", "v")], to: "ben", type: .none) }?.code
                    == .storageOperationFailed)

            try await caller.setLock("x")
            try await caller.setLock("y", in: "a")
            let lock = await failure { try await caller.setLock("z", in: "b") }
            #expect(lock?.code == .lockOperationFailed && lock?.limit?.value == 2)
            try await caller.removeLock("x")
            try await caller.setLock("z", in: "b")
            #expect(try await caller.locks().locks.isEmpty)
        }
    }

    @Test("H-11, L-44: history that is off for an app is refused for that app")
    func historyOff() async throws {
        try await RunningStorage.withCaller(["--apps", "app:::::::off"]) { _, caller in
            #expect(await failure { try await caller.history() }?.code == .historyNotAvailable)
            #expect(
                await failure {
                    try await caller.appendHistory(to: .message("lobby"), by: "anna", at: 1, [])
                }?.code == .historyNotAvailable)
        }
    }

    @Test("H-11: what has expired vanishes from the file, too")
    func expiry() async throws {
        try await RunningStorage.withCaller(["--storage-history-retention", "1d"]) { running, caller in
            let now = WallClock.milliseconds()
            for number in 0..<1_200 as Range<UInt64> {
                try await caller.appendHistory(to: .message("lobby"), by: "anna", at: 1_000 + number, [1])
            }
            try await caller.appendHistory(to: .message("lobby"), by: "anna", at: now, [2])
            #expect(try await caller.history().messages.map(\.timestampMs) == [now])
            try await eventually("removed", within: .seconds(20)) {
                running.metrics.value("rtm_storage_history_expired_total") == 1_200
            }
            #expect(try await caller.history().messages.map(\.timestampMs) == [now])
        }
    }

    @Test("D-1: everything is there after a restart; owners of locks are away until they are heard of")
    func restart() async throws {
        try await withDirectory { directory in
            var token: UInt64 = 0
            try await RunningStorage.with(directory) { running in
                let caller = try await running.caller()
                try await caller.write([("a", "1")])
                try await caller.write(.metadataRemove, [])
                try await caller.setLock()
                token = try await caller.acquire(by: .user("anna"))
                try await caller.close()
            }
            try await RunningStorage.with(directory, ["--storage-locks-grace", "0s"]) { running in
                let caller = try await running.caller()
                #expect(try await caller.metadata().majorRevision == 2, "D-10")
                #expect(try await caller.write([("a", "2")]) == 3)
                #expect(try await caller.locks().locks.map(\.owner) == ["anna"])
                #expect(try await caller.acquire(held: token, by: .user("anna", session: 9)) == token)
                #expect(
                    await failure { try await caller.acquire(by: .user("ben", session: 2)) }?.code
                        == .lockAcquireFailed)
                try await caller.close()
            }
        }
    }
}
