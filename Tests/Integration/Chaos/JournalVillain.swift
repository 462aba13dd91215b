import RTMTestSupport

/// What befalls the Redis that keeps the journal of several messaging nodes. The leaders write again what it
/// has lost, so a strike ends when they had the time for that: whoever dies before is a second failure.
enum JournalVillain: Sendable {
    case server(RedisServerProcess)
    case cluster(RedisClusterProcess)

    /// The option of messaging that names it.
    var options: [String] {
        switch self {
        case .server(let redis): ["--redis-endpoints", "unix:\(redis.socket)"]
        case .cluster(let cluster):
            [
                "--redis-mode", "cluster", "--redis-endpoints",
                cluster.nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ","),
            ]
        }
    }

    func strike(_ random: inout SeededGenerator) async throws {
        switch self {
        case .server(let redis): try redis.command(["FLUSHALL"])
        case .cluster(let cluster):
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
                master.goOn()
                try await cluster.isWhole()
            }
        }
        await letPass(.seconds(2))
    }
}
