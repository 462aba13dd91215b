import NIOCore
import RTMTestSupport
import Testing

@testable import RTMRedis

@Suite("The map of a Redis Cluster")
struct ClusterMapTests {
    static func node(_ number: Int) -> RedisEndpoint { .tcp(host: "node\(number)", port: 7_000) }

    /// An answer to CLUSTER SLOTS.
    static func reply(_ ranges: [SlotMap.Range]) -> RedisReply {
        .array(
            ranges.map { range in
                guard case .tcp(let host, let port) = range.master else { return .null }
                return .array([
                    .integer(range.slots.lowerBound), .integer(range.slots.upperBound),
                    .array([.string(Array(host.utf8)), .integer(port), .string([]), .array([])]),
                    .array([.string(Array("replica".utf8)), .integer(1)]),
                ])
            })
    }

    @Test("ranges are read, gaps are found, and a node that names no host means itself")
    func reads() {
        let asked = Self.node(9)
        let ranges = ClusterSlots.ranges(
            Self.reply([
                .init(slots: 0...99, master: Self.node(1)),
                .init(slots: 101...16_383, master: .tcp(host: "", port: 7_001)),
            ]), asked: asked)
        let map = SlotMap(ranges ?? [])
        #expect(map.master(of: 99) == Self.node(1))
        #expect(map.unserved == 100)
        #expect(map.master(of: 16_383) == .tcp(host: "node9", port: 7_001))
        for bad in [
            RedisReply.null, .array([.integer(1)]), .array([.array([.integer(5), .integer(1), .array([])])]),
            .array([.array([.integer(0), .integer(16_384), .array([.string([]), .integer(1)])])]),
        ] {
            #expect(ClusterSlots.ranges(bad, asked: asked) == nil)
        }
    }

    @Test("a map that says the same is the same, and a master without a slot isn't one")
    func equal() {
        var map = SlotMap([
            .init(slots: 0...8_191, master: Self.node(2)), .init(slots: 8_192...16_383, master: Self.node(1)),
        ])
        let other = SlotMap([
            .init(slots: 8_192...16_383, master: Self.node(1)), .init(slots: 0...8_191, master: Self.node(2)),
        ])
        #expect(map == other)
        map.move(5, to: Self.node(3))
        #expect(map.masters == [Self.node(2), Self.node(3), Self.node(1)])
        map.move(5, to: Self.node(2))
        #expect(map == other)
        #expect(SlotMap(all: Self.node(1)).unserved == nil && SlotMap().unserved == 0)
    }

    @Test("without a doubt a node is asked every 5 seconds, with one after 100 ms, one at a time")
    func pace() {
        var map = ClusterMap(seeds: [Self.node(1)])
        var now = NIODeadline.uptimeNanoseconds(0)
        let all = Self.reply([.init(slots: 0...16_383, master: Self.node(1))])
        #expect(map.passed(now) == [.ask(Self.node(1), number: 1)])
        #expect(map.passed(now) == [])
        #expect(map.answered(1, all, now: now) == [.use(SlotMap(all: Self.node(1)))])
        #expect(map.answered(1, all, now: now) == [])
        #expect(map.passed(now + .milliseconds(4_999)) == [])
        map.doubted(now: now)
        #expect(map.passed(now + .milliseconds(99)) == [])
        now = now + .milliseconds(100)
        #expect(map.passed(now) == [.ask(Self.node(1), number: 2)])
        // What raised the doubt may be younger than the answer.
        map.doubted(now: now)
        #expect(map.answered(2, all, now: now) == [])
        #expect(map.passed(now + .milliseconds(100)) == [.ask(Self.node(1), number: 3)])
        #expect(map.failed(3, "connection refused", now: now) == [])
        #expect(map.cause.contains("connection refused"))
    }

    /// A Cluster as its nodes see it: each one has a view that may be old.
    private struct Cluster {
        let nodes = (1...4).map(node)
        var truth: [Int]
        var views: [[Int]]
        var dead: Set<Int> = []

        init() {
            truth = (0..<16).map { $0 % 4 }
            views = Array(repeating: truth, count: 4)
        }

        /// Slots come in sixteenths.
        static let width = HashSlot.count / 16

        func reply(of node: Int) -> RedisReply {
            ClusterMapTests.reply(
                views[node].enumerated().map { index, owner in
                    .init(
                        slots: (index * Self.width)...((index + 1) * Self.width - 1), master: nodes[owner])
                })
        }

        mutating func change(_ random: inout SeededGenerator) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: dead = dead.isEmpty ? [Int.random(in: 0..<4, using: &random)] : []
            case 1: views[Int.random(in: 0..<4, using: &random)] = truth
            default:
                // A sixteenth moves; the two nodes know it at once, the others later.
                let part = Int.random(in: 0..<16, using: &random)
                let old = truth[part]
                truth[part] = Int.random(in: 0..<4, using: &random)
                for node in [old, truth[part]] { views[node] = truth }
            }
        }
    }

    @Test("moves, dead nodes, old views and lost answers: in the end the map is right", arguments: 1...60)
    func histories(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var cluster = Cluster()
        var map = ClusterMap(seeds: Array(cluster.nodes.prefix(2)))
        var now = NIODeadline.uptimeNanoseconds(0)
        var open: [(endpoint: RedisEndpoint, number: Int)] = []
        var asked = 0
        func follow(_ actions: [LocatorAction]) {
            for case .ask(let endpoint, let number) in actions {
                open.append((endpoint, number))
                asked += 1
            }
        }
        /// A command goes to the master in the map, and follows the redirections of the nodes.
        func send(_ part: Int) -> Bool {
            let slot = part * Cluster.width
            for _ in 0..<8 {
                guard let endpoint = map.slots.master(of: slot),
                    let node = cluster.nodes.firstIndex(of: endpoint), !cluster.dead.contains(node)
                else {
                    map.doubted(now: now)
                    return false
                }
                if cluster.views[node][part] == node { return cluster.truth[part] == node }
                follow(map.moved(slot, to: cluster.nodes[cluster.views[node][part]], now: now))
            }
            return false
        }
        for step in 0..<1_200 {
            now = now + .milliseconds(50)
            if step < 600, random.chance(1, in: 4) { cluster.change(&random) }
            if step == 600 {
                cluster.dead = []
                cluster.views = Array(repeating: cluster.truth, count: 4)
            }
            follow(map.passed(now))
            #expect(open.count <= 1, "one question at a time")
            for question in open {
                let node = cluster.nodes.firstIndex(of: question.endpoint) ?? 0
                let isLost = step < 600 && (cluster.dead.contains(node) || random.chance(1, in: 10))
                follow(
                    isLost
                        ? map.failed(question.number, "lost", now: now)
                        : map.answered(question.number, cluster.reply(of: node), now: now))
            }
            open = []
            _ = send(Int.random(in: 0..<16, using: &random))
        }
        for part in 0..<16 { #expect(send(part), "part \(part)") }
        // 60 seconds, at most one question in 100 ms.
        #expect(asked <= 600)
    }
}
