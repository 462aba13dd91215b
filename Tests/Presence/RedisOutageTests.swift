import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMRedis
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// The promises for the time when Redis goes, comes back or forgets, and when several nodes share it.
@Suite("Presence over Redis")
struct RedisOutageTests {
    @Test("a killed Redis: calls are refused with its cause, readiness is off, and all recovers by itself")
    func killed() async throws {
        try await StoreHarness.with(.redis, .with { $0.grace = 30_000 }) { store in
            _ = try await store.renew(7)
            try await store.enter(.of("anna", lease: 7))
            _ = try await store.events()
            store.redis?.end()
            try await eventually("the loss is noticed") { store.isReady == false }
            #expect(await code { try await store.enter(.of("bob")) } == .presenceOperationFailed)
            #expect(await code { _ = try await store.users() } == .presenceOperationFailed)
            #expect(await code { try await store.sweep() } == .presenceOperationFailed)
            let server = try store.redis?.again()
            defer { server?.remove() }
            try await eventually("Redis is back") { store.isReady }
            // Redis has forgotten everything: the edge is told, and fills the roster without an event.
            #expect(try await store.renew(7) == false)
            try await store.adopt(.of("anna", lease: 7))
            #expect(try await store.users() == ["anna"])
            #expect(try await store.events() == [])
            try await store.synced(7, except: [MemberKey(channel: .room, user: "anna", session: 1)])
            #expect(try await store.renew(7))
        }
    }

    @Test("a Redis that doesn't answer: calls fail within the timeout and never hang")
    func stalled() async throws {
        try await StoreHarness.with(.redis) { store in
            try await store.enter(.of("anna"))
            store.redis?.pause()
            let start = ContinuousClock.now
            #expect(await code { try await store.enter(.of("bob")) } == .presenceOperationTimeout)
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(store.isReady == false)
            store.redis?.resume()
            try await eventually("Redis is back") { store.isReady }
            // The edge is asked to report its members, because pushes may have been lost.
            #expect(try await store.renew(7) == false)
            #expect(try await store.users().contains("anna"))
        }
    }

    @Test("forgotten scripts are told again")
    func scriptsFlushed() async throws {
        try await StoreHarness.with(.redis) { store in
            try await store.enter(.of("anna"))
            try await store.command("SCRIPT", "FLUSH")
            try await store.enter(.of("bob"))
            #expect(try await store.users() == ["anna", "bob"])
        }
    }

    @Test("flushed data: leases are unknown, rosters are filled again without false events")
    func flushed() async throws {
        try await StoreHarness.with(
            .redis,
            .with {
                $0.grace = 30_000
                $0.leaseTimeToLive = 15_000
            }
        ) { store in
            _ = try await store.renew(7)
            for user in ["anna", "bob"] { try await store.enter(.of(user, lease: 7)) }
            try await store.advance(60_000)
            _ = try await store.renew(7)
            _ = try await store.events()
            try await store.command("FLUSHALL")
            #expect(try await store.users() == [])
            #expect(try await store.renew(7) == false)
            for user in ["anna", "bob"] { try await store.adopt(.of(user, lease: 7)) }
            try await store.advance(10_000)
            #expect(try await store.events() == [])
            #expect(try await store.users() == ["anna", "bob"])
        }
    }

