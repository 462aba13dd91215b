import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Synchronization
import Testing

/// Messaging nodes with a journal in Redis: whatever happens to one of them, or to Redis alone, nobody misses
/// a message, and nobody is informed of a gap.
@Suite(.serialized) struct LeadershipTransferTests {
    /// How many messages are published around each event.
    private static let perRound = 60

    @Test("The leading node is killed, again and again", .ends(withinMinutes: 3))
    func killed() async throws {
        try await Trouble.with { trouble in
            for round in 0..<3 {
                try await trouble.publishing("\(round)", Self.perRound) {
                    let leader = try await trouble.leader()
                    try await leader.process.kill9()
                    try await trouble.system.launchMessaging(listen: leader.listen)
                }
            }
            try await trouble.judge(3 * Self.perRound)
        }
    }

    @Test("The leading node is paused for longer than its lease, and then goes on", .ends(withinMinutes: 3))
    func paused() async throws {
        try await Trouble.with { trouble in
            let leader = try await trouble.leader()
            try await trouble.publishing("paused", Self.perRound) {
                leader.process.signal(SIGSTOP)
                try await eventually("the other one leads") {
                    try await trouble.leader(otherThan: leader.listen) != nil
                }
            }
            leader.process.signal(SIGCONT)
            try await trouble.publishing("woken", Self.perRound) {
                try await eventually("it knows that it doesn't lead") {
                    try await trouble.isLeader(leader.process) == false
                }
            }
            try await trouble.judge(2 * Self.perRound)
        }
    }

    @Test("The leading node is told to stop, and the other one leads at once", .ends(withinMinutes: 3))
    func drained() async throws {
        try await Trouble.with { trouble in
            for round in 0..<2 {
                try await trouble.publishing("\(round)", Self.perRound) {
                    let leader = try await trouble.leader()
                    leader.process.signal(SIGTERM)
                    try await eventually("it has ended") { leader.process.hasExited }
                    try await trouble.system.launchMessaging(listen: leader.listen)
                }
            }
            try await trouble.judge(2 * Self.perRound)
            #expect(try await trouble.newLogs(of: trouble.leader().process) == 0)
        }
    }

    @Test(
        "The leading node is told to stop while Redis is away: it waits for Redis, and nobody misses anything",
        .ends(withinMinutes: 3))
    func stoppedWithoutRedis() async throws {
        try await Trouble.with { trouble in
            try await trouble.publishing("stopped", Self.perRound) {
                let leader = try await trouble.leader()
                trouble.redis.end()
                leader.process.signal(SIGTERM)
                try await eventually("it waits") {
                    leader.process.log.contains("waits for it before it ends")
                }
                #expect(!leader.process.hasExited)
                try trouble.restartRedis()
                try await eventually("it has ended") { leader.process.hasExited }
            }
            try await trouble.judge(Self.perRound)
        }
    }

    @Test("Redis loses everything under a living leader, which writes it again", .ends(withinMinutes: 3))
    func emptied() async throws {
        try await Trouble.with { trouble in
            try await trouble.publishing("emptied", Self.perRound) { try trouble.redis.command(["FLUSHALL"]) }
            try await trouble.publishing("killed", Self.perRound) {
                let leader = try await trouble.leader()
                try await leader.process.kill9()
            }
            try await trouble.judge(2 * Self.perRound)
        }
    }

    @Test("Three nodes share the shards; each is killed, stopped and started anew", .ends(withinMinutes: 4))
    func shards() async throws {
        try await Trouble.with(nodes: 3, shards: 6) { trouble in
            try await trouble.isShared()
            for (round, listen) in trouble.system.messagingNodes.enumerated() {
                try await trouble.publishing("\(round)", 2 * Self.perRound) {
                    let process = try #require(try await trouble.system.messagingNode(at: listen))
                    if round == 0 {
                        process.signal(SIGTERM)
                        try await eventually("it has ended") { process.hasExited }
                    } else {
                        try await process.kill9()
                    }
                    try await trouble.system.launchMessaging(listen: listen)
                    try await trouble.isShared()
                }
            }
            try await trouble.judge(6 * Self.perRound)
        }
    }

