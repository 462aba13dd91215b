import RTMRedis
import RTMTestSupport
import Synchronization
import Testing

/// The client over a real Redis Cluster of three masters and three replicas.
@Suite("A client of a Redis Cluster", .serialized, .overRedisCluster)
struct ClusterClientTests {
    /// Adds one to two keys, of which the second never exists before.
    private static let count = RedisScript(
        name: "count",
        source: """
            redis.call('SET', KEYS[2], 1)
            redis.call('DEL', KEYS[2])
            return redis.call('INCR', KEYS[1])
            """)

    private func with(_ body: (RedisClusterProcess, ClientHarness) async throws -> Void) async throws {
        let cluster = try #require(RedisClusterProcess.shared)
        let seeds = cluster.nodes.suffix(2).map { RedisEndpoint.tcp(host: "127.0.0.1", port: $0.port) }
        try await ClientHarness.with(.cluster(seeds: seeds), scripts: [Self.count]) { client in
            try await client.isUp()
            try await body(cluster, client)
        }
    }

    /// Counts in keys of the slot while the body runs, and returns how many calls were answered and how many
    /// failed.
    private func counting(
        _ client: ClientHarness, tag: String, while body: () async throws -> Void
    ) async throws -> (answered: Int, failed: Int) {
        let isOver = Shared(false)
        let sums = Shared((answered: 0, failed: 0))
        try await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                group.addTask {
                    while !isOver.present {
                        let keys = ["{\(tag)}:\(worker)", "{\(tag)}:absent\(worker)"]
                        do {
                            if worker < 2 {
                                try await client.send("INCR", keys[0])
                            } else {
                                try await client.send(RedisCommand(Self.count, keys: keys, []))
                            }
                            sums.withLock { $0.answered += 1 }
                        } catch {
                            sums.withLock { $0.failed += 1 }
                        }
                    }
                }
            }
            do {
                try await eventually("calls are answered") { sums.present.answered > 50 }
                try await body()
                let reached = sums.present.answered
                try await eventually("calls are answered again") { sums.present.answered > reached + 50 }
            } catch {
                isOver.withLock { $0 = true }
                throw error
            }
            isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
        return sums.present
    }

    private func sum(_ client: ClientHarness, tag: String) async throws -> Int {
        var sum = 0
        for worker in 0..<4 {
            sum += Int(try await client.send("GET", "{\(tag)}:\(worker)").number ?? 0)
        }
        return sum
    }

    @Test("seeds that are replicas lead to all masters, and every key to its own")
    func everyMaster() async throws {
        try await with { cluster, client in
            for number in 0..<200 { try await client.send("SET", "key\(number)", "\(number)") }
            for number in 0..<200 {
                #expect(try await client.send("GET", "key\(number)").string == "\(number)")
            }
            let state = try await client.state
            #expect(state.masters == 3 && state.ups == 1 && state.redirections == [])
            let sizes = try cluster.nodes.prefix(3).map { try $0.command("DBSIZE") }
            #expect(sizes.allSatisfy { $0 != "0\n" })
        }
    }

    @Test("a slot that moves under load: every call is done once, and none fails")
    func slotMoves() async throws {
        try await with { cluster, client in
            let sums = try await counting(client, tag: "moving") {
                try await cluster.move(HashSlot.of("moving")) {
                    try await eventually("calls wait or go elsewhere") {
                        try await client.state.redirections.contains(.tryAgain)
                    }
                }
            }
            #expect(sums.failed == 0)
            #expect(try await sum(client, tag: "moving") == sums.answered)
            let state = try await client.state
            #expect(state.redirections.isSuperset(of: [.moved, .tryAgain]) && state.ups == 1)
        }
    }

    @Test("a planned failover under load: what was answered is there, and the new master is used")
    func failsOver() async throws {
        try await with { cluster, client in
            let sums = try await counting(client, tag: "planned") {
                try await cluster.failOver(HashSlot.of("planned"))
            }
            #expect(try await sum(client, tag: "planned") >= sums.answered)
            try await client.isUp()
            #expect(try await client.state.ups >= 2, "who keeps data has to look after them")
        }
    }

    @Test("a master that may delete keys, or a slot without a master, is the cause, with what to set")
    func causes() async throws {
        try await with { cluster, client in
            let victim = try cluster.node(cluster.master(of: 100))
            try victim.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
            try await eventually("the policy is the cause", within: .seconds(20)) {
                let cause = try await client.state.cause
                return cause.contains("set maxmemory-policy noeviction") && cause.contains(":\(victim.port)")
            }
            try victim.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
            try await client.isUp()
            for node in cluster.nodes { _ = try? node.command("CLUSTER", "DELSLOTS", "100") }
            try await eventually("the slot is the cause", within: .seconds(20)) {
                try await client.state.cause.contains("serves slot 100: give every slot to a master")
            }
            try victim.command("CLUSTER", "ADDSLOTS", "100")
            try await client.isUp()
        }
        let node = try #require(RedisClusterProcess.shared?.nodes.first)
        try await ClientHarness.with(.server(.tcp(host: "127.0.0.1", port: node.port))) { client in
            try await eventually("the mode is the cause") {
                try await client.state.cause.contains("set redis.mode to cluster")
            }
        }
    }

    @Test("a killed master: the calls to the others go on, and its replica takes over by itself")
    func masterDies() async throws {
        try await with { cluster, client in
            let dying = HashSlot.of("dying")
            let living = try #require(
                (0..<100).map { "other\($0)" }.first { key in
                    (try? cluster.master(of: HashSlot.of(key)).id) != (try? cluster.master(of: dying).id)
                })
            let sums = try await counting(client, tag: "dying") {
                try await cluster.killMaster(of: dying)
                try await client.send("INCR", living)
            }
            #expect(sums.failed > 0)
            try await client.isUp()
            #expect(try await client.state.ups >= 2)
            #expect(try await sum(client, tag: "dying") > 0)
        }
    }
}
