import RTMServiceLink
import RTMTestSupport
import Testing

@Suite("The assignment of shards") struct ShardAssignmentTests {
    @Test("all shards have an owner, and no node leads more than one shard more than another")
    func even() {
        for shards in [1, 3, 8, 64] {
            for count in 1...9 {
                let nodes = (0..<count).map { "node-\($0)" }
                let assignment = ShardAssignment(shards: shards, nodes: nodes)
                let preferredLeaders = (0..<shards).compactMap { assignment.preferredLeader(of: $0) }
                let counts = nodes.map { node in preferredLeaders.count { $0 == node } }
                #expect(preferredLeaders.count == shards)
                #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1)
            }
        }
        #expect(ShardAssignment(shards: 2, nodes: []).preferredLeader(of: 1) == nil)
    }

    @Test("a node that comes or goes moves little more than what it takes or leaves")
    func stable() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let count = Int.random(in: 1...6, using: &random)
            let nodes = (0..<count).map { _ in "node-\(UInt32.random(in: 0...9_999_999, using: &random))" }
            let before = ShardAssignment(shards: 32, nodes: nodes)
            let after = ShardAssignment(shards: 32, nodes: nodes + ["another"])
            let moved = (0..<32).count { before.preferredLeader(of: $0) != after.preferredLeader(of: $0) }
            let taken = (0..<32).count { after.preferredLeader(of: $0) == "another" }
            #expect(moved <= taken + 32 / (count + 1) + 1, "\(moved) moved for \(taken), \(count) nodes")
        }
    }

    @Test("a shard that can't be given away doesn't hold up the others")
    func others() {
        var balance = ShardBalance(of: "a", shards: 4, pause: 100)
        balance.learned(["a", "b"], now: 0)
        let offered = [100, 200, 300].compactMap { balance.next(led: [0, 1, 2, 3], now: $0)?.shard }
        let unwanted = (0..<4).filter { !balance.isPreferredLeader(of: $0) }
        #expect(unwanted.count == 2 && offered == unwanted + unwanted.prefix(1))
    }

    @Test("shards move one after the other, and only when the list of nodes stays the same for a while")
    func balance() {
        var balance = ShardBalance(of: "a", shards: 4, pause: 100)
        balance.learned(["a"], now: 0)
        #expect(balance.next(led: [0, 1, 2, 3], now: 1_000) == nil && balance.isPreferredLeader(of: 3))
        balance.learned(["a", "b"], now: 1_000)
        let wanted = (0..<4).filter { balance.isPreferredLeader(of: $0) }
        #expect(wanted.count == 2)
        #expect(balance.next(led: [0, 1, 2, 3], now: 1_099) == nil)
        var led = [0, 1, 2, 3]
        for now in [1_100, 1_200] as [UInt64] {
            guard let (shard, successor) = balance.next(led: led, now: now) else {
                Issue.record("nothing moves")
                return
            }
            #expect(successor == "b" && balance.next(led: led, now: now + 99) == nil)
            led.removeAll { $0 == shard }
        }
        #expect(led == wanted && balance.next(led: led, now: 9_000) == nil)
        #expect((0..<4).allSatisfy { balance.successor(of: $0) == "b" })
        balance.learned(["a"], now: 9_000)
        #expect((0..<4).allSatisfy { balance.isPreferredLeader(of: $0) && balance.successor(of: $0) == "" })
    }
}
