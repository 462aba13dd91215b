import NIOCore
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMServiceLink

@Suite struct StateMachineTests {
    private let start = NIODeadline.uptimeNanoseconds(1 << 40)
    private let configuration = ServiceLinkClientConfiguration(service: "messaging", node: "edge-1")

    private func welcome(_ incarnation: UInt64, service: String = "messaging", version: UInt32 = 1)
        -> ServiceLinkWelcome
    {
        ServiceLinkWelcome(version: version, service: service, incarnation: incarnation)
    }

    private func greeting() -> ServiceLinkStateMachine {
        var machine = ServiceLinkStateMachine(configuration)
        let isFirst = machine.start(now: start)
        #expect(isFirst)
        #expect(machine.opened(now: start)?.service == "messaging")
        return machine
    }

    @Test("the first welcome brings the link up, a second one is out of place")
    func up() {
        var machine = greeting()
        let peer = ServiceLinkPeer(incarnation: 7, isFirst: true, hasChanged: false)
        #expect(machine.welcomed(welcome(7), now: start) == .up(peer))
        #expect(machine.isUp)
        #expect(machine.welcomed(welcome(7), now: start) == .unexpected)
    }

    @Test("start works once")
    func startOnce() {
        var machine = greeting()
        let isSecond = machine.start(now: start)
        #expect(!isSecond)
    }

    @Test("a peer of another service or version is refused")
    func refusals() {
        var machine = greeting()
        guard case .refuse(let wrong) = machine.welcomed(welcome(1, service: "storage"), now: start),
            case .refuse(let old) = machine.welcomed(welcome(1, version: 2), now: start)
        else {
            Issue.record("not refused")
            return
        }
        #expect(wrong.reason == .wrongService && old.reason == .version)
        #expect(!machine.isUp)
    }

    @Test("the same process after a loss is not a change, another one is")
    func incarnations() {
        var machine = greeting()
        _ = machine.welcomed(welcome(7), now: start)
        for (incarnation, hasChanged) in [(7, false), (8, true)] as [(UInt64, Bool)] {
            let wasUp = machine.lost(now: start, random: 0.5)
            #expect(wasUp)
            #expect(machine.wake(now: start + .seconds(10)) == .connect)
            _ = machine.opened(now: start)
            let peer = ServiceLinkPeer(incarnation: incarnation, isFirst: false, hasChanged: hasChanged)
            #expect(machine.welcomed(welcome(incarnation), now: start) == .up(peer))
        }
    }

    @Test("no connection and no welcome in time end the attempt")
    func attemptDeadlines() {
        var machine = ServiceLinkStateMachine(configuration)
        _ = machine.start(now: start)
        guard case .close(.connectFailed) = machine.wake(now: start + .seconds(5)) else {
            Issue.record("the attempt goes on")
            return
        }
        let wasUp = machine.lost(now: start, random: 0)
        #expect(!wasUp)
        #expect(machine.wake(now: start) == .connect)
        _ = machine.opened(now: start)
        #expect(machine.wake(now: start + .seconds(4)) == .none)
        #expect(machine.wake(now: start + .seconds(5)) == .close(.handshakeTimedOut))
    }

    @Test("after stop nothing happens any more")
    func stop() {
        var machine = greeting()
        let wasUp = machine.stop()
        #expect(!wasUp)
        #expect(machine.nextWake == nil)
        #expect(machine.wake(now: start + .hours(1)) == .none)
        #expect(machine.welcomed(welcome(1), now: start) == .unexpected)
        #expect(machine.opened(now: start) == nil)
        _ = machine.lost(now: start, random: 0.5)
        #expect(machine.nextWake == nil)
    }

    @Test("the called end: first a hello, then a life; without one the link ends at the deadline")
    func calledEnd() {
        var configuration = ServiceLinkServerConfiguration(service: "messaging")
        configuration.link.secret = "s"
        let hello = ServiceLinkHello(version: 1, service: "messaging", node: "edge-1", secret: "s")
        var late = AcceptedServiceLinkStateMachine(configuration, now: start)
        #expect(late.wake(now: start + .seconds(4)) == .none)
        #expect(late.wake(now: start + .seconds(5)) == .close(.handshakeTimedOut))

        var machine = AcceptedServiceLinkStateMachine(configuration, now: start)
        #expect(
            machine.greeted(hello, now: start)
                == .welcome(
                    ServiceLinkWelcome(
                        version: 1, service: "messaging", incarnation: configuration.incarnation)))
        #expect(machine.greeted(hello, now: start) == .unexpected)
        #expect(machine.wake(now: start + .seconds(5)) == .sendHeartbeat)
        #expect(machine.wake(now: start + .seconds(15)) == .close(.silent))
    }

    @Test("the called end refuses another version, service or secret")
    func admission() {
        let admission = ServiceLinkAdmission(service: "messaging", secret: "s")
        func refusal(_ version: UInt32, _ service: String, _ secret: String) -> ServiceLinkGoAway.Reason? {
            admission.refusal(
                of: ServiceLinkHello(version: version, service: service, node: "n", secret: secret))?
                .reason
        }
        #expect(refusal(1, "messaging", "s") == nil)
        #expect(refusal(2, "messaging", "s") == .version)
        #expect(refusal(1, "storage", "s") == .wrongService)
        #expect(refusal(1, "messaging", "t") == .wrongSecret)
        #expect(refusal(1, "messaging", "") == .wrongSecret)
    }

    /// Anything may happen in any order. Until the stop, time always has something to wait for, and the link
    /// is up only between a welcome and a loss.
    @Test("a random walk never gets stuck", arguments: 0..<50 as Range<UInt64>)
    func randomWalk(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = ServiceLinkStateMachine(configuration)
        var now = start
        var mayBeUp = false
        _ = machine.start(now: now)
        for _ in 0..<500 {
            now = now + .milliseconds(.random(in: 0...8000, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: _ = machine.opened(now: now)
            case 1:
                if case .up = machine.welcomed(welcome(.random(in: 1...3, using: &random)), now: now) {
                    mayBeUp = true
                }
            case 2:
                #expect(machine.lost(now: now, random: .random(in: 0..<1, using: &random)) == mayBeUp)
                mayBeUp = false
            case 3: _ = machine.heard(now: now)
            default:
                if case .close = machine.wake(now: now) {
                    #expect(machine.lost(now: now, random: 0.5) == mayBeUp)
                    mayBeUp = false
                }
            }
            #expect(machine.isUp == mayBeUp)
            #expect(machine.nextWake != nil)
        }
        _ = machine.stop()
        #expect(machine.nextWake == nil && !machine.isUp)
    }
}
