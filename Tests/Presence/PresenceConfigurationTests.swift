import RTMServiceKit
import RTMServiceLink
import Testing

@testable import RTMPresenceServer

@Suite("Relations between the timings of presence")
struct PresenceConfigurationTests {
    private func problems(_ arguments: String...) -> [String] { problems(arguments) }

    private func problems(_ arguments: [String]) -> [String] {
        let schema = ConfigurationSchema(PresenceDefinition.service.keys, section: "presence")
        let loader = ConfigurationLoader(schema: schema, rules: PresenceDefinition.service.rules) { _ in "" }
        do {
            _ = try loader.load(arguments: arguments, environment: [:])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test("a lease lasts at least two sweeps, so that its end is noticed in time")
    func leaseAndSweep() {
        #expect(problems().isEmpty)
        #expect(problems("--lease-ttl", "4s", "--sweep-interval", "2s").isEmpty)
        #expect(
            problems("--lease-ttl", "3s", "--sweep-interval", "2s") == [
                "presence.leaseTtl (--lease-ttl): the value 3s is too short for presence.sweepInterval, which "
                    + "is 2s: a sweep has to notice the end of a lease in time. Set presence.leaseTtl to at "
                    + "least 4s, or lower presence.sweepInterval"
            ])
    }

    @Test("changes are collected for at least one sweep, which announces them (P-22)")
    func intervalAndSweep() {
        #expect(problems("--interval", "250ms").isEmpty)
        let found = problems("--interval", "249ms")
        #expect(found.count == 1)
        #expect(found.first?.contains("Set presence.interval to at least 250ms") == true)
    }

    @Test("a command to Redis fails before the lease that it renews ends; without Redis nothing is refused")
    func leaseAndRedis() {
        let timings = ["--lease-ttl", "2s", "--redis-timeout", "3s"]
        #expect(problems(timings[0], timings[1], timings[2], timings[3]).isEmpty)
        let found = problems(
            timings[0], timings[1], timings[2], timings[3], "--redis-endpoints", "127.0.0.1:6379")
        #expect(found.count == 1)
        #expect(found.first?.contains("Set presence.leaseTtl to at least 3s") == true)
    }

    @Test("a deployment of Redis that can't be is refused with what to set")
    func redis() {
        #expect(problems("--redis-endpoints", "unix:/run/redis.sock").isEmpty)
        #expect(problems("--redis-endpoints", "a:1,[::1]:2", "--redis-mode", "cluster").isEmpty)
        #expect(
            problems(
                "--redis-endpoints", "a:1,b:1", "--redis-mode", "sentinel", "--redis-sentinel-master", "m"
            ).isEmpty)
        for (arguments, advice) in [
            (["--redis-endpoints", "a:1,b:2"], "set presence.redis.mode to sentinel or cluster"),
            (["--redis-endpoints", "a"], "has no port; write HOST:PORT"),
            (["--redis-endpoints", "a:0"], "has the port 0; write HOST:PORT or unix:PATH"),
            (["--redis-endpoints", "unix:"], "write unix:/path/to/socket"),
            (["--redis-mode", "cluster"], "set it to the addresses of some nodes of the Cluster"),
            (["--redis-mode", "sentinel", "--redis-endpoints", "a:1"], "that SENTINEL MASTERS shows"),
            (["--redis-sentinel-master", "m"], "set presence.redis.mode to sentinel, or unset the name"),
            (
                ["--redis-mode", "cluster", "--redis-endpoints", "a:1", "--redis-database", "3"],
                "which has only 0: unset it"
            ),
        ] {
            let found = problems(arguments)
            #expect(found.count == 1 && found[0].contains(advice), "\(arguments): \(found)")
        }
    }

    @Test("the same rules hold for presence inside another program, apart from those of Redis")
    func inProcess() {
        let definition = PresenceDefinition.inProcess(
            .init(name: "presence"), messaging: .init(name: "messaging"))
        #expect(definition.rules.count == PresenceKeys.rules.count)
    }
}
