import RTMModel
import Testing

@testable import RTMClient

/// Which token a client presents, and how often it announces that one will expire (S-1, S-7, S-50, S-52).
struct CredentialTests {
    private func link(token: String? = nil) -> VirtualLink {
        var parameters = LinkStateMachine.Parameters.exact
        parameters.token = token
        return VirtualLink(parameters)
    }

    @Test func `S-1: a login brings its token, or takes the configuration's`() {
        var link = link(token: "configured")
        link.login()
        #expect(link.machine.token == "configured")
        link.logout()
        link.login(2, token: "given")
        #expect(link.machine.token == "given")
        link.logout()
        link.login(3)
        #expect(link.machine.token == "configured")
    }

    @Test func `S-52: a lost link comes back with the newest token, also by a login that brings none`() {
        var link = link(token: "old")
        link.login()
        link.machine.tokenRenewed("new")
        link.lose()
        link.advance(to: .seconds(2))
        #expect(link.state == .connected)
        #expect(link.machine.token == "new")
        link.reach = { _, _ in .unreachable }
        link.lose()
        link.advance(to: .seconds(200))
        #expect(link.state == .suspended)
        link.login(2)
        #expect(link.machine.token == "new")
        link.login(3, token: "newest")
        #expect(link.machine.token == "newest")
    }

    @Test func `S-51: after the end of its token a login begins anew, with what it brings`() {
        var link = link(token: "old")
        link.login()
        link.lose(.disconnected(code: 3506, reason: "expired", retryAfter: nil))
        #expect(link.state == .failed)
        link.login(2, token: "new")
        #expect(link.state == .connected)
        #expect(link.machine.token == "new")
    }

    @Test func `S-7: a login while connected renews the token, unless there is nothing new in it`() {
        var link = link(token: "old")
        link.login(1)
        link.login(2)
        link.login(3, token: "old")
        #expect(link.completions.map(\.login) == [1, 2, 3])
        #expect(link.others.isEmpty)
        link.login(4, token: "new")
        #expect(link.others == [.reauthenticate(login: 4, token: "new")])
        #expect(link.machine.token == "old", "it counts when the server has taken it")
    }

    @Test func `2.2.6: the expiry of a token is announced once, however often the link is lost`() {
        var link = link()
        link.login(token: "a")
        #expect(link.tokenExpires() == true)
        #expect(link.tokenExpires() == false)
        link.lose()
        link.advance(to: .seconds(2))
        #expect(link.state == .connected)
        #expect(link.tokenExpires() == false)
        link.machine.tokenRenewed("a")
        #expect(link.tokenExpires() == false, "the same token again")
        link.machine.tokenRenewed("b")
        #expect(link.tokenExpires() == true)
        #expect(link.tokenExpires() == false)
        link.logout()
        link.login(2, token: "b")
        #expect(link.tokenExpires() == true, "a new login is a new session")
    }

    @Test(arguments: ["", "007", "006abc", "nonsense", String(repeating: "x", count: Limits.tokenBytesMax)])
    func `A token that a server can refuse is left to the server`(token: String) throws {
        try Credential.check(token)
    }

    @Test(arguments: ["\0", "007\0", String(repeating: "x", count: Limits.tokenBytesMax + 1)])
    func `2.2.2: a token that no frame can carry is refused at once`(token: String) {
        let error = #expect(throws: RTMError.self) { try Credential.check(token) }
        #expect(error?.code == .invalidToken)
    }
}
