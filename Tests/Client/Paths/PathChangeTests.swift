import RTMModel
import Testing

@testable import RTMClient

/// What a change of the path means for the link's states (N-5).
struct PathChangeTests {
    /// A link that goes on over another path, and has not logged in there.
    private func changing() -> VirtualLink {
        var link = VirtualLink(.exact(servers: 2)) { _, _ in .accepted }
        link.login()
        #expect(link.states == [.connecting, .connected])
        link.reach = { _, _ in .silent }
        link.perform(link.machine.changePath(to: 1, reason: "stalled", now: link.now))
        #expect(link.others == [.takeOver(attempt: 2, reason: "stalled")])
        return link
    }

    @Test("N-5: a change of the path that succeeds is no change of the link")
    func success() {
        var link = changing()
        link.machine.loginAccepted(attempt: 2, now: link.now)
        link.perform(link.machine.restored(attempt: 2, unrestoredChannels: [], now: link.now))
        #expect(link.others.last == .pathChanged)
        #expect(link.changes.count == 2 && link.state == .connected)
        #expect(link.machine.server == 1)
        // A later loss is one of the new connection.
        link.perform(
            link.machine.connectionEnded(attempt: 2, .heartbeatTimeout, now: link.now, random: &link.random))
        #expect(link.lastChange?.current == .disconnected && link.lastChange?.previous == .connected)
    }

    @Test("N-5: a change of the path that fails is a lost connection")
    func failure() {
        var link = changing()
        link.perform(
            link.machine.connectionEnded(
                attempt: 2, .connectionError("cut"), now: link.now, random: &link.random))
        #expect(link.lastChange?.current == .disconnected && link.lastChange?.previous == .connected)
        link.reach = { _, _ in .accepted }
        link.advance(to: .seconds(3))
        #expect(link.state == .connected && link.lastChange?.isResumed == true)
    }

    @Test("N-5: a login on the other path that takes too long is a lost connection")
    func silence() {
        var link = changing()
        link.advance(to: .seconds(10))
        #expect(link.changes[2].change.current == .disconnected)
        #expect(link.changes[2].change.previous == .connected)
    }

    @Test("N-5: a channel that can't be restored on the other path is told")
    func unrestored() {
        var link = changing()
        link.perform(link.machine.restored(attempt: 2, unrestoredChannels: ["lobby"], now: link.now))
        #expect(link.lastChange?.current == .connected && link.lastChange?.previous == .connected)
        #expect(link.lastChange?.unrestoredChannels == ["lobby"])
        #expect(link.lastChange?.isResumed == false)
    }

    @Test("N-5: what is reported of the old path is of no interest, and a logout ends the change")
    func others() {
        var link = changing()
        link.perform(
            link.machine.connectionEnded(attempt: 1, .heartbeatTimeout, now: link.now, random: &link.random))
        #expect(link.changes.count == 2)
        link.logout()
        #expect(link.state == .idle && link.lastChange?.previous == .connected)
    }

    @Test("Only a link that is connected changes its path")
    func unconnected() {
        var link = VirtualLink { _, _ in .silent }
        #expect(link.machine.changePath(to: 0, reason: "", now: link.now).isEmpty)
        link.login()
        #expect(link.machine.changePath(to: 0, reason: "", now: link.now).isEmpty)
    }
}
