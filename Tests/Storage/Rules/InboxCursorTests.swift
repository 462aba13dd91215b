import Testing

@testable import RTMStorageServer

@Suite("How far the inbox is drained")
struct InboxCursorTests {
    private func snapshot(_ text: String) -> InboxSnapshot { InboxSnapshot(text: text) }

    private func found(
        _ text: String, lastID: Int64, row: Int64? = nil, hasMore: Bool = false
    ) -> InboxCursor.Found {
        .init(snapshot: snapshot(text), lastID: lastID, lastRow: row, hasMore: hasMore)
    }

    @Test("a snapshot names the transactions that were running, and the first that had not ended")
    func snapshots() {
        #expect(snapshot("10:14:10,12").running == ["10", "12"])
        #expect(snapshot("14:14:").running == [])
        #expect(snapshot("10:14:10,12").withoutRunning == snapshot("14:14:"))
    }

    @Test("a read that finds nothing moves the snapshot and nothing that has to be kept")
    func nothing() {
        let cursor = InboxCursor(number: 3, before: snapshot("5:5:"), floor: 7)
        let next = cursor.following(found("9:9:", lastID: 20))
        #expect(next.number == 3 && next.before == snapshot("9:9:") && next.open == nil)
        // Transactions with ids up to 20 may run unseen behind the end of the snapshot.
        #expect(next.floor == 7)
    }

    @Test("the floor follows one kept page behind: only behind it all older transactions are seen")
    func floor() {
        var cursor = InboxCursor(number: 0, before: snapshot("5:5:"), floor: 0)
        cursor = cursor.following(found("6:6:", lastID: 8, row: 8))
        #expect(cursor.number == 1 && cursor.floor == 0)
        cursor = cursor.following(found("7:7:", lastID: 9))
        #expect(cursor.number == 1 && cursor.floor == 8)
        cursor = cursor.following(found("8:8:", lastID: 12, row: 11))
        #expect(cursor.number == 2 && cursor.floor == 8)
        #expect(cursor.following(found("9:9:", lastID: 12)).floor == 12)
    }

    @Test("a large batch is read in pages up to the snapshot of its first page")
    func pages() {
        let start = InboxCursor(number: 0, before: snapshot("5:5:"), floor: 2)
        let first = start.following(found("9:9:", lastID: 50, row: 10, hasMore: true))
        #expect(first.number == 1 && first.before == start.before && first.floor == 2)
        #expect(first.open == .init(until: snapshot("9:9:"), floor: 2, after: 10) && first.after == 10)
        let second = first.following(found("12:12:", lastID: 60, row: 20, hasMore: true))
        #expect(second.open == .init(until: snapshot("9:9:"), floor: 2, after: 20))
        let last = second.following(found("13:13:", lastID: 70, row: 30))
        #expect(last.number == 3 && last.open == nil && last.before == snapshot("9:9:") && last.floor == 2)
        // The last page may have been full by chance.
        let empty = second.following(found("13:13:", lastID: 70))
        #expect(empty.number == 2 && empty.open == nil && empty.before == snapshot("9:9:"))
    }

    @Test(
        "the inbox is read every 2 ms while messages come, every 8 ms for ten minutes, then every 100 ms; every second where none has ever come"
    )
    func pace() {
        var pace = InboxPace(now: 1_000)
        #expect(pace.due == 1_000)
        pace.drained(0, hasMore: false, isUsed: false, begin: 1_000, now: 1_001)
        #expect(pace.due == 2_001)
        pace.drained(0, hasMore: false, isUsed: true, begin: 2_001, now: 2_001)
        #expect(pace.due == 2_101)
        pace.drained(5, hasMore: false, isUsed: true, begin: 2_101, now: 2_103)
        #expect(pace.due == 2_105)
        pace.drained(0, hasMore: false, isUsed: true, begin: 3_103, now: 3_103)
        #expect(pace.due == 3_111)
        pace.drained(0, hasMore: false, isUsed: true, begin: 602_103, now: 602_103)
        #expect(pace.due == 602_203)
        pace.drained(9, hasMore: true, isUsed: true, begin: 602_203, now: 602_210)
        #expect(pace.due == 602_210 && pace.lag(now: 602_303) == 200)
        pace.failed(now: 602_300)
        #expect(pace.due == 602_400)
    }

    @Test("pages become smaller until a message is alone that can't be kept, and then larger again")
    func refused() {
        var pace = InboxPace(now: 0)
        var sizes: [Int] = []
        while pace.rows > 1 {
            pace.refused(now: 1)
            sizes.append(pace.rows)
        }
        #expect(sizes == [250, 31, 3, 1] && pace.due == 1)
        for _ in 0..<20 { pace.drained(1, hasMore: true, isUsed: true, begin: 1, now: 1) }
        #expect(pace.rows == InboxPace.rowsMax)
    }
}
