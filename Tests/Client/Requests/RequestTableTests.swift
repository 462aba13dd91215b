import RTMModel
import RTMProtocol
import Testing

@testable import RTMClient

struct RequestTableTests {
    private let start = ContinuousClock.now

    private struct Named: Request {
        var operation: Operation { .ping }
        func answered(_ body: ServerBody) -> Bool { true }
        func refused(_ error: RTMError) {}
        func givenUp(_ error: RTMError) -> LateAnswer? { nil }
        func lost(_ reason: String) {}
    }

    private func table(_ deadlines: [UInt64: Duration?]) -> RequestTable {
        var table = RequestTable()
        for (id, time) in deadlines.sorted(by: { $0.key < $1.key }) {
            table.add(id, Named(), deadline: time.map { start + $0 })
        }
        return table
    }

    private func expired(_ table: inout RequestTable, at time: Duration) -> [UInt64] {
        var ids: [UInt64] = []
        while let (id, _) = table.takeExpired(now: start + time) { ids.append(id) }
        return ids
    }

    @Test func `A request is taken once`() {
        var table = table([1: .seconds(10)])
        #expect(table[1] != nil)
        #expect(table.take(1) != nil)
        #expect(table.take(1) == nil)
        #expect(table.deadline == nil)
    }

    @Test func `Requests expire when their time is over, and not before`() {
        var table = table([1: .seconds(10), 2: .seconds(11)])
        #expect(expired(&table, at: .seconds(9)).isEmpty)
        #expect(expired(&table, at: .seconds(10)) == [1])
        #expect(table.deadline == start + .seconds(11))
        #expect(expired(&table, at: .seconds(11)) == [2])
    }

    @Test func `A request with less time than those before it expires first`() {
        var table = table([1: .seconds(10), 2: .seconds(10), 3: .seconds(5)])
        #expect(table.deadline == start + .seconds(5))
        #expect(expired(&table, at: .seconds(5)) == [3])
        #expect(expired(&table, at: .seconds(10)) == [1, 2])
    }

    @Test func `A request without a deadline never expires`() {
        var table = table([1: Duration?.none])
        #expect(table.deadline == nil)
        #expect(expired(&table, at: .seconds(1_000)).isEmpty)
        #expect(table[1] != nil)
    }

    @Test func `An answered request leaves no deadline behind`() {
        var table = table([1: .seconds(10), 2: .seconds(11), 3: .seconds(12)])
        table.take(2)
        table.take(1)
        #expect(table.deadline == start + .seconds(12))
    }

    @Test func `What is kept when all are taken keeps its time`() {
        var table = table([1: .seconds(10), 2: .seconds(11), 3: Duration?.none, 4: .seconds(12)])
        #expect(table.takeAll(except: [2, 3]).map(\.id) == [1, 4])
        #expect(table.deadline == start + .seconds(11))
        #expect(table[3] != nil)
        #expect(expired(&table, at: .seconds(11)) == [2])
    }

    @Test func `The table is full at its limit`() {
        var table = RequestTable()
        for id in 1...UInt64(RequestTable.capacity) { table.add(id, Named(), deadline: nil) }
        #expect(table.isFull)
        table.take(1)
        #expect(!table.isFull)
    }
}
