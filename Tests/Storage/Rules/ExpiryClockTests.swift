import RTMModel
import RTMServiceKit
import RTMWire
import Testing

@testable import RTMStorageServer

@Suite("The clock by which messages expire")
struct ExpiryClockTests {
    private let day: UInt64 = 86_400_000
    private let start: UInt64 = 1_800_000_000_000

    @Test("it follows the time of day")
    func follows() {
        var clock = ExpiryClock(stored: nil, now: StorageNow(wall: start, steady: 5))
        #expect(clock.advance(to: StorageNow(wall: start + 1_000, steady: 1_005)) == start + 1_000)
    }

    @Test("H-14: a leap of 200 days for an hour gains a day at most, and a step back changes nothing")
    func leap() {
        var clock = ExpiryClock(stored: nil, now: StorageNow(wall: start, steady: 0))
        for minute in 1...60 as ClosedRange<UInt64> {
            let now = StorageNow(wall: start + 200 * day + minute * 60_000, steady: minute * 60_000)
            _ = clock.advance(to: now)
        }
        #expect(clock.reached <= start + day)
        let before = clock.reached
        let back = StorageNow(wall: start + 3_600_000, steady: 3_600_001)
        #expect(clock.advance(to: back) == back.wall)
        #expect(clock.reached == before)
    }

    @Test("H-14: a clock that was ahead removes nothing that is stored after it was set right")
    func setRight() {
        var clock = ExpiryClock(stored: nil, now: StorageNow(wall: start + 30 * day, steady: 0))
        let corrected = StorageNow(wall: start, steady: 5_000)
        #expect(clock.advance(to: corrected) == start)
        let later = StorageNow(wall: start + 8 * day, steady: 5_000 + 8 * day)
        #expect(clock.advance(to: later) == start + 8 * day)
    }

    @Test("after a long rest it catches up, a day in an hour, from where it was stored")
    func rest() {
        var clock = ExpiryClock(stored: start, now: StorageNow(wall: start + 10 * day, steady: 0))
        #expect(clock.advance(to: StorageNow(wall: start + 10 * day, steady: 0)) == start)
        #expect(clock.advance(to: StorageNow(wall: start + 10 * day, steady: 3_600_000)) == start + day)
        let later = StorageNow(wall: start + 11 * day, steady: 24 * 3_600_000)
        #expect(clock.advance(to: later) == start + 11 * day)
    }

    @Test("H-14: a clock that leaps ahead and comes back deletes nothing, in any run of the service")
    func nothingLost() async throws {
        try await withDirectory { directory in
            let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
            let content = HistoryMessage(
                type: .binary, payload: [1], customType: "", publisher: "anna", timestampMilliseconds: start)
            let message = StoredMessage(
                channel: .message("lobby"), content: content, expiry: start + 7 * day)
            func run(_ works: [any StorageChange], at now: StorageNow, openedAt: StorageNow) throws -> Int? {
                let store = try SQLiteWriter(options)
                var writer = try StorageWriter(store, rules: StorageRules(), now: openedAt)
                defer { writer.close() }
                return writer.run(works.map { StorageWrite($0) }, now: now).expired
            }
            let now = StorageNow(wall: start, steady: 1)
            let leapt = StorageNow(wall: start + 200 * day, steady: 60_001)
            let remove = ExpiredHistory(limit: 9)
            let before = try run([message, remove], at: now, openedAt: now)
            let whileWrong = try run([remove], at: leapt, openedAt: now)
            // A service that starts while the clock is wrong knows how far it was before.
            let startedWrong = try run([remove], at: leapt, openedAt: leapt)
            #expect([before, whileWrong, startedWrong] == [0, 0, 0])
            let due = StorageNow(wall: start + 8 * day, steady: 8 * day)
            let atLast = try run([remove], at: due, openedAt: now)
            #expect(atLast == 1)
        }
    }
}
