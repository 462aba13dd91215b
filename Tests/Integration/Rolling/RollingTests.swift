import RTMTestSupport
import Testing

/// A rolling restart, as operators do it: every process is told to stop and is started anew, one after the
/// other, while clients publish and write. `make bench WHAT=rolling` runs it alone.
@Suite(.serialized) struct RollingTests {
    @Test(
        "Every process is restarted in turn under load, two storage nodes among them: nothing is lost, no call is without an end",
        .withPostgreSQL, .ends(withinMinutes: 5))
    func rollingNodes() async throws {
        try await RunningPostgres.with { server in
            try await roll(storage: ["--database", server.url], storageNodes: 2)
        }
    }

    @Test(
        "Every process is restarted in turn under load: nothing is lost, doubled or disordered, and no gap is said",
        .enabled(if: !RunningPostgres.isBuilt, "with PostgreSQL two storage nodes are restarted as well"),
        .ends(withinMinutes: 5))
    func rolling() async throws { try await roll(storage: [], storageNodes: 1) }

    private func roll(storage: [String], storageNodes: Int) async throws {
        let redis = try RedisServerProcess()
        defer { redis.end() }
        try await redis.isListening()
        let journal = ["--redis-endpoints", "unix:\(redis.socket)"]
        let edge = ["--rates-channel-metadata", "0"]
        try await RunningSystem.with(
            .fourProcesses, edge: edge, presence: journal, storage: storage,
            messaging: journal + ["--shards", "4"], messagingNodes: 2
        ) { system in
            let installation = try await RollingInstallation.start(
                in: system, edge: edge, storageNodes: storageNodes)
            try await system.ready()
            let timeline = RollingTimeline()
            let load = try await RollingLoad(installation.clients(12), timeline)
            let writes = try await RollingWrites(
                (0..<8).map { try system.client("writer\($0)") }, timeline)
            try await system.isShared(4)
            let isOver = Shared(false)
            try await timeline.watching(installation.edgeCounters) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await writes.work { isOver.present } }
                    group.addTask {
                        defer { isOver.withLock { $0 = true } }
                        try await load.run {
                            try await installation.restartAll(timeline) { try await load.flows() }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try timeline.write()
            load.judge()
            writes.judge(hasOthers: storageNodes > 1)
            await load.close()
            await writes.close()
        }
    }
}
