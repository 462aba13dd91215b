// Appendix D of the behaviour, to the second: real clients, edges, presence and messaging under a virtual
// clock.

import NIOCore
import RTMClient
import RTMModel
import Testing

@testable import RTMPresenceServer
@testable import RTMTestKit

@Suite("Timed scenarios of an installation")
struct TimedScenarioTests {
    private static let times = [(heartbeat: 10, timeout: 5), (5, 300)]

    @Test(
        "Appendix D, S-41, S-42, S-44: silently cut, offline 10 s after the heartbeat that didn't come, timed out after the presence timeout, listed until then",
        arguments: times)
    func silentCut(heartbeat: Int, timeout: Int) {
        let stage = Stage(heartbeat: heartbeat, timeout: timeout)
        stage.ben.publish("a sign of life", to: .channel("lobby"))
        stage.pass(.milliseconds(10))
        stage.cut()
        stage.pass(.seconds(Int64(heartbeat + 10 + timeout)) - .milliseconds(50))
        #expect(stage.announcedToAnna().isEmpty)
        #expect(stage.online() == ["user1", "user2"])
        stage.pass(.seconds(2))
        #expect(stage.announcedToAnna() == [.timedOut("user2")])
        #expect(stage.online() == ["user1"])
        stage.end()
    }

    @Test("S-41, S-42: a socket that closes without a logout is offline from that moment", arguments: times)
    func closedSocket(heartbeat: Int, timeout: Int) {
        let stage = Stage(heartbeat: heartbeat, timeout: timeout)
        stage.installation.killDevice(stage.ben)
        stage.pass(.seconds(Int64(timeout)) - .milliseconds(50))
        #expect(stage.announcedToAnna().isEmpty)
        #expect(stage.online() == ["user1", "user2"])
        stage.pass(.seconds(1))
        #expect(stage.announcedToAnna() == [.timedOut("user2")])
        stage.end()
    }

    @Test("S-40, T5: a client without an answer for 10 s is disconnected, not sooner")
    func unanswered() {
        let stage = Stage(heartbeat: 5, timeout: 300)
        stage.cut()
        // The first heartbeat that isn't answered is sent now at the earliest, and in 5 s at the latest.
        stage.pass(.milliseconds(9_990))
        #expect(stage.linkOfBen().isEmpty)
        stage.pass(.milliseconds(5_100))
        #expect(stage.linkOfBen().first == .disconnected)
        stage.end()
    }

    @Test("Appendix D, S-17, S-21, S-43: back within the timeout: nothing to others, states intact")
    func backInTime() {
        let stage = Stage(heartbeat: 5, timeout: 120)
        stage.ben.setState("fine", in: "lobby")
        stage.pass(.seconds(1))
        stage.forget()
        stage.cut()
        stage.pass(.seconds(60))
        stage.mend()
        stage.pass(.seconds(40))
        #expect(Set(stage.linkOfBen().dropLast()) == [.disconnected, .connecting])
        #expect(stage.linkOfBen().last == .connected)
        #expect(stage.resumptionsOfBen() == 1)
        guard case .snapshot(let users) = stage.announcedToBen().last else {
            Issue.record("no snapshot after the return")
            return stage.end()
        }
        #expect(users.last?.userID == "user2" && users.last?.states == ["mood": "fine"])
        stage.pass(.seconds(180))
        #expect(stage.announcedToAnna().isEmpty)
        #expect(stage.online() == ["user1", "user2"])
        stage.end()
    }

    @Test(
        "Appendix D, T10 to T12, S-17, S-19: cut for 150 s: suspended, back without being resumed, and subscribed as before"
    )
    func suspended() {
        let stage = Stage(heartbeat: 5, timeout: 300)
        stage.cut()
        // Noticed within 15 s, suspended two minutes later.
        stage.pass(.seconds(150))
        #expect(stage.linkOfBen().first == .disconnected)
        #expect(stage.linkOfBen().contains(.suspended))
        #expect(!stage.linkOfBen().contains(.connected))
        stage.mend()
        stage.pass(.seconds(45))
        #expect(stage.linkOfBen().last == .connected)
        #expect(stage.resumptionsOfBen() == 0)
        guard case .snapshot(let users) = stage.announcedToBen().last else {
            Issue.record("no snapshot after the return")
            return stage.end()
        }
        #expect(users.map(\.userID) == ["user1", "user2"])
        stage.forget()
        stage.anna.publish("after it", to: .channel("lobby"))
        stage.anna.setState("fine", in: "lobby")
        stage.pass(.seconds(1))
        #expect(stage.messagesToBen() == ["after it"])
        let fine = UserState(userID: "user1", states: ["mood": "fine"])
        #expect(stage.announcedToBen() == [.statesChanged(fine)])
        #expect(stage.online() == ["user1", "user2"])
        stage.end()
    }

