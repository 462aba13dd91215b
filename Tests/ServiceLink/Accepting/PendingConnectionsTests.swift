import RTMTestSupport
import Testing

@testable import RTMServiceLink

@Suite("Connections without a login make room")
struct PendingConnectionsTests {
    private final class Member: PendingConnection {
        let number: Int
        let address: String
        var isUnauthenticated = true

        init(_ number: Int, from address: String = "a") { (self.number, self.address) = (number, address) }
    }

    @Test("the oldest goes first; who has logged in, or has gone, stays out of it")
    func oldest() {
        var unauthenticated = PendingConnections<Member>()
        let members = (0..<4).map { Member($0) }
        for member in members { unauthenticated.add(member) }
        members[0].isUnauthenticated = false
        members[2].isUnauthenticated = false
        let taken = (0..<3).map { _ in unauthenticated.takeOldest()?.number }
        #expect(taken == [1, 3, nil])
    }

    @Test("of a certain address")
    func address() {
        var unauthenticated = PendingConnections<Member>()
        let members = ["a", "b", "b", "a"].enumerated().map { Member($0, from: $1) }
        for member in members { unauthenticated.add(member) }
        members[1].isUnauthenticated = false
        let taken = ["b", "b", "a", nil].map { unauthenticated.takeOldest(from: $0)?.number }
        #expect(taken == [2, nil, 0, 3])
    }

    @Test("generated: the oldest stranger is found, and members that are none don't pile up behind one")
    func generated() {
        var random = SeededGenerator(seed: 7)
        var unauthenticated = PendingConnections<Member>()
        var model: [Member] = []
        for number in 0..<20_000 {
            let member = Member(number)
            unauthenticated.add(member)
            model.append(member)
            // The first one says nothing for as long as it may; most others log in at once.
            if number != 0, random.chance(99, in: 100) { member.isUnauthenticated = false }
            model.removeAll { !$0.isUnauthenticated }
            #expect(unauthenticated.count <= 2 * model.count + 64)
            if random.chance(1, in: 500) {
                let oldest = unauthenticated.takeOldest()
                #expect(oldest === model.first)
                if !model.isEmpty { model.removeFirst() }
            }
        }
    }
}
