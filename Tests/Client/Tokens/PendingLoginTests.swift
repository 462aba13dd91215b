import RTMModel
import RTMProtocol
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMClient

/// A login that waits for a token of the app's provider.
@Suite struct PendingLoginTests {
    /// A provider that answers when the test says so.
    private final class Provider: Sendable {
        private let waiting = Mutex<[CheckedContinuation<String, any Error>]>([])

        /// How many calls have come.
        var count: Int { waiting.withLock { $0.count } }

        func token() async throws -> String {
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0.append(continuation) }
            }
        }

        func answer(_ number: Int, _ token: String) {
            waiting.withLock { $0[number] }.resume(returning: token)
        }
    }

    private func withPendingLogin(
        _ change: (inout RTMClient.Configuration) -> Void = { _ in },
        _ body: (RTMClient, FakeEdge, Provider, Task<ErrorCode?, Never>) async throws -> Void
    ) async throws {
        let edge = try await FakeEdge.start()
        let provider = Provider()
        let client = try RTMClient.forTest(edge) {
            $0.tokenProvider = { try await provider.token() }
            change(&$0)
        }
        let login = login(client)
        try await eventually("the provider is asked") { provider.count == 1 }
        #expect(client.linkState == .connecting)
        try await body(client, edge, provider, login)
        await client.close()
        try await edge.stop()
    }

    private func login(_ client: RTMClient, token: String? = nil) -> Task<ErrorCode?, Never> {
        Task { await code { try await client.login(token: token) } }
    }

    private func tokens(at edge: FakeEdge) -> [String] {
        edge.received.compactMap {
            guard case .login(let login) = $0.body else { return nil }
            return login.token
        }
    }

    @Test("S-6, S-53: a logout ends it, and the provider's late answer is thrown away")
    func logout() async throws {
        try await withPendingLogin { client, edge, provider, login in
            try await client.logout()
            #expect(await login.value == .loginCanceled)
            provider.answer(0, "late")
            let second = self.login(client)
            try await eventually("the provider is asked again") { provider.count == 2 }
            #expect(client.linkState == .connecting)
            #expect(edge.connectionsAccepted == 0)
            provider.answer(1, "new")
            #expect(await second.value == nil)
            #expect(tokens(at: edge) == ["new"])
        }
    }

    @Test("S-9, S-53: a close ends it, and nobody is logged in afterwards")
    func close() async throws {
        try await withPendingLogin { client, edge, provider, login in
            await client.close()
            #expect(await login.value == .instanceAlreadyReleased)
            provider.answer(0, "late")
            #expect(await code { try await client.login() } == .instanceAlreadyReleased)
            #expect(client.linkState == .idle)
            #expect(edge.connectionsAccepted == 0)
        }
    }

    @Test("S-6, S-53: of two logins the newer one goes on, with the answer to its own question")
    func twoLogins() async throws {
        try await withPendingLogin { client, edge, provider, login in
            let second = self.login(client)
            try await eventually("the provider is asked again") { provider.count == 2 }
            #expect(await login.value == .loginCanceled)
            provider.answer(0, "late")
            provider.answer(1, "new")
            #expect(await second.value == nil)
            #expect(tokens(at: edge) == ["new"])
        }
    }

    @Test("S-6, S-53: a login that brings a token doesn't wait for the provider")
    func givenToken() async throws {
        try await withPendingLogin { client, edge, provider, login in
            #expect(await self.login(client, token: "given").value == nil)
            #expect(await login.value == .loginCanceled)
            provider.answer(0, "late")
            #expect(await code { try await client.renewToken("renewed") } == nil)
            #expect(tokens(at: edge) == ["given"])
        }
    }

    @Test("S-53: the task that waits for it may be cancelled")
    func cancellation() async throws {
        try await withPendingLogin { client, edge, provider, login in
            login.cancel()
            #expect(await login.value == .cancelled)
            #expect(client.linkState == .idle)
            provider.answer(0, "late")
        }
    }
}