    @Test(
        "Callers find the nodes that nobody has told them, and go on without the one that they know",
        .ends(withinMinutes: 3))
    func discovered() async throws {
        try await Trouble.with(nodes: 3, shards: 6, listed: 1) { trouble in
            try await trouble.isShared()
            try await trouble.publishing("found", 2 * Self.perRound) {
                let known = try #require(
                    try await trouble.system.messagingNode(at: trouble.system.messagingNodes[0]))
                try await known.kill9()
            }
            let other = try #require(
                try await trouble.system.messagingNode(at: trouble.system.messagingNodes[1]))
            let admin = try #require(try await other.listening()["admin"])
            try await eventually("a page says what the two others lead") {
                let page = try await trouble.system.get("http://\(admin)/shards").body
                return page.contains("\(trouble.system.messagingNodes[2])/")
                    && !page.contains(trouble.system.messagingNodes[0]) && page.contains("\"leads\":true")
            }
            try await trouble.judge(2 * Self.perRound)
        }
    }

    @Test(
        "Redis and the leading node die together: the logs begin anew, and the gap is told",
        .ends(withinMinutes: 3))
    func both() async throws {
        try await Trouble.with { trouble in
            try await trouble.publishing("before", 5) {}
            // Where the machine is busy, the successor leads before the leader's death is known here.
            var received = trouble.bob.events().makeAsyncIterator()
            let leader = try await trouble.leader()
            leader.process.signal(SIGSTOP)
            try trouble.redis.command(["FLUSHALL"])
            try await leader.process.kill9()
            _ = try #require(await received.nextGap())
            try await eventually("messages flow again") {
                (try? await trouble.alice.publish("after", to: .channel("lobby"))) != nil
            }
            #expect(try await trouble.newLogs(of: trouble.leader().process) == 1)
        }
    }
}

/// A system with several messaging nodes, a publisher and those who listen.
private final class Trouble: Sendable {
    let system: RunningSystem
    let redis: RedisServerProcess
    private let directory: URL
    private let secondRedis = Shared<RedisServerProcess?>(nil)
    let alice: RTMClient
    let bob: RTMClient
    private let shards: Int
    private let received: Shared<[String]>
    private let gaps: Shared<[String]>

    /// What is published goes to these in turn.
    private var rooms: [String] { Self.rooms(shards) }

    private static func rooms(_ shards: Int) -> [String] {
        ["lobby"] + (1..<max(1, 2 * shards)).map { "room \($0)" }
    }

