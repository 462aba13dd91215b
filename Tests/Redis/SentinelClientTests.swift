import RTMRedis
import RTMTestSupport
import Testing

/// The client over a real master, its replica, and three sentinels.
@Suite("A client of Redis behind sentinels")
struct SentinelClientTests {
    private static func endpoint(_ node: RedisNode) -> RedisEndpoint {
        .tcp(host: "127.0.0.1", port: node.port)
    }

    @Test("the master is found, and its successor after a planned failover and after a crash")
    func follows() async throws {
        try await RedisSentinelProcess.with { process in
            let endpoints = process.sentinels.map(Self.endpoint)
            try await ClientHarness.with(.sentinel(endpoints, master: RedisSentinelProcess.name)) { client in
                try await client.isUp()
                try await client.send("SET", "a", "1")
                let first = try process.master()
                try await process.chooseOther()
                try await eventually("the new master is used", within: .seconds(60)) {
                    let info = try? await client.send("INFO", "server")
                    return info?.string?.contains("tcp_port:\(try process.master().port)") == true
                }
                #expect(try await client.send("GET", "a").string == "1")
                // A replica of a server that is away would not be promoted.
                try await eventually("the old master follows the new one", within: .seconds(60)) {
                    first.answers("master_link_status:up", "INFO", "replication")
                }
                let second = try process.master()
                second.end()
                try await eventually("the first master is the master again", within: .seconds(60)) {
                    (try? await client.send("INFO", "server"))?.string?.contains("tcp_port:\(first.port)")
                        == true
                }
                #expect(try await client.send("GET", "a").string == "1")
                #expect(try await client.state.ups >= 3)
            }
        }
    }

    @Test("a wrong name, a replica and a sentinel are causes that say what to set")
    func causes() async throws {
        try await RedisSentinelProcess.with { process in
            let endpoints = process.sentinels.map(Self.endpoint)
            try await expectCause(
                "no sentinel names the master nobody, which redis.sentinel.master asks for",
                of: .sentinel(endpoints, master: "nobody"))
            let replica = try #require(process.servers.last)
            try await expectCause("this is a replica of 127.0.0.1", of: .server(Self.endpoint(replica)))
            try await expectCause("set redis.mode to sentinel", of: .server(endpoints[0]))
            let server = try #require(process.servers.first)
            try await expectCause(
                "no node of the Redis Cluster names its masters", of: .cluster(seeds: [Self.endpoint(server)])
            )
        }
    }

    private func expectCause(_ text: String, of deployment: RedisConfiguration.Deployment) async throws {
        try await ClientHarness.with(deployment) { client in
            try await eventually("the cause contains: \(text)") {
                try await client.state.cause.contains(text)
            }
            #expect(try await client.state.isUp == false)
            await #expect(throws: RedisFailure.self) { try await client.send("GET", "a") }
        }
    }
}