/// Attempts that need a token, under a virtual clock.
struct TokenAttemptTests {
    private func link(
        servers: Int = 1, reach: @escaping (Duration, Int) -> VirtualLink.Outcome = { _, _ in .accepted }
    ) -> VirtualLink {
        var parameters = LinkParameters.exact(servers: servers)
        parameters.hasTokenProvider = true
        return VirtualLink(parameters, reach: reach)
    }

    @Test func `S-53: an attempt without a token asks the provider first and connects with its answer`() {
        var link = link()
        link.login()
        #expect(link.state == .connecting)
        #expect(link.questions.map(\.number) == [1])
        #expect(link.attempts.isEmpty)
        link.provide("new", to: 1)
        #expect(link.machine.token == "new")
        #expect(link.state == .connected)
        link.login(2, token: "given")
        #expect(link.questions.count == 1)
    }

    @Test func `S-5, S-53: a provider that hangs costs an attempt, and its late answer is thrown away`() {
        var link = link(servers: 2)
        link.login()
        link.advance(to: .seconds(10))
        #expect(link.state == .disconnected)
        #expect(link.lastChange?.reason.contains("token provider") == true)
        link.advance(to: .seconds(12))
        #expect(link.questions.map(\.at) == [.zero, .seconds(12)])
        link.provide("late", to: 1)
        #expect(link.state == .connecting)
        link.provide("new", to: 2)
        #expect(link.state == .connected)
        #expect(link.machine.token == "new")
        #expect(link.attempts.map(\.server) == [0])
    }

    @Test func `S-5, S-53: connecting may take as long again after the provider's answer`() {
        var link = link { _, _ in .silent }
        link.login()
        link.advance(to: .seconds(9))
        link.provide("new", to: 1)
        link.advance(to: .seconds(18))
        #expect(link.state == .connecting)
        link.advance(to: .seconds(19))
        #expect(link.state == .disconnected)
    }

    @Test func `S-13, S-53: a provider that never answers ends the login when the link is suspended`() {
        var link = link()
        link.login()
        link.advance(to: .seconds(121))
        #expect(link.state == .suspended)
        #expect(link.completions.map(\.code) == [.loginTimeout])
        #expect(link.completions.first?.error?.reason.contains("token provider") == true)
    }

    @Test func `S-53: an expired token is replaced, and the session goes on`() {
        var link = link { at, _ in
            at == .seconds(2) ? .refused(RTMError(.tokenExpired, "expired")) : .accepted
        }
        link.login()
        link.provide("first", to: 1)
        link.lose()
        // The session's own token is presented first, because nothing is known against it.
        link.advance(to: .seconds(2))
        #expect(link.questions.map(\.at) == [.zero, .seconds(2)])
        #expect(link.state == .connecting)
        link.reach = { _, _ in .accepted }
        link.provide("second", to: 3)
        #expect(link.lastChange?.isResumed == true)
        #expect(link.attempts.map(\.at) == [.zero, .seconds(2), .seconds(2)])
    }

    @Test func `S-53: at the end of its token a session asks for another one at once`() {
        var link = link()
        link.login()
        link.provide("first", to: 1)
        link.lose(.disconnected(code: 3506, reason: "expired", retryAfter: nil))
        #expect(link.states.suffix(2) == [.disconnected, .connecting])
        #expect(link.questions.map(\.at) == [.zero, .zero])
        link.provide("second", to: 2)
        #expect(link.state == .connected)
        #expect(link.lastChange?.isResumed == true)
    }

    @Test func `S-54: a token that ended while the link was away isn't presented`() {
        var link = link()
        link.login()
        link.provide("first", to: 1)
        link.tokenExpires(in: .seconds(30))
        link.advance(to: .seconds(29))
        link.lose()
        link.advance(to: .seconds(31))
        #expect(link.questions.map(\.at) == [.zero, .seconds(31)])
        #expect(link.attempts.count == 1)
        link.provide("second", to: 2)
        #expect(link.state == .connected)
        #expect(link.attempts.map(\.at) == [.zero, .seconds(31)])
    }

