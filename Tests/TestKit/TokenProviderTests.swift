import RTMClient
import RTMModel
import RTMTestKit
import RTMTestSupport
import Synchronization
import Testing

@Suite("An app that has a provider of tokens")
struct TokenProviderTests {
    private struct Unavailable: Error {}

    /// An app's own server, which counts what it is asked.
    private final class TokenServer: Sendable {
        private let calls = Mutex(0)
        private let failuresLeft: Mutex<Int>
        private let world: TestWorld

        init(_ world: TestWorld, failures: Int = 0) {
            self.world = world
            failuresLeft = Mutex(failures)
        }

        var count: Int { calls.withLock { $0 } }

        /// The next answers are failures.
        func fail(_ count: Int) { failuresLeft.withLock { $0 = count } }

        func token() async throws -> String {
            calls.withLock { $0 += 1 }
            let fails = failuresLeft.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
            if fails { throw Unavailable() }
            return try await world.token(for: "alice", lifetime: .seconds(600))
        }
    }

    private func world() async throws -> TestWorld {
        var configuration = TestWorld.Configuration()
        configuration.needsTokens = true
        return try await TestWorld(configuration)
    }

    private func alice(in world: TestWorld, _ server: TokenServer) async throws -> RTMClient {
        var configuration = try await world.configuration(of: "alice")
        configuration.token = nil
        configuration.tokenProvider = { try await server.token() }
        return try RTMClient(configuration)
    }

    @Test("logs in and stays logged in without a word about tokens")
    func renewal() async throws {
        let world = try await world()
        let server = TokenServer(world)
        let alice = try await alice(in: world, server)
        try await alice.login()
        #expect(server.count == 1)
        for round in 2...4 {
            #expect(await world.advance(upTo: .seconds(600)) { server.count == round })
            await world.advance(by: .seconds(5))
        }
        await world.advance(by: .seconds(60))
        #expect(alice.linkState == .connected)
        #expect(server.count == 4)
        try await alice.login()
        #expect(server.count == 4, "a client that is connected needs no token")
        await world.end()
    }

    @Test("is asked again when it fails before the token expires")
    func retry() async throws {
        let world = try await world()
        let server = TokenServer(world)
        let alice = try await alice(in: world, server)
        try await alice.login()
        server.fail(3)
        #expect(await world.advance(upTo: .seconds(620)) { server.count == 5 })
        await world.advance(by: .seconds(60))
        #expect(alice.linkState == .connected)
        await world.end()
    }

    @Test("comes back by itself when the token expired meanwhile")
    func expired() async throws {
        let world = try await world()
        let server = TokenServer(world)
        let alice = try await alice(in: world, server)
        try await alice.login()
        server.fail(8)
        #expect(await world.advance(upTo: .seconds(700)) { alice.linkState != .connected })
        #expect(alice.linkState == .disconnected, "the session is not over")
        #expect(await world.advance(upTo: .seconds(300)) { alice.linkState == .connected })
        await world.end()
    }

    @Test("is asked no more after a logout")
    func logout() async throws {
        let world = try await world()
        let server = TokenServer(world)
        let alice = try await alice(in: world, server)
        try await alice.login()
        try await alice.logout()
        await world.advance(by: .seconds(1_200))
        #expect(server.count == 1)
        await world.end()
    }

    @Test("S-53: is asked again when it fails at a login")
    func failedLogin() async throws {
        let world = try await world()
        let server = TokenServer(world, failures: 3)
        let alice = try await alice(in: world, server)
        let login = Task { try await alice.login() }
        #expect(await world.advance(upTo: .seconds(60)) { alice.linkState == .connected })
        try await login.value
        #expect(server.count == 4)
        await world.end()
    }

    @Test("S-13, S-53: learns from its login why no token came")
    func noToken() async throws {
        let world = try await world()
        let alice = try await alice(in: world, TokenServer(world, failures: 1_000))
        let login = Task { try await alice.login() }
        await world.advance(by: .seconds(121))
        let error = await #expect(throws: RTMError.self) { try await login.value }
        #expect(error?.code == .loginTimeout)
        #expect(error?.reason.contains("Unavailable") == true)
        await world.end()
    }
}
