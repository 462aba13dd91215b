import RTMTestSupport

/// What befalls the Redis that keeps the journal of several messaging nodes. The leaders write again what it
/// has lost, so a strike ends when they had the time for that: whoever dies before is a second failure.
enum JournalVillain: Sendable {
    case server(RedisServerProcess)
    case cluster(RedisClusterProcess)
    /// A master behind sentinels. Presence has its rosters there, too.
    case sentinels(RedisSentinelProcess, durability: String)
    /// A server with an append-only file, in which it has a message before that is acknowledged.
    case disk(Shared<RedisServerProcess>)

    /// The options of messaging that name it.
    var options: [String] {
        switch self {
        case .server(let redis): ["--redis-endpoints", "unix:\(redis.socket)"]
        case .cluster(let cluster):
            [
                "--redis-mode", "cluster", "--redis-endpoints",
                cluster.nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ","),
            ]
        case .sentinels(_, let durability): presenceOptions + ["--durability", durability]
        case .disk(let redis):
            ["--redis-endpoints", "unix:\(redis.present.socket)", "--durability", "disk"]
        }
    }

    /// The options of presence that name it; none if presence keeps its rosters in memory.
    var presenceOptions: [String] {
        guard case .sentinels(let process, _) = self else { return [] }
        return process.clientOptions
    }

    /// - Parameter nodesDie: what kills every messaging node and starts them again when the inner body has
    ///   returned. It is called where the operator has chosen that Redis and a leader may die together.
    func strike(
        _ random: inout SeededGenerator,
        nodesDie: @escaping (_ meanwhile: () async throws -> Void) async throws -> Void
    ) async throws {
        switch self {
        case .server(let redis): try redis.command(["FLUSHALL"])
        case .cluster(let cluster): try await strike(cluster, &random)
        case .sentinels(let process, let durability):
            try await strike(process, isDouble: durability == "replica", &random, nodesDie)
        case .disk(let redis): try await strike(redis, &random, nodesDie)
        }
        await letPass(.seconds(2))
    }

    private func strike(_ cluster: RedisClusterProcess, _ random: inout SeededGenerator) async throws {
        let slot = try cluster.slot(ofKey: "*journal*")
        let master = try cluster.node(try cluster.master(of: slot))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try await cluster.failOver(slot)
        case 1: try await cluster.move(slot)
        case 2: try master.command("FLUSHALL")
        default:
            // Shorter than the time after which its replica takes over, or longer.
            master.pause()
            await letPass(.milliseconds(Int.random(in: 200...2_500, using: &random)))
            master.resume()
            try await cluster.isWhole()
        }
    }

    private func strike(
        _ process: RedisSentinelProcess, isDouble: Bool, _ random: inout SeededGenerator,
        _ nodesDie: (_ meanwhile: () async throws -> Void) async throws -> Void
    ) async throws {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: try await process.failOver()
        case 3:
            // The first master is chosen again before it has become a replica.
            try await process.chooseOther()
            await letPass(.milliseconds(Int.random(in: 3_000...9_000, using: &random)))
            try await process.failOver()
        case 1:
            // Shorter than the time after which its replica takes over, just as long, or so long that all
            // have left it.
            let pauses = [200...600, 1_000...4_500, 4_500...6_000]
            let master = try process.master()
            master.pause()
            let pause = pauses.randomElement(using: &random) ?? 200...600
            await letPass(.milliseconds(Int.random(in: pause, using: &random)))
            master.resume()
            try await process.isReplicated()
        case 2 where isDouble: try await nodesDie { try await process.replaceMaster() }
        default: try await process.replaceMaster()
        }
    }

    /// What was acknowledged is in the file of Redis, so it may die alone or together with all leaders.
    private func strike(
        _ redis: Shared<RedisServerProcess>, _ random: inout SeededGenerator,
        _ nodesDie: (_ meanwhile: () async throws -> Void) async throws -> Void
    ) async throws {
        let pause = Duration.milliseconds(Int.random(in: 0...1_500, using: &random))
        let restart = {
            redis.present.end()
            await letPass(pause)
            let back = try redis.present.again()
            redis.withLock { $0 = back }
            try await back.isListening()
        }
        if random.chance(2, in: 3) { try await nodesDie(restart) } else { try await restart() }
    }
}
