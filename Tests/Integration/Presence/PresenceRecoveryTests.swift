import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// A presence process dies, or its memory does. Users who are there stay there, nobody is told a false leave,
/// and in the end everybody knows what happened meanwhile (docs/decisions: leases, not counters).
@Suite(.serialized, .ends(withinMinutes: 4)) struct PresenceRecoveryTests {
    /// Where the rosters are kept.
    enum Memory: CaseIterable, Sendable { case embedded, redis }

    private static let options = ["--debounce", "0s", "--lease-ttl", "3s"]

    static func withSystem(
        _ memory: Memory, _ options: [String] = options,
        _ body: (RunningSystem, RedisServerProcess?) async throws -> Void
    ) async throws {
        let redis = memory == .redis ? try RedisServerProcess() : nil
        defer { redis?.remove() }
        try await redis?.isListening()
        let place = redis.map { ["--redis-endpoints", "unix:\($0.socket)"] } ?? []
        try await RunningSystem.with(.fourProcesses, presence: options + place) { system in
            try await body(system, redis)
        }
    }

    /// Three users with states. One of them leaves while presence can't be reached.
    private func heals(
        _ system: RunningSystem, _ outage: (RTMClient) async throws -> Void
    ) async throws {
        let names = ["anna", "ben", "cleo"]
        let clients = try names.map { try system.client($0) }
        let records = clients.map { PresenceRecord($0) }
        for (name, client) in zip(names, clients) {
            try await client.login()
            try await client.subscribe(to: "lobby")
            try await client.setState(["of": name], in: "lobby")
        }
        for record in records.prefix(2) { try await record.first("state cleo[of=cleo]") }
        let before = records.map(\.all.count)
        try await outage(clients[2])
        let expected = ["anna", "ben"].map { UserState(userID: $0, states: ["of": $0]) }
        try await eventually("presence knows everybody again", within: .seconds(60)) {
            await (try? clients[0].whoNow(in: "lobby", includingStates: true))?.users == expected
        }
        // The client answered long ago, and the events about the outage were sent before this.
        try await eventually("presence knows ben's edge again", within: .seconds(60)) {
            (try? await clients[1].setState(["of": "later"], in: "lobby")) != nil
        }
        try await records[0].first("state ben[of=later]", within: .seconds(60))
        for (record, count) in zip(records.prefix(2), before) {
            let since = record.all.dropFirst(count).map(\.text)
            #expect(
                !since.contains { $0.hasPrefix("timeout") || ["leave anna", "leave ben"].contains($0) },
                "\(since)")
            #expect(!since.contains { $0.hasPrefix("join") }, "\(since)")
        }
        // Whatever the events were, the rosters agree with presence.
        var roster = clients[0].roster(of: "lobby").makeAsyncIterator()
        let last = ["anna": ["of": "anna"], "ben": ["of": "later"]]
        while let update = await roster.next(), update.members != last {}
        for client in clients { await client.close() }
    }

    @Test(
        "P-46: others never see a user without the states that it brings: by a subscribe, a login, a sync",
        arguments: Memory.allCases)
    func firstSight(_ memory: Memory) async throws {
        try await Self.withSystem(memory) { system, _ in
            let proxy = try await FaultProxy.start(to: system.address("edge"))
            let server = try ServerAddress(proxy.address)
            let watchers = try ["anna", "cleo"].map { try system.client($0) }
            let records = watchers.map { PresenceRecord($0) }
            let ben = try system.client("ben") {
                ($0.servers, $0.presenceTimeout) = ([server], .seconds(5))
            }
            let dora = try system.client("dora")
            for client in watchers + [ben, dora] { try await client.login() }
            for watcher in watchers { try await watcher.subscribe(to: "lobby") }
            try await ben.setState(["seat": "1"], in: "lobby")
            try await ben.subscribe(to: "lobby", features: .message)
            for record in records { try await record.first("join ben[seat=1]") }
            // The login after the presence timeout brings them, too.
            proxy.refuse(true)
            proxy.spoil(.reset)
            for record in records { try await record.first("timeout ben") }
            proxy.refuse(false)
            for record in records {
                try await eventually("ben is back", within: .seconds(60)) {
                    record.texts().filter { $0 == "join ben[seat=1]" }.count == 2
                }
                #expect(!record.texts().contains { $0.contains("state ben") || $0 == "join ben" })
            }
            // Presence is away while a user subscribes.
            try await system.process("rtm-presence").kill9()
            try await eventually("presence is away", within: .seconds(60)) {
                await code { _ = try await dora.whoNow(in: "lobby") } != nil
            }
            try await dora.setState(["seat": "2"], in: "lobby")
            try await dora.subscribe(to: "lobby", features: .message)
            try await system.launchPresence()
            for record in records {
                try await eventually("dora is there", within: .seconds(60)) {
                    record.texts().contains { $0.contains("dora") }
                }
                let first = try #require(record.texts().first { $0.contains("dora") })
                #expect(first.contains("dora[seat=2]"), "\(first)")
            }
            for client in watchers + [ben, dora] { await client.close() }
            try await proxy.stop()
        }
    }

    @Test(
        "A presence node is killed and started again: rosters and states heal from the edges, without false leaves",
        arguments: Memory.allCases)
    func nodeKilled(_ memory: Memory) async throws {
        try await Self.withSystem(memory) { system, _ in
            try await heals(system) { cleo in
                try await system.process("rtm-presence").kill9()
                let refusal = await code { _ = try await cleo.whoNow(in: "lobby") }
                #expect([.presenceOperationFailed, .presenceOperationTimeout].contains(refusal))
                try await cleo.unsubscribe(from: "lobby")
                try await system.launchPresence()
            }
        }
    }

    @Test("Redis loses everything: rosters and states heal from the edges, without false leaves")
    func redisFlushed() async throws {
        try await Self.withSystem(.redis) { system, redis in
            try await heals(system) { cleo in
                try await cleo.unsubscribe(from: "lobby")
                try redis?.flush()
            }
        }
    }

    @Test("Redis is away: readiness says so, calls are refused and don't hang, and all recovers by itself")
    func redisAway() async throws {
        try await Self.withSystem(.redis, Self.options + ["--redis-timeout", "500ms"]) { system, redis in
            try await heals(system) { cleo in
                redis?.pause()
                let refusal = await code { _ = try await cleo.whoNow(in: "lobby") }
                #expect([.presenceOperationFailed, .presenceOperationTimeout].contains(refusal))
                let ready = "http://\(system.address("rtm-presence admin"))/ready"
                try await eventually("presence says that it isn't ready") {
                    let answer = try await system.get(ready)
                    return answer.status == 503 && answer.body.contains("redis")
                }
                redis?.resume()
                try await eventually("presence is ready") { try await system.get(ready).status == 200 }
                try await cleo.unsubscribe(from: "lobby")
            }
        }
    }

    @Test("A master of a Redis Cluster is killed: its replica takes over, without false leaves")
    func masterKilled() async throws {
        try await RedisClusterProcess.with { cluster in
            let seeds = cluster.nodes.prefix(2).map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
            let options = Self.options + ["--redis-mode", "cluster", "--redis-endpoints", seeds]
            try await RunningSystem.with(.fourProcesses, presence: options) { system in
                try await heals(system) { cleo in
                    try await cleo.unsubscribe(from: "lobby")
                    try await cluster.killMaster(of: cluster.slot(ofKey: "*lobby:members"))
                }
                let metrics = "http://\(system.address("rtm-presence admin"))/metrics"
                #expect(try await system.get(metrics).body.contains("\nrtm_presence_redis_masters 3\n"))
            }
        }
    }

    @Test("What happens while presence is away is known afterwards: a new subscriber, and a logout")
    func changesMeanwhile() async throws {
        try await Self.withSystem(.embedded, Self.options + ["--grace", "1s"]) { system, _ in
            let (anna, ben, cleo) = (
                try system.client("anna"), try system.client("ben"), try system.client("cleo")
            )
            let (annaRecord, cleoRecord) = (PresenceRecord(anna), PresenceRecord(cleo))
            for client in [anna, ben, cleo] { try await client.login() }
            for client in [anna, ben] { try await client.subscribe(to: "lobby") }
            try await annaRecord.expect(["snapshot anna", "join ben"])
            try await system.process("rtm-presence").kill9()
            let away = "http://\(system.address("rtm-edge admin"))/metrics"
            try await eventually("the edge notices") {
                try await system.get(away).body.contains("rtm_edge_links{service=\"presence\"} 0")
            }
            let subscription = try await cleo.subscribe(to: "lobby")
            #expect(subscription.unavailableFeatures == .presence)
            try await ben.logout()
            try await system.launchPresence()
            // A snapshot ends the state of P-7 for users without presence.
            try await cleoRecord.expect(["out of service: unavailable", "snapshot anna cleo"])
            try await eventually("presence knows who is there") {
                await (try? anna.whoNow(in: "lobby"))?.users.map(\.userID) == ["anna", "cleo"]
            }
            try await annaRecord.first("snapshot anna cleo")
            for client in [anna, ben, cleo] { await client.close() }
        }
    }
}
