import RTMClient
import RTMTestSupport
import Testing

/// The promises of presence and storage on real processes: whatever dies or stands still, and however old the
/// data are with which Redis comes back, everybody knows in the end who is there and with which states. No
/// write is lost or twice, no lock has two owners, and what was stored is in the history once and in order.
///
/// `make soak WHAT=chaos` runs it as long as the other one.
@Suite(.serialized) struct ServiceChaosTests {
    private static let count = 8
    private static let presence = ["--debounce", "0s", "--lease-ttl", "3s"]

    @Test("Presence, storage and Redis are killed, stopped and set back under eight users of everything")
    func chaos() async throws {
        let seed = ChaosSettings.seed
        let redis = try RedisServerProcess()
        try await redis.isListening()
        try await RunningSystem.with(
            .fourProcesses, edge: ["--rates-channel-metadata", "0", "--rates-acquire-lock", "0"],
            presence: Self.presence + ["--redis-endpoints", "unix:\(redis.socket)"]
        ) { system in
            let villain = ServiceVillain(system, redis)
            defer { villain.end() }
            let crowd = try await ChaosCrowd(
                (0..<Self.count).map { number in
                    try system.client("user\(number)") { $0.requestTimeout = .seconds(5) }
                }, seed: seed)
            try await Self.rage(villain, crowd, seed)
            try await crowd.settle()
            try await crowd.judge()
            ChaosSettings.report("seed \(seed): \(crowd.summary), \(villain.deeds)")
            await crowd.close()
        }
    }

    private static func rage(_ villain: ServiceVillain, _ crowd: ChaosCrowd, _ seed: UInt64) async throws {
        let end = ContinuousClock.now + ChaosSettings.duration
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var random = SeededGenerator(seed: seed)
                try await villain.rage(until: end, &random)
            }
            group.addTask { await crowd.work { ContinuousClock.now >= end } }
            try await group.waitForAll()
        }
    }
}
