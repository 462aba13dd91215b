import Foundation
import RTMClient
import RTMTestSupport
import Synchronization
import Testing

/// The promise of the whole, on real processes: whatever dies and whichever line breaks, every subscriber
/// receives the log, once and in its order, or is informed of the gap; and every call comes to its end.
///
/// `make soak WHAT=chaos` runs it for ten minutes, and `MINUTES=60 SEED=1` behind it for another time and
/// with a chosen seed. A failure names its seed.
@Suite(.serialized) struct ChaosTests {
    /// No call may take longer: the time for one request, and for its connection before that.
    private static let callMax = Duration.seconds(30)

    /// What has been published so far, and by whom.
    private final class Ledger: Sendable {
        let published = Mutex<[DeliveryRecord.Published]>([])
        let complaints = Mutex<[String]>([])
        let callsOpen = Mutex(0)

        func publish(_ text: String, to channel: String, by client: any ChaosClient) async
            -> DeliveryRecord.Outcome
        {
            callsOpen.withLock { $0 += 1 }
            let start = ContinuousClock.now
            let outcome = await client.publish(text, to: channel)
            let time = ContinuousClock.now - start
            if time > ChaosTests.callMax {
                complaints.withLock { $0.append("'\(text)' took \(time)") }
            }
            published.withLock {
                $0.append(.init(text: text, publisher: client.user, channel: channel, outcome: outcome))
            }
            callsOpen.withLock { $0 -= 1 }
            return outcome
        }
    }

    @Test(
        "Edges and messaging are killed, lines cut, stalled and delayed: 20 clients receive the log, once, in order"
    )
    func chaos() async throws {
        try await TestCertificate.with { certificate in
            try await RunningSystem.with(.fourProcesses) { system in
                let chaos = try await ChaosSystem.start(in: system, certificate)
                try await Self.run(chaos, ChaosSettings.seed)
            }
        }
    }

    @Test(
        "rtm-standalone is killed: what it stored and locked is there, and gaps are told where logs ended")
    func standalone() async throws {
        try await TestCertificate.with { certificate in
            let options = ["--edge-rates-channel-metadata", "0", "--edge-rates-acquire-lock", "0"]
            try await ChaosSystem.withStandalone(options, presence: ["--debounce", "0s"], certificate) {
                try await Self.run($0, ChaosSettings.seed, crowd: 4)
            }
        }
    }

    @Test(
        "Three messaging nodes are killed and paused, their Redis emptied, edges killed, lines spoiled: no gap"
    )
    func severalNodes() async throws {
        let redis = try RedisServerProcess()
        defer { redis.end() }
        try await redis.isListening()
        try await Self.run(.server(redis))
    }

    @Test(
        "Three messaging nodes are killed and paused over a Redis Cluster that fails over, stops and moves: no gap"
    )
    func redisCluster() async throws {
        try await RedisClusterProcess.with { try await Self.run(.cluster($0)) }
    }

    @Test(
        "Three messaging nodes are killed and paused over a Redis whose master is replaced by sentinels: no gap"
    )
    func sentinels() async throws {
        let durability = ChaosSettings.seed % 2 == 0 ? "journal" : "replica"
        try await RedisSentinelProcess.with {
            try await Self.run(.sentinels($0, durability: durability), crowd: 4)
        }
    }

    @Test(
        "durability disk: three messaging nodes and their Redis are killed together: no gap",
        .enabled(if: RedisServerProcess.confirmsSync, "WAITAOF needs Redis 7.2; REDIS_SERVER names another"))
    func disk() async throws {
        let redis = Shared(try RedisServerProcess(appendsToFile: true))
        defer { redis.present.remove() }
        try await redis.present.isListening()
        try await Self.run(.disk(redis))
    }

    /// - Parameter crowd: how many users there are besides who use presence and storage.
    private static func run(_ journal: JournalVillain, crowd: Int = 0) async throws {
        try await TestCertificate.with { certificate in
            // Edges go through the bad lines only, so the nodes don't announce where they are.
            try await RunningSystem.with(
                .fourProcesses,
                edge: ["--rates-channel-metadata", "0", "--rates-acquire-lock", "0"],
                presence: ["--debounce", "0s"] + journal.presenceOptions,
                messaging: journal.options + ["--shards", "6", "--advertise", "0.0.0.0:0"],
                messagingNodes: 3
            ) { system in
                let chaos = try await ChaosSystem.start(in: system, journalIn: journal, certificate)
                try await system.ready()
                try await Self.run(chaos, ChaosSettings.seed, crowd: crowd)
            }
        }
    }

    private static func run(_ chaos: ChaosSystem, _ seed: UInt64, crowd crowdCount: Int = 0) async throws {
        let (system, whole) = (chaos.system, chaos.whole)
        let key = try ChaosCircle.key()
        let circles = [
            ChaosCircle(
                try (0..<15).map { try chaos.client("user\($0)", $0, isKit: $0 < 2) },
                witness: try system.client("witness") { $0.servers = [whole] },
                channels: ["north", "east", "south", "west"], topic: "hall/talk"),
            // What these say nobody else can read, and neither can the system.
            ChaosCircle(
                try (0..<5).map { try chaos.client("sealed\($0)", $0, keys: [key]) },
                witness: try system.client("keeper") {
                    ($0.servers, $0.encryptionKeys) = ([whole], [key])
                },
                channels: ["vault", "safe"], topic: "attic/talk"),
        ]
        for circle in circles { try await circle.start() }
        let crowd = try await Self.crowd(of: crowdCount, in: chaos, seed)
        let ledger = Ledger()
        try await Self.maltreat(chaos, circles, crowd, ledger, seed)
        let clients = circles.flatMap { $0.clients + [$0.witness] }
        do {
            for circle in circles { try await Self.settle(circle, ledger, seed) }
        } catch {
            // The fault is reported there; the views of all clients are shown, too.
            for client in clients { Issue.record("\(Self.summary(of: client))") }
        }
        Self.judge(clients, ledger, chaos, seed)
        if let crowd {
            try await crowd.settle()
            try await crowd.judge()
            ChaosSettings.report("seed \(seed): \(crowd.summary)")
            await crowd.close()
        }
        for client in clients { await client.close() }
        try await chaos.stop()
    }

