import RTMRedis
import RTMTestSupport
import Testing

/// The client over one real server.
@Suite("A client of one Redis")
struct ServerClientTests {
    @Test("a unix socket and an ACL user; a wrong password says what to look at")
    func user() async throws {
        let server = try RedisServerProcess(password: "s3cret")
        defer { server.remove() }
        try await server.isListening()
        for (password, isRight) in [("s3cret", true), ("wr0ng", false), ("", false)] {
            let endpoint = RedisEndpoint.unixSocket(server.socket)
            let configure: (inout RedisConfiguration) -> Void = { configuration in
                configuration.credentials = RedisCredentials(user: "rtm", password: password)
            }
            try await ClientHarness.with(.server(endpoint), configure: configure) {
                client in
                guard isRight else {
                    try await eventually("the login is the cause") {
                        try await client.state.cause.contains("look at redis.user and redis.password")
                    }
                    return #expect(try await !client.state.cause.contains("wr0ng"))
                }
                try await client.isUp()
            }
        }
    }
}