    @Test("several nodes over one Redis: every event once, in one order, whoever made it")
    func severalNodes() async throws {
        try await StoreHarness.with(.redis) { first in
            try await first.withSecondNode { second in
                let nodes = [first, second]
                try await withThrowingTaskGroup { group in
                    for (number, node) in nodes.enumerated() {
                        group.addTask {
                            for step in 0..<20 {
                                let user = "u\(number)-\(step)"
                                try await node.enter(.of(user))
                                _ = try await node.set(.of(user), ["a": "\(step)"])
                                try await node.leave(.of(user))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                for node in nodes { try await node.enter(.of("last\(node === first)")) }
                // A node may report what the other one has reported, too: the numbers make it count once.
                var all: [UInt64: RosterEvent] = [:]
                for node in nodes {
                    let reported = try await node.numbered()
                    let sequences = reported.map(\.sequence)
                    #expect(sequences == sequences.sorted() && Set(sequences).count == sequences.count)
                    for (sequence, event) in reported {
                        #expect(all[sequence] == nil || all[sequence] == event)
                        all[sequence] = event
                    }
                }
                #expect(all.keys.sorted() == Array(1...122))
                var view = SubscriberView([])
                for sequence in all.keys.sorted() { all[sequence].map { view.receive($0) } }
                #expect(view.states == (try await first.snapshot().users))
            }
        }
    }

    @Test("a lease ends once, whichever node notices, and its users time out once")
    func oneNodeEnds() async throws {
        try await StoreHarness.with(.redis, .with { $0.leaseTimeToLive = 15_000 }) { first in
            try await first.withSecondNode { second in
                for number in 0..<10 { try await first.enter(.of("u\(number)", lease: 7)) }
                for _ in 0..<2 {
                    first.clock.advance(15_000)
                    async let one: Void = first.sweep()
                    async let two: Void = second.sweep()
                    _ = try await (one, two)
                }
                #expect(try await first.expiredLeases() + second.expiredLeases() == 1)
                var all: [UInt64: RosterEvent] = [:]
                for node in [first, second] {
                    for (sequence, event) in try await node.numbered() { all[sequence] = event }
                }
                #expect(all.count == 20)
                #expect(all.values.count { $0.event == .timedOut } == 10)
                #expect(try await second.users() == [])
            }
        }
    }

    @Test("what a node that died left in the outbox is told by another one")
    func leftInOutbox() async throws {
        try await StoreHarness.with(.redis) { first in
            try await first.enter(.of("anna"))
            try await first.enter(.of("bob", session: 2))
            try await first.acknowledge(through: 1)
            try await first.withSecondNode { second in
                try await second.advance(6_000)
                #expect(try await second.events() == [.joined("bob", except: 2)])
            }
        }
    }

    @Test("an ACL user with a password is used; a wrong password is a cause for readiness")
    func acl() async throws {
        let server = try RedisServerProcess(password: "s3cret")
        defer { server.remove() }
        try await server.isListening()
        try await StoreHarness.with(.redis, at: server, credentials: .init(user: "rtm", password: "s3cret")) {
            store in
            try await store.enter(.of("anna"))
            #expect(try await store.users() == ["anna"])
        }
        try await StoreHarness.with(
            .redis, at: server, credentials: .init(user: "rtm", password: "wrong"), waits: false
        ) { store in
            try await eventually("the refusal is the cause") {
                await code { try await store.enter(.of("anna")) } == .presenceOperationFailed
                    && store.cause.contains("WRONGPASS")
            }
            #expect(!store.cause.contains("wrong"))
        }
    }

    @Test(
        "a Redis that may delete keys to make room isn't used, and the cause says what to set",
        arguments: ["allkeys-lru", "volatile-ttl"])
    func evicts(policy: String) async throws {
        let server = try RedisServerProcess()
        defer { server.remove() }
        try await server.isListening()
        try server.configure("maxmemory-policy", policy)
        try await StoreHarness.with(.redis, at: server, waits: false) { store in
            try await eventually("the policy is the cause") {
                store.cause.contains("maxmemory-policy \(policy)")
                    && store.cause.contains("set maxmemory-policy noeviction")
            }
            #expect(await code { try await store.enter(.of("anna")) } == .presenceOperationFailed)
            try server.configure("maxmemory-policy", "noeviction")
            try await eventually("Redis is used") { store.isReady }
            try await store.enter(.of("anna"))
            try server.configure("maxmemory-policy", policy)
            try await eventually("the change is noticed", within: .seconds(20)) { !store.isReady }
        }
    }

    @Test("a new user and his password count from the next connection on, both together")
    func newCredentials() async throws {
        let server = try RedisServerProcess(password: "s3cret")
        defer { server.remove() }
        try await server.isListening()
        let credentials = RedisCredentials(user: "rtm", password: "s3cret")
        try await StoreHarness.with(.redis, at: server, credentials: credentials) { store in
            try server.setPassword("an0ther", instead: "s3cret")
            try server.addUser("next", "s3cond", password: "an0ther")
            try await store.enter(.of("anna"))
            try server.disconnectAll(password: "an0ther")
            try await eventually("the old password is refused") { store.cause.contains("WRONGPASS") }
            credentials.set(user: "next", password: "s3cond")
            try await eventually("the new user is used") { store.isReady }
            #expect(try await store.users() == ["anna"])
        }
    }

    @Test("over TLS only a certificate of a trusted authority is accepted, and the cause is named")
    func tls() async throws {
        try await TestCertificate.with { files in
            let server = try RedisServerProcess(tls: files)
            defer { server.remove() }
            try await server.isListening()
            let trust = try TextFile.read(files.certificate)
            try await StoreHarness.with(.redis, at: server, trust: trust) { store in
                try await store.enter(.of("anna"))
                try await store.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
                try await eventually("the connection is back") {
                    (try? await store.enter(.of("bob"))) != nil
                }
                #expect(try await store.users() == ["anna", "bob"])
            }
            try await TestCertificate.with { untrusted in
                let trust = try TextFile.read(untrusted.certificate)
                try await StoreHarness.with(.redis, at: server, trust: trust, waits: false) { store in
                    try await eventually("the certificate is the cause") {
                        store.cause.contains("certificate isn")
                    }
                    #expect(await code { try await store.enter(.of("carol")) } == .presenceOperationFailed)
                }
            }
        }
    }

    @Test("clients read neither the address of Redis nor its words")
    func reasons() {
        let failures: [RedisFailure] = [
            .notConnected("connect to 10.0.0.7:6379: refused"), .refused("WRONGPASS of 10.0.0.7"), .timedOut,
            .disconnected, .tooManyCommands(7),
        ]
        for error in failures.map(RTMError.init) {
            #expect(!error.reason.contains("10.0.0.7") && !error.reason.contains("Redis"))
            #expect(error.retryAfter != nil)
        }
    }

    @Test("after Redis has come back with older data, every join and leave is announced")
    func olderData() async throws {
        try await StoreHarness.with(.redis, .with { $0.leaseTimeToLive = 15_000 }) { store in
            try await store.enter(.of("anna", lease: 7))
            try await store.command("SAVE")
            for number in 1...6 { try await store.enter(.of("late\(number)", lease: 7)) }
            try await store.acknowledge(through: 7)
            #expect(try await store.events().count == 7)
            store.redis?.end()
            try await eventually("the loss is noticed") { store.isReady == false }
            let server = try store.redis?.again()
            defer { server?.remove() }
            try await eventually("Redis is back") { store.isReady }
            #expect(try await store.users() == ["anna"], "the older data")
            // The edge reports its members again, and one of them has left meanwhile.
            for user in ["anna", "late1", "late2"] { try await store.adopt(.of(user, lease: 7)) }
            try await store.enter(.of("new", lease: 7))
            try await store.leave(.of("late1"))
            let events = try await store.events()
            #expect(events.contains(.joined("new")))
            #expect(events.contains { $0.user == "late1" && $0.event == .left })
            #expect(try await store.sources().count == 2, "the numbers count anew under a new source")
        }
    }

    @Test("an answer of messaging that is late acknowledges nothing that has the same number by now")
    func lateAcknowledgement() async throws {
        try await StoreHarness.with(.redis, .with { $0.leaseTimeToLive = 15_000 }) { store in
            try await store.enter(.of("anna", lease: 7))
            try await store.enter(.of("bob", lease: 7))
            let lost = try #require(try await store.sourcedEvents().last?.source)
            try await store.command("SAVE")
            for number in 1...6 { try await store.enter(.of("late\(number)", lease: 7)) }
            store.redis?.end()
            try await eventually("the loss is noticed") { store.isReady == false }
            let server = try store.redis?.again()
            defer { server?.remove() }
            try await eventually("Redis is back") { store.isReady }
            #expect(try await store.set(.of("anna"), ["mood": "calm"]))
            // These were appended before Redis was replaced. It lacks the last of them.
            for number: UInt64 in 1...8 { try await store.acknowledge(of: lost, through: number) }
            _ = try await store.events()
            #expect(try await store.set(.of("anna"), ["mood": "glad"]))
            #expect(try await store.events().map(\.user) == ["anna"])
            // What was acknowledged isn't told again.
            try await store.withSecondNode { second in
                try await second.advance(6_000)
                #expect(try await second.events().map(\.user) == ["anna", "anna"])
            }
        }
    }

    @Test("the source of a roster stays while Redis runs on, whatever happens to the connection")
    func sourceStays() async throws {
        try await StoreHarness.with(.redis) { store in
            try await store.enter(.of("anna"))
            try await store.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
            try await eventually("the connection is back") {
                (try? await store.enter(.of("bob"))) != nil
            }
            #expect(try await store.sources().count == 1)
        }
    }

    @Test("a clock of Redis that is set back or ahead moves nobody's time")
    func clockSet() async throws {
        let server = try RedisServerProcess()
        defer { server.remove() }
        try await server.isListening()
        try await StoreHarness.with(.redis, at: server, sharesClock: true) { store in
            let start = try await store.sharedTime()
            #expect(start > 1_700_000_000_000)
            // The clock was an hour ahead until now, then an hour behind.
            for shift in [3_600_000, -3_600_000] as [Int64] {
                try await store.command("HINCRBY", "test:clock", "seen", "\(shift)")
                for _ in 0..<3 { try await store.sweep() }
                let time = try await store.sharedTime()
                #expect(time >= start && time < start + 60_000)
            }
        }
    }

    @Test("the shared clock goes on between two answers, and never back while a connection lasts")
    func sharedClock() {
        var clock = SharedClock()
        clock.set(1_000, local: 50, isFirst: true)
        #expect(clock.now(local: 60) == 1_010)
        clock.set(1_005, local: 60, isFirst: false)
        #expect(clock.now(local: 60) == 1_010)
        #expect(clock.now(local: 70) == 1_015)
        clock.set(200, local: 80, isFirst: true)
        #expect(clock.now(local: 80) == 200)
    }
}
