import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("What an operator asks for, and what the answers are made of")
struct OperatorViewTests {
    @Test("a query names an app, a user, a limit and a place; everything else is refused in a sentence")
    func query() throws {
        let query = try SessionQuery(["app": "dev", "user": "anna", "limit": "1000", "after": "3-4711"])
        #expect(query.appID == "dev" && query.userID == "anna" && query.rows == 1_000)
        #expect(query.from == SessionQuery.Place(loop: 3, slot: 4_711) && query.from.text == "3-4711")
        #expect(try SessionQuery([:]).rows == 100)
        for (refused, reason) in [
            (["limit": "1001"], "1 to 1000"), (["limit": "0"], "1 to 1000"), (["limit": "many"], "1 to 1000"),
            (["after": "3"], "\"next\""), (["after": "-1-2"], "\"next\""), (["after": "1-2-3"], "\"next\""),
            (["users": "anna"], "no parameter \"users\"; there are app, user, limit, after"),
        ] {
            let refusal = #expect(throws: QueryRefusal.self) { try SessionQuery(refused) }
            #expect(refusal?.reason.contains(reason) == true, "\(refused)")
        }
    }

    @Test("the largest of many are found in their order, whatever the order is in which they come")
    func top() {
        var generator = SystemRandomNumberGenerator()
        for count in [0, 1, 7, 50, 1_000] {
            let values = (0..<count).map { Double($0) }.shuffled(using: &generator)
            var list = TopList<String>(7)
            for value in values { list.add("\(Int(value))", value) }
            let expected = values.filter { $0 > 0 }.sorted(by: >).prefix(7)
            #expect(list.largest().map(\.value) == Array(expected))
            #expect(list.largest().map(\.element) == expected.map { "\(Int($0))" })
        }
    }

    @Test("the last end of a user is the newest of those that are remembered; the oldest makes room")
    func ends() {
        var ends = SessionEnds(now: 0)
        func end(_ user: String, _ number: Int, app: String = "dev") -> SessionEnds.End {
            .init(
                appID: app, userID: user, session: UInt64(number), at: UInt64(number), address: "192.0.2.1",
                cause: "loggedOut")
        }
        #expect(ends.last(of: "anna", in: nil) == nil)
        ends.append(end("anna", 1))
        ends.append(end("anna", 2))
        ends.append(end("anna", 3, app: "other"))
        #expect(ends.last(of: "anna", in: "dev")?.session == 2)
        #expect(ends.last(of: "anna", in: nil)?.session == 3)
        for number in 4..<4 + SessionEnds.countMax - 3 { ends.append(end("ben", number)) }
        #expect(ends.last(of: "anna", in: "dev")?.session == 2, "the ring is just full")
        for number in 5_000..<5_002 { ends.append(end("cleo", number)) }
        #expect(ends.last(of: "anna", in: "dev") == nil)
        #expect(ends.last(of: "anna", in: nil)?.session == 3)
        #expect(ends.last(of: "cleo", in: "dev")?.session == 5_001)
    }

    @Test("a turn of a loop makes a limited number of rows, and the next turn goes on behind them")
    func turns() throws {
        let fixture = EdgeFixture()
        let clients = (0..<120).map { fixture.client("user\($0)") }
        let all = try SessionQuery([:])
        let first = fixture.edge.sessions(all, from: 0, rows: 1_000)
        #expect(first.found.count == 100 && first.next == 100)
        let second = fixture.edge.sessions(all, from: try #require(first.next), rows: 1_000)
        #expect(second.found.count == 20 && second.next == nil)
        #expect(Set((first.found + second.found).map(\.json)).count == 120)
        let one = fixture.edge.sessions(try SessionQuery(["user": "user110"]), from: 0, rows: 1_000)
        #expect(one.found.count == 1 && one.next == nil)
        // The inbox is a channel, too.
        #expect(one.found.first?.rows == 2 && one.found.first?.json.contains("\"type\":\"user\"") == true)
        let other = try SessionQuery(["app": "other", "user": "user110"])
        #expect(fixture.edge.sessions(other, from: 0, rows: 1_000).found.isEmpty)
        clients[110].vanish()
        #expect(fixture.edge.sessions(try SessionQuery(["user": "user110"]), from: 0, rows: 1).found.isEmpty)
        #expect(
            fixture.edge.sessionLog.ends.last(of: "user110", in: "app")?.cause == "the connection was lost")
        #expect(fixture.edge.sessions(all, from: 5_000, rows: 1).next == nil, "there is no such slot")
        fixture.end()
    }

    @Test("names of clients are kept once each, and one beyond the limit is unknown")
    func names() {
        var names = ClientNames()
        func number(_ name: String) -> UInt8 { name.withWireText { names.number(of: $0) } }
        #expect(number("") == 0)
        let numbers = (0..<300).map { number("client \($0)") }
        #expect(Set(numbers.prefix(255)).count == 255 && !numbers.prefix(255).contains(0))
        #expect(numbers.dropFirst(255).allSatisfy { $0 == 0 })
        #expect(names[number("client 254")] == "client 254" && names[0] == "")
    }
}
