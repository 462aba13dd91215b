import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// The times of the link (S-13, S-14, S-17), and the scenarios of behaviour.md, appendix D, that concern it.
struct LinkScheduleTests {
    @Test func `S-14: attempts follow after 2, 4, 8 … s, the last one before 120 s, then every 30 s`() {
        var link = VirtualLink { at, _ in at == .zero ? .accepted : .unreachable }
        link.login()
        link.lose()
        link.advance(to: .seconds(215))
        #expect(link.attempts.map(\.at.components.seconds) == [0, 2, 6, 14, 30, 62, 110, 150, 180, 210])
    }

    @Test func `S-14: a refused address is tried again after 0.25, 0.5, 1, 2, 4 and then each 5 s`() {
        var link = VirtualLink { at, _ in at == .zero ? .accepted : .refusedAddress }
        link.login()
        link.lose()
        link.advance(to: .seconds(25))
        let waits = zip(link.attempts.dropFirst(), link.attempts).map { ($0.at - $1.at) / .seconds(1) }
        #expect(waits == [2, 0.25, 0.5, 1, 2, 4, 5, 5, 5])
        link.advance(to: .seconds(215))
        #expect(
            link.attempts.map(\.at).filter { $0 > .seconds(110) } == [150, 180, 210].map { .seconds($0) })
    }

    @Test(arguments: [5, 13, 40, 100])
    func `S-14: who is refused for a while is back within six seconds of the server`(_ down: Int) {
        for seed in 1...50 as ClosedRange<UInt64> {
            var link = VirtualLink(LinkStateMachine.Parameters()) { at, _ in
                at == .zero || at >= .seconds(down) ? .accepted : .refusedAddress
            }
            link.random = SeededGenerator(seed: seed)
            link.login()
            link.lose()
            link.advance(to: .seconds(down + 6))
            #expect(link.state == .connected, "seed \(seed)")
        }
    }

    @Test func `S-14: refusals don't make the waits for a server that is silent longer, nor the reverse`() {
        var link = VirtualLink { at, _ in
            at == .zero
                ? .accepted
                : at < .seconds(4)
                    ? .refusedAddress
                    : at < .seconds(40)
                        ? .unreachable
                        : .refusedAddress
        }
        link.login()
        link.lose()
        link.advance(to: .seconds(41))
        let times = link.attempts.map { $0.at / .seconds(1) }
        // The attempts at 2, 2.25, 2.75 and 3.75 s are refused; the next ones fail for another reason.
        #expect(times == [0, 2, 2.25, 2.75, 3.75, 5.75, 9.75, 17.75, 33.75])
        link.advance(to: .seconds(67))
        // At 65.75 s the address is refused again, which counts from the beginning.
        #expect(link.attempts.map { $0.at / .seconds(1) }.suffix(3) == [65.75, 66, 66.5])
    }

    @Test func `S-13, S-14: a first login is there soon after the server that was refused before`() {
        var link = VirtualLink { at, _ in at < .seconds(3) ? .refusedAddress : .accepted }
        link.login(9)
        link.advance(to: .seconds(4))
        #expect(link.state == .connected && link.attempts.count == 5)
    }

    @Test(arguments: 1...50)
    func `S-14: with jitter each delay is within 20 %, and an attempt begins shortly before 120 s`(
        seed: UInt64
    ) {
        var link = VirtualLink(LinkStateMachine.Parameters()) { at, _ in
            at == .zero ? .accepted : .unreachable
        }
        link.random = SeededGenerator(seed: seed)
        link.login()
        link.lose()
        link.advance(to: .seconds(119))
        let times = link.attempts.map(\.at)
        for (index, expected) in [2.0, 4, 8, 16, 32].enumerated() {
            let delay = (times[index + 1] - times[index]) / .seconds(1)
            #expect(delay >= expected * 0.8 && delay <= expected * 1.2)
        }
        #expect(times.last.map { $0 > .seconds(45) && $0 <= .seconds(110) } == true)
        link.advance(to: .seconds(120))
        #expect(link.state == .suspended)
    }

    @Test func `S-13: a first login that reaches nobody keeps trying and completes at the suspension`() {
        var link = VirtualLink { at, _ in at < .seconds(200) ? .unreachable : .accepted }
        link.login(9)
        link.advance(to: .seconds(119))
        #expect(link.completions.isEmpty)
        #expect(link.states.prefix(4) == [.connecting, .disconnected, .connecting, .disconnected])
        link.advance(to: .seconds(120))
        #expect(link.completions.map(\.code) == [.loginTimeout])
        #expect(link.state == .suspended)
        link.advance(to: .seconds(220))
        #expect(link.state == .connected)
        #expect(link.completions.count == 1)
    }

    @Test func `Appendix D: cut and back within two minutes is resumed`() {
        var link = VirtualLink { at, _ in at == .zero || at > .seconds(60) ? .accepted : .unreachable }
        link.login()
        link.lose()
        link.advance(to: .seconds(70))
        #expect(link.state == .connected)
        #expect(link.lastChange?.isResumed == true)
    }

    @Test func `Appendix D: a cut of 150 s is suspended at 120 s and comes back not resumed`() {
        var link = VirtualLink { at, _ in at == .zero || at >= .seconds(150) ? .accepted : .unreachable
        }
        link.login()
        link.lose()
        link.advance(to: .seconds(149))
        #expect(link.state == .suspended)
        link.advance(to: .seconds(150))
        #expect(link.state == .connected)
        #expect(link.lastChange?.isResumed == false)
        #expect(link.lastChange?.operation == .reconnected)
    }

    @Test func `S-17: an attempt that ends after two minutes is not a resume`() {
        var link = VirtualLink { at, _ in
            at == .zero ? .accepted : at < .seconds(110) ? .unreachable : .silent
        }
        link.login()
        link.lose()
        link.advance(to: .seconds(119))
        #expect(link.state == .connecting)
        guard let attempt = link.attempts.last?.number else { return }
        link.machine.loginAccepted(attempt: attempt, now: link.now)
        link.advance(to: .seconds(121))
        link.perform(link.machine.restored(attempt: attempt, unrestoredChannels: [], now: link.now))
        #expect(link.lastChange?.current == .connected)
        #expect(link.lastChange?.isResumed == false)
    }

    @Test func `S-5: a silent server costs one attempt timeout, which is 10 s`() {
        var link = VirtualLink { _, _ in .silent }
        link.login()
        link.advance(to: .milliseconds(9999))
        #expect(link.state == .connecting)
        link.advance(to: .seconds(10))
        #expect(link.state == .disconnected)
        #expect(link.others.count == 1)
    }

    @Test func `Servers are tried in order without a link event in between, the working one first later`() {
        var link = VirtualLink(.exact(servers: 3)) { _, server in
            server == 2 ? .accepted : .unreachable
        }
        link.login()
        #expect(link.attempts.map(\.server) == [0, 1, 2])
        #expect(link.states == [.connecting, .connected])
        link.lose()
        link.advance(to: .seconds(2))
        #expect(link.attempts.map(\.server) == [0, 1, 2, 2])
    }

    @Test func `When all servers failed the next round begins with the first`() {
        var link = VirtualLink(.exact(servers: 2)) { _, _ in .unreachable }
        link.login()
        link.advance(to: .seconds(2))
        #expect(link.attempts.map(\.server) == [0, 1, 0, 1])
    }
}