    /// Users of presence and storage at the edge whose lines are good.
    private static func crowd(of count: Int, in chaos: ChaosSystem, _ seed: UInt64) async throws
        -> ChaosCrowd?
    {
        guard count > 0 else { return nil }
        let clients = try (0..<count).map { number in
            try chaos.system.client("member\(number)") { configuration in
                configuration.servers = [chaos.whole]
                configuration.requestTimeout = .seconds(5)
            }
        }
        return try await ChaosCrowd(clients, seed: seed)
    }

    private static func maltreat(
        _ chaos: ChaosSystem, _ circles: [ChaosCircle], _ crowd: ChaosCrowd?, _ ledger: Ledger,
        _ seed: UInt64
    ) async throws {
        let end = ContinuousClock.now + ChaosSettings.duration
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var random = SeededGenerator(seed: seed)
                await chaos.spoilLines(until: end, &random)
            }
            group.addTask {
                var random = SeededGenerator(seed: seed &+ 1)
                try await chaos.killProcesses(until: end, &random)
            }
            if let crowd {
                group.addTask { await crowd.work { ContinuousClock.now >= end } }
            }
            let talkers = circles.flatMap { circle in circle.clients.map { (circle, $0) } }
            for (number, (circle, client)) in talkers.enumerated() {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ 2 &+ UInt64(number))
                    await publish(by: client, in: circle, ledger, until: end, &random)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Publishes one message after the other, so that their order is known.
    private static func publish(
        by client: any ChaosClient, in circle: ChaosCircle, _ ledger: Ledger,
        until end: ContinuousClock.Instant, _ random: inout SeededGenerator
    ) async {
        var number = 0
        while ContinuousClock.now < end {
            let channel = circle.place(for: client, &random)
            number += 1
            _ = await ledger.publish("\(client.user) \(number)", to: channel, by: client)
            await letPass(.milliseconds(Int.random(in: 20...150, using: &random)))
        }
    }

    /// How each channel ended for a client.
    private static func summary(of client: any ChaosClient) -> String {
        let ends = client.views.sorted { $0.channel < $1.channel }.map { view in
            "\(view.channel): \(view.sightings.count), \(view.sightings.suffix(2))"
        }
        let journey = client.journey.suffix(8).joined(separator: "; ")
        return "\(client.user) \(client.isConnected ? "connected" : "away"), \(journey): \(ends)"
    }

    /// The lines are whole again: every client comes back, and the last message of every channel reaches all.
    private static func settle(
        _ circle: ChaosCircle, _ ledger: Ledger, _ seed: UInt64
    ) async throws {
        let (clients, witness) = (circle.clients, circle.witness)
        #expect(ledger.callsOpen.withLock { $0 } == 0)
        for client in clients {
            try await eventually("\(client.user) is connected (seed \(seed))", within: .seconds(90)) {
                client.isConnected
            }
        }
        for channel in circle.places + clients.map({ "@\($0.user)" }) {
            let viewers = clients.filter { $0.views.contains { $0.channel == channel } }
            var attempt = 0
            // An edge that finds messaging again a moment later reports a gap in which such a message lies.
            // Then the next message counts.
            try await eventually("all hear the end of \(channel) (seed \(seed))", within: .seconds(60)) {
                attempt += 1
                let last = "\(witness.user) \(channel) \(attempt)"
                guard case .acknowledged = await ledger.publish(last, to: channel, by: witness) else {
                    return false
                }
                for _ in 0..<60 {
                    if viewers.allSatisfy({ $0.hasSeen(last, in: channel) }) { return true }
                    await letPass(.milliseconds(50))
                }
                return false
            }
        }
    }

    private static func judge(
        _ clients: [any ChaosClient], _ ledger: Ledger, _ chaos: ChaosSystem, _ seed: UInt64
    ) {
        let record = DeliveryRecord(
            epochEnds: chaos.deeds.messagingKills, published: ledger.published.withLock { $0 },
            views: clients.flatMap(\.views))
        let complaints =
            ledger.complaints.withLock { $0 } + clients.flatMap(\.complaints) + record.breaches()
            + record.needlessGaps()
        for complaint in complaints.prefix(40) { Issue.record("seed \(seed): \(complaint)") }
        #expect(complaints.count == 0, "seed \(seed)")
        let deeds = chaos.deeds
        #expect(deeds.edgeKills > 0)
        #expect(!deeds.messagingKills.isEmpty || deeds.losses > 0)
        #expect(record.received > record.acknowledged)
        ChaosSettings.report(
            "seed \(seed): \(record.published.count) published, \(record.acknowledged) acknowledged, "
                + "\(record.received) received, \(record.gaps) gaps told, \(chaos.deeds), "
                + "\(complaints.count) complaints")
    }
}