    @Test("Appendix D, S-42, S-43, P-41: back after the timeout: timeout, then join, with the cached states")
    func backLate() {
        let stage = Stage(heartbeat: 5, timeout: 5)
        stage.ben.setState("fine", in: "lobby")
        stage.pass(.seconds(1))
        stage.forget()
        stage.cut()
        stage.pass(.seconds(60))
        stage.mend()
        stage.pass(.seconds(40))
        let fine = ["mood": "fine"]
        #expect(
            stage.announcedToAnna() == [
                .timedOut("user2"), .joined("user2", states: fine),
            ])
        stage.end()
    }

    @Test(
        "Appendix D, S-22, P-25: a logout is told at once, or after the debounce time, and never as a timeout"
    )
    func logout() {
        for debounce in [Int64(0), 2_000] {
            let stage = Stage(heartbeat: 5, timeout: 5, debounce: UInt64(debounce))
            stage.ben.logout()
            stage.pass(.milliseconds(max(debounce - 10, 0)))
            #expect(stage.announcedToAnna().isEmpty)
            stage.pass(.seconds(1))
            #expect(stage.announcedToAnna() == [.left("user2")])
            stage.pass(.seconds(60))
            #expect(stage.announcedToAnna().count == 1)
            stage.end()
        }
    }

    @Test(
        "Appendix D, S-10, S-11, S-12: the same user elsewhere: the older fails for good, others see him go and come"
    )
    func elsewhere() {
        let stage = Stage(heartbeat: 5, timeout: 300)
        stage.installation.startDevice(of: "user2")
        let newer = stage.installation.devices[2].device
        newer.login()
        stage.pass(.seconds(1))
        #expect(stage.linkOfBen() == [.failed])
        #expect(newer.state == .connected)
        newer.subscribe(to: "lobby", [.message, .presence])
        stage.pass(.seconds(300))
        #expect(stage.linkOfBen() == [.failed], "it doesn't try again")
        #expect(newer.state == .connected)
        #expect(stage.announcedToAnna() == [.left("user2"), .joined("user2")])
        stage.end()
    }
}

/// Anna, who looks on, and Ben, to whom it happens: two users, both in the lobby for a while.
private final class Stage {
    let installation: Installation
    let anna: Device
    let ben: Device
    private let host: Host
    private var begin = 0

    init(heartbeat: Int, timeout: Int, debounce: UInt64 = 0) {
        let announce = AnnounceRules(announceMax: 50, interval: 5_000, debounce: debounce)
        var size = Installation.Size(edges: 1, users: [1, 1])
        size.presence = .init(
            announce: announce, timeout: .seconds(timeout), heartbeat: .seconds(heartbeat))
        installation = Installation(VirtualWorld(seed: 1), size)
        anna = installation.devices[0].device
        (host, ben) = installation.devices[1]
        for device in [anna, ben] {
            device.login()
            pass(.seconds(5))
            device.subscribe(to: "lobby", [.message, .presence])
            pass(.seconds(5))
        }
        forget()
    }

    func pass(_ time: TimeAmount) { installation.world.pass(time) }

    /// Nothing goes between Ben and the edge, and nobody is told.
    func cut() { for way in ways { installation.network.block(way) } }

    func mend() { for way in ways { installation.network.unblock(way) } }

    private var ways: [Way] {
        let way = Way(from: host, to: installation.edgeHosts[0])
        return [way, way.back]
    }

    // MARK: Since the last `forget`

    func forget() { begin = installation.journal.entries.count }

    func announcedToAnna() -> [PresenceEvent.Change] { reported(anna) }
    func announcedToBen() -> [PresenceEvent.Change] { reported(ben) }

    private func reported(_ device: Device) -> [PresenceEvent.Change] {
        installation.journal.entries[begin...].compactMap { entry in
            guard case .presence(device.id, "lobby", let change, _) = entry.what else { return nil }
            return change
        }
    }

    func linkOfBen() -> [LinkState] {
        installation.journal.entries[begin...].compactMap { entry in
            guard case .link(ben.id, let state, _, _) = entry.what else { return nil }
            return state
        }
    }

    /// How often his link said that nothing is missing.
    func resumptionsOfBen() -> Int {
        installation.journal.entries[begin...].count {
            if case .resumed(ben.id) = $0.what { true } else { false }
        }
    }

    func messagesToBen() -> [String] {
        installation.journal.entries[begin...].compactMap { entry in
            guard case .message(ben.id, _, let message) = entry.what else { return nil }
            return message.text
        }
    }

    /// What Anna receives when she asks; it takes some milliseconds.
    func online() -> [String] {
        anna.askWhoIsIn("lobby")
        pass(.milliseconds(20))
        for entry in installation.journal.entries.reversed() {
            if case .ended(anna.id, _, .online(let users)) = entry.what { return users.map(\.userID) }
        }
        return []
    }

    func end() { installation.end() }
}