    static func with(
        nodes: Int = 2, shards: Int = 1, listed: Int = .max, _ body: (Trouble) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "redis-\(UUID().uuidString.prefix(8))")
        let redis = try RedisServerProcess(directory: directory)
        defer { redis.end() }
        try await redis.isListening()
        try await RunningSystem.with(
            .fourProcesses,
            messaging: ["--redis-endpoints", "unix:\(redis.socket)", "--shards", "\(shards)"],
            messagingNodes: nodes, messagingListed: listed
        ) { system in
            let (alice, bob) = (
                try system.client("alice") { $0.requestTimeout = .seconds(60) }, try system.client("bob")
            )
            try await alice.login()
            try await bob.login()
            // A channel in which nobody says anything any more.
            try await bob.subscribe(to: "quiet", features: .message)
            try await alice.publish("once", to: .channel("quiet"))
            for room in rooms(shards) { try await bob.subscribe(to: room, features: .message) }
            let (received, gaps) = (Shared([String]()), Shared([String]()))
            let listening = Task {
                for await event in bob.events() {
                    switch event {
                    case .message(let message):
                        if case .text(let text) = message.payload { received.withLock { $0.append(text) } }
                    case .gap(let gap): gaps.withLock { $0.append(gap.channelName) }
                    default: break
                    }
                }
            }
            let trouble = Trouble(
                system: system, redis: redis, in: directory, alice: alice, bob: bob, shards: shards,
                received: received, gaps: gaps)
            defer { trouble.secondRedis.present?.end() }
            try await body(trouble)
            listening.cancel()
            await alice.close()
            await bob.close()
        }
    }

    private init(
        system: RunningSystem, redis: RedisServerProcess, in directory: URL, alice: RTMClient,
        bob: RTMClient, shards: Int, received: Shared<[String]>, gaps: Shared<[String]>
    ) {
        self.directory = directory
        (self.system, self.redis, self.alice, self.bob) = (system, redis, alice, bob)
        (self.shards, self.received, self.gaps) = (shards, received, gaps)
    }

    /// Another Redis begins where the first one has ended, without its data.
    func restartRedis() throws {
        let redis = try RedisServerProcess(directory: directory)
        secondRedis.withLock { $0 = redis }
    }

    /// Publishes so many messages, while something happens.
    func publishing(_ name: String, _ count: Int, _ event: @escaping @Sendable () async throws -> Void)
        async throws
    {
        let (alice, rooms) = (self.alice, self.rooms)
        let answered = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<count {
                    try await alice.publish("\(name)-\(number)", to: .channel(rooms[number % rooms.count]))
                    answered.withLock { $0 += 1 }
                }
            }
            group.addTask {
                try await eventually("some are published") { answered.present > count / 4 }
                try await event()
            }
            try await group.waitForAll()
        }
    }

    /// What was published arrived once, in order, and nobody was informed of a gap.
    func judge(_ count: Int) async throws {
        try await alice.publish("end", to: .channel("lobby"))
        try await alice.publish("still here", to: .channel("quiet"))
        try await eventually("everything arrives") {
            received.present.contains("end") && received.present.contains("still here")
        }
        let texts = received.present.filter { $0.contains("-") }
        #expect(texts.count == count && Set(texts).count == count)
        #expect(gaps.present == [])
        for name in Set(texts.compactMap { $0.split(separator: "-").first }) {
            let numbers = texts.filter { $0.hasPrefix("\(name)-") }.compactMap {
                Int($0.split(separator: "-")[1])
            }
            for room in rooms.indices {
                let own = numbers.filter { $0 % rooms.count == room }
                #expect(own == own.sorted())
            }
        }
    }

    // MARK: Who leads

    func leader() async throws -> (process: ServiceProcess, listen: String) {
        var found: (ServiceProcess, String)?
        try await eventually("a node leads") {
            found = try await self.leader(otherThan: "")
            return found != nil
        }
        return try #require(found)
    }

    func leader(otherThan listen: String) async throws -> (process: ServiceProcess, listen: String)? {
        for node in system.messagingNodes where node != listen {
            guard let process = try await system.messagingNode(at: node), !process.hasExited else { continue }
            if try await isLeader(process) == true { return (process, node) }
        }
        return nil
    }

    /// Nil if the process does not answer.
    func isLeader(_ process: ServiceProcess) async throws -> Bool? {
        guard let admin = try await process.listening()["admin"],
            let metrics = try? await system.get("http://\(admin)/metrics")
        else { return nil }
        return metrics.body.contains("\nrtm_messaging_leading 1")
    }

    /// How often the process has begun with new logs, by its metric and by its log.
    func newLogs(of process: ServiceProcess) async throws -> Int {
        let admin = try #require(try await process.listening()["admin"])
        let metrics = try await system.get("http://\(admin)/metrics").body
        let count = try #require(metrics.firstMatch(of: #/\nrtm_messaging_new_logs_total (\d+)/#)).output.1
        try await eventually("the log says the same as the metric") {
            let warnings = process.log.split(separator: "\n").count {
                $0.contains("\"level\":\"warning\"") && $0.contains("leads with new logs")
            }
            return warnings == Int(count)
        }
        return try #require(Int(count))
    }

    /// All shards have a leader, and every node leads as many as another one.
    func isShared() async throws { try await system.isShared(shards) }
}
