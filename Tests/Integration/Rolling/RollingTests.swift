import RTMTestSupport
import Testing

/// A rolling restart, as operators do it: every process is told to stop and is started anew, one after the
/// other, while clients publish. `make rolling` runs it alone.
@Suite(.serialized) struct RollingTests {
    @Test(
        "Every process is restarted in turn under load: nothing is lost, doubled or disordered, and no gap is said",
        .ends(withinMinutes: 5))
    func rolling() async throws {
        let redis = try RedisServerProcess()
        defer { redis.end() }
        try await redis.isListening()
        let journal = ["--redis-endpoints", "unix:\(redis.socket)"]
        try await RunningSystem.with(
            .fourProcesses, presence: journal, messaging: journal + ["--shards", "4"], messagingNodes: 2
        ) { system in
            let installation = try await RollingInstallation.start(in: system)
            try await system.ready()
            let timeline = RollingTimeline()
            let load = try await RollingLoad(installation.clients(12), timeline)
            try await system.isShared(4)
            try await timeline.watching(installation.edgeCounters) {
                try await load.run { try await installation.restartAll(timeline) { try await load.flows() } }
            }
            try timeline.write()
            load.judge()
            await load.close()
        }
    }
}