    @Test func `S-54: a token that hasn't ended is presented, and so is a renewed one`() {
        var link = link()
        link.login()
        link.provide("first", to: 1)
        link.tokenExpires(in: .seconds(30))
        link.lose()
        link.advance(to: .seconds(2))
        #expect(link.state == .connected)
        #expect(link.questions.count == 1)
        link.machine.tokenRenewed("second")
        link.advance(to: .seconds(40))
        link.lose()
        link.advance(to: .seconds(42))
        #expect(link.state == .connected)
        #expect(link.questions.count == 1)
    }

    @Test func `S-54: without a provider a token that ended while the link was away fails it`() {
        var link = VirtualLink()
        link.login(token: "only")
        link.tokenExpires(in: .seconds(1))
        link.lose()
        link.advance(to: .seconds(2))
        #expect(link.states.suffix(3) == [.disconnected, .connecting, .failed])
        #expect(link.lastChange?.operation == .serverReject)
        #expect(link.lastChange?.reasonCode == .tokenExpired)
        #expect(link.attempts.count == 1)
        link.login(2, token: "new")
        #expect(link.state == .connected)
    }

    @Test func `S-54: a login that brings no token fails at once when the session's has ended`() {
        var link = VirtualLink()
        link.login(token: "only")
        link.tokenExpires(in: .seconds(1))
        link.advance(to: .milliseconds(900))
        link.lose()
        link.advance(to: .seconds(1))
        link.login(2)
        #expect(link.completions.map(\.code) == [nil, .tokenExpired])
        #expect(link.state == .failed)
        #expect(link.attempts.count == 1)
    }

    @Test func `S-54: a server that shuts down is come back to without the token that ends meanwhile`() {
        var link = link()
        link.login()
        link.provide("first", to: 1)
        link.tokenExpires(in: .seconds(3))
        link.lose(.disconnected(code: 3000, reason: "draining", retryAfter: .seconds(5)))
        #expect(link.state == .connecting)
        link.advance(to: .seconds(5))
        #expect(link.questions.map(\.at) == [.zero, .seconds(5)])
        #expect(link.attempts.count == 1)
    }

    @Test func `S-54: another path gets no token that has ended`() {
        var link = link(servers: 2)
        link.login()
        link.provide("first", to: 1)
        link.tokenExpires(in: .seconds(3))
        link.advance(to: .seconds(3))
        link.changePath()
        #expect(link.attempts.count == 1)
        #expect(link.questions.map(\.at) == [.zero, .seconds(3)])
        link.provide("second", to: 2)
        #expect(link.state == .connected)
    }

    @Test(arguments: ["first", "second"])
    func `S-53: a lost session asks twice before a provider's expired token ends it`(answer: String) {
        var link = link { at, _ in
            at == .zero ? .accepted : .refused(RTMError(.tokenExpired, "expired"))
        }
        link.login()
        link.provide("first", to: 1)
        link.advance(to: .seconds(1))
        link.lose(.disconnected(code: 3506, reason: "expired", retryAfter: nil))
        link.provide(answer, to: 2)
        #expect(link.state == .disconnected)
        link.advance(to: .seconds(5))
        #expect(link.questions.map(\.number) == [1, 2, 3])
        link.provide(answer, to: 3)
        #expect(link.state == .failed)
        #expect(link.lastChange?.reasonCode == .tokenExpired)
        // What has ended is presented to nobody.
        #expect(link.attempts.count == (answer == "first" ? 1 : 2))
    }

    @Test func `T3, S-53: a provider whose own token has expired ends the link`() {
        var link = link { _, _ in .refused(RTMError(.tokenExpired, "expired")) }
        link.login()
        link.provide("old", to: 1)
        #expect(link.state == .failed)
        #expect(link.completions.map(\.code) == [.tokenExpired])
    }

    @Test(arguments: [false, true])
    func `S-53: a logout, or a newer login, ends what waits for the provider`(isLogout: Bool) {
        var link = link()
        link.login(1)
        if isLogout { link.logout() } else { link.login(2) }
        #expect(link.completions.map(\.login) == [1])
        #expect(link.completions.map(\.code) == [.loginCanceled])
        link.provide("late", to: 1)
        #expect(link.attempts.isEmpty)
        #expect(link.machine.token == nil)
    }
}
