import Testing

@testable import RTMRedis

@Suite("What a server says about itself")
struct ServerFactsTests {
    private func cause(_ lines: String..., isCluster: Bool = false) -> String? {
        var facts = ServerFacts()
        for line in lines { facts.read("# Section\r\nother:1\r\n\(line)\r\n") }
        return facts.cause(isClusterExpected: isCluster)
    }

    @Test("a master that keeps its keys is used, and its run is known")
    func usable() {
        #expect(cause("redis_mode:standalone", "role:master", "maxmemory_policy:noeviction") == nil)
        #expect(cause("redis_mode:cluster", "role:master", isCluster: true) == nil)
        #expect(cause("role:master") == nil)
        var facts = ServerFacts()
        facts.read("redis_version:7.0.15\r\nrun_id:abc\r\n")
        facts.read("role:master\r\n")
        #expect(facts[.history] == "abc 0 ")
    }

    @Test("the history of its data: the process, the sentinels' epoch, and the replication id")
    func history() {
        var facts = ServerFacts(configEpoch: 3)
        facts.read("run_id:abc\r\nserver_time_usec:5000000\r\nuptime_in_seconds:2\r\n")
        facts.read("aof_enabled:1\r\n")
        facts.read("role:master\r\nmaster_replid:def\r\nmaster_replid2:000\r\n")
        #expect(facts[.history] == "abc 3 def" && facts[.startedAt] == "3000")
        #expect(facts[.hasReadAppendOnlyFile] == "1")
        facts.configEpoch = 4
        facts.read("role:master\r\nmaster_replid:ghi\r\nmaster_replid2:def\r\n")
        #expect(facts[.history] == "abc 4 ghi" && facts[.secondReplicationID] == "def")
        #expect(facts[.hasReadAppendOnlyFile] == "0", "it was a replica")
    }

    @Test("another server isn't used, and the cause says what to set")
    func unusable() {
        #expect(cause("redis_mode:sentinel")?.contains("set redis.mode to sentinel") == true)
        #expect(cause("redis_mode:cluster")?.contains("set redis.mode to cluster") == true)
        #expect(
            cause("redis_mode:standalone", isCluster: true)?.contains("set redis.mode to server or sentinel")
                == true)
        #expect(
            cause("role:slave", "master_host:10.0.0.1", "master_port:6379")?
                .contains("a replica of 10.0.0.1:6379") == true)
        #expect(cause("role:master", "maxmemory_policy:allkeys-lru")?.contains("noeviction") == true)
    }
}
