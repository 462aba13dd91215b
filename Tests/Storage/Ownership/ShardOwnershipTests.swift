import RTMServiceLink
import Testing

@testable import RTMStorageServer

@Suite("Which shards a storage node wants") struct ShardOwnershipTests {
    private static let pause: UInt64 = 4_000

    /// Nodes over one database, in a time of their own. Each takes and gives up at once what it decides.
    private struct World {
        let shards: Int
        var owners: [String]
        var nodes: [String: ShardOwnership] = [:]
        /// By name: until when the node's lease holds.
        var leases: [String: UInt64] = [:]
        var leaving: Set<String> = []
        /// Those that have nothing to give to another node any more.
        var hasLeft: Set<String> = []
        var now: UInt64 = 10_000
        /// How often a shard had no owner that lives, in milliseconds.
        var gaps: [UInt64] = []
        private var ownerless: [UInt64?]

        init(shards: Int = 4) {
            self.shards = shards
            owners = Array(repeating: "", count: shards)
            ownerless = Array(repeating: nil, count: shards)
        }

        mutating func start(_ name: String) {
            nodes[name] = ShardOwnership(
                of: name, instance: name, shards: shards, pause: ShardOwnershipTests.pause)
        }

        mutating func kill(_ name: String) { nodes[name] = nil }

        /// - Parameter time: in milliseconds.
        mutating func pass(_ time: UInt64) {
            var due: [String: UInt64] = [:]
            let end = now + time
            while now < end {
                for name in nodes.keys.sorted() where due[name, default: 0] <= now {
                    leases[name] = now + 2_000
                    due[name] = now + look(name)
                }
                for (shard, owner) in owners.enumerated() {
                    if nodes[owner] != nil, let since = ownerless[shard] { gaps.append(now - since) }
                    ownerless[shard] = nodes[owner] == nil ? ownerless[shard] ?? now : nil
                }
                now += 10
            }
        }

        private mutating func look(_ name: String) -> UInt64 {
            let living = leases.filter { $0.value > now }.keys.sorted().map {
                StorageNodes.Node(name: $0, instance: $0, address: "", isLeaving: leaving.contains($0))
            }
            guard let decision = nodes[name]?.learned(StorageNodes(living: living, owners: owners), now: now)
            else { return .max }
            if decision.hasLeft { hasLeft.insert(name) }
            for (shard, isWanted) in decision.wanted.enumerated() {
                let isFree = !(leases[owners[shard]].map { $0 > now } ?? false)
                if isWanted, isFree { owners[shard] = name }
                if !isWanted, owners[shard] == name { owners[shard] = "" }
            }
            return decision.interval
        }

        func count(of name: String) -> Int { owners.filter { $0 == name }.count }
    }

    @Test("the first node takes everything at once; later ones get their share, one shard after the other")
    func share() {
        var world = World(shards: 6)
        world.start("a")
        world.pass(20)
        #expect(world.count(of: "a") == 6)
        world.gaps = []
        world.start("b")
        world.start("c")
        world.pass(Self.pause - 200)
        #expect(world.count(of: "a") == 6, "nothing moves before the nodes have been the same for a while")
        world.pass(500)
        #expect(world.count(of: "a") == 5)
        world.pass(4 * Self.pause)
        #expect(["a", "b", "c"].map { world.count(of: $0) } == [2, 2, 2])
        #expect(world.gaps.allSatisfy { $0 <= 40 }, "\(world.gaps)")
        let settled = world.owners
        world.pass(60_000)
        #expect(world.owners == settled, "nothing moves any more")
    }

    @Test("D-19: a dead node's shards have owners when its lease has ended, and the others keep theirs")
    func killed() {
        var world = World(shards: 6)
        for name in ["a", "b", "c"] { world.start(name) }
        world.pass(30_000)
        world.gaps = []
        let before = world.owners
        world.kill("b")
        world.pass(2_200)
        #expect(world.count(of: "a") + world.count(of: "c") == 6)
        for (shard, owner) in before.enumerated() where owner != "b" { #expect(world.owners[shard] == owner) }
        #expect(world.gaps.count == 2 && world.gaps.allSatisfy { $0 <= 2_200 }, "\(world.gaps)")
        world.start("b")
        world.pass(20_000)
        #expect(
            ["a", "b", "c"].map { world.count(of: $0) } == [2, 2, 2], "who comes back gets its share again")
    }

    @Test("a node that should take a free shard and doesn't is waited for half a second")
    func courtesy() throws {
        let nodes = ["a", "b"].map {
            StorageNodes.Node(name: $0, instance: $0, address: "", isLeaving: false)
        }
        let view = StorageNodes(living: nodes, owners: ["", ""])
        var ownership = ShardOwnership(of: "a", instance: "a", shards: 2, pause: Self.pause)
        let own = (0..<2).map {
            ShardAssignment(shards: 2, nodes: ["a", "b"]).preferredLeader(of: $0) == "a"
        }
        #expect(own.filter(\.self).count == 1)
        #expect(ownership.learned(view, now: 1_000).wanted == own)
        #expect(ownership.learned(view, now: 1_499).wanted == own)
        #expect(ownership.learned(view, now: 1_500).wanted == [true, true])
    }

    @Test("who is about to end gives up everything when the others know it, and they take it at once")
    func leaving() {
        var world = World()
        for name in ["a", "b"] { world.start(name) }
        world.pass(30_000)
        #expect(world.count(of: "a") == 2)
        world.gaps = []
        world.leaving = ["a"]
        world.pass(100)
        #expect(world.count(of: "a") == 2, "the others may not have looked yet")
        #expect(!world.hasLeft.contains("a"))
        world.pass(300)
        #expect(world.count(of: "b") == 4)
        #expect(world.gaps.allSatisfy { $0 <= 20 }, "\(world.gaps)")
        #expect(world.hasLeft == ["a"])
        world.pass(60_000)
        #expect(world.count(of: "b") == 4, "who is about to end takes nothing")
    }

    @Test("who is about to end keeps its shards to the end if there is nobody else to lead them")
    func leavingAlone() {
        var world = World()
        for name in ["a", "b"] { world.start(name) }
        world.pass(30_000)
        world.leaving = ["a", "b"]
        world.pass(1_000)
        #expect(world.count(of: "a") == 2 && world.count(of: "b") == 2)
        #expect(world.hasLeft == ["a", "b"])
    }

    @Test("a shard that was given up and that nobody takes is taken back")
    func refused() {
        var world = World()
        world.start("a")
        world.pass(100)
        // It keeps its lease, and takes nothing.
        world.leases["b"] = .max
        world.pass(Self.pause + 1_000)
        #expect(world.count(of: "a") == 3)
        world.pass(1_500)
        #expect(world.count(of: "a") == 4)
    }

    @Test("a node whose place another process has takes nothing")
    func displaced() {
        let other = StorageNodes.Node(name: "a", instance: "other", address: "", isLeaving: false)
        var ownership = ShardOwnership(of: "a", instance: "a", shards: 2, pause: Self.pause)
        let view = StorageNodes(living: [other], owners: ["", "a"])
        #expect(ownership.learned(view, now: 0).wanted == [false, true])
        #expect(ownership.learned(view, now: 9_000).wanted == [false, true])
    }
}
