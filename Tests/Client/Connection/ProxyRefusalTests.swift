import RTMModel
import Testing

@testable import RTMClient

/// What the refusal of a proxy means for the link (N-1).
struct ProxyRefusalTests {
    private let refusal = LinkLoss.connectionError("403", .proxyRefused)

    @Test("N-1: a first login fails when the proxy refuses every server")
    func first() {
        var link = VirtualLink(.exact(servers: 2)) { _, _ in .silent }
        link.login()
        link.lose(refusal)
        #expect(link.state == .connecting && link.attempts.map(\.server) == [0, 1])
        link.lose(refusal)
        #expect(link.state == .failed)
        #expect(link.lastChange?.reasonCode == .connectionError)
        #expect(link.lastChange?.connectionFailure == .proxyRefused)
        #expect(link.completions.map(\.code) == [.loginRejected])
    }

    @Test("N-1: a session that comes back waits until the proxy lets it through")
    func comingBack() {
        var link = VirtualLink(.exact) { time, _ in time < .seconds(20) ? .accepted : .silent }
        link.login()
        link.advance(to: .seconds(20))
        link.lose()
        link.advance(to: .seconds(22))
        link.lose(refusal)
        #expect(link.state == .disconnected)
        link.reach = { _, _ in .accepted }
        link.advance(to: .seconds(30))
        #expect(link.state == .connected)
    }
}
