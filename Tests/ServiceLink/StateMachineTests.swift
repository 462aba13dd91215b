import NIOCore
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMServiceLink

@Suite struct StateMachineTests {
    private let start = NIODeadline.uptimeNanoseconds(1 << 40)
    private let configuration = ServiceLinkClientConfiguration(service: "messaging", node: "edge-1")

    private let nonce = [UInt8](repeating: 1, count: 32)
    private let challenge = ServiceLinkChallenge(nonce: [UInt8](repeating: 2, count: 32))

    private func hello(version: UInt32 = ServiceLinkVersion.current, service: String = "messaging")
        -> ServiceLinkHello
    {
        ServiceLinkHello(version: version, service: service, node: "edge-1", nonce: nonce)
    }

    private func welcome(
        _ incarnation: UInt64, service: String = "messaging", version: UInt32 = ServiceLinkVersion.current,
        secret: String = ""
    ) -> ServiceLinkWelcome {
        let handshake = ServiceLinkHandshake(hello: hello(), challenge: challenge)
        return ServiceLinkWelcome(
            version: version, service: service, incarnation: incarnation,
            proof: handshake.serviceProof(secret, incarnation: incarnation, shards: 0))
    }

    /// The machine has sent its proof.
    private func greeting() -> ServiceLinkStateMachine {
        var machine = ServiceLinkStateMachine(configuration)
        let isFirst = machine.start(now: start)
        #expect(isFirst)
        #expect(machine.opened(now: start, nonce: nonce)?.service == "messaging")
        let proof = machine.challenged(challenge)
        #expect(proof != nil)
        return machine
    }

    @Test("a service that does not know the secret is refused, and a second challenge is out of place")
    func foreignService() {
        var machine = greeting()
        guard case .refuse(let goAway) = machine.welcomed(welcome(1, secret: "guessed"), now: start) else {
            Issue.record("not refused")
            return
        }
        #expect(goAway.reason == .wrongSecret)
        let again = machine.challenged(challenge)
        #expect(again == nil)
    }

    @Test("a proof is of use for one connection, one role and one secret only")
    func proofs() {
        let handshake = ServiceLinkHandshake(hello: hello(), challenge: challenge)
        let proof = handshake.callerProof("s")
        #expect(handshake.isRight(proof, "s"))
        #expect(!handshake.isRight(proof, "t"))
        #expect(!handshake.isRight(ServiceLinkProof(proof: []), "s"))
        #expect(proof.proof != handshake.serviceProof("s", incarnation: 1, shards: 0))
        let other = ServiceLinkHandshake(
            hello: hello(), challenge: ServiceLinkChallenge(nonce: [UInt8](repeating: 3, count: 32)))
        #expect(!other.isRight(proof, "s"))
        #expect(ServiceLinkHandshake.nonce() != ServiceLinkHandshake.nonce())
        #expect(ServiceLinkHandshake.nonce().count == 32)
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
            case .refuse(let old) = machine.welcomed(welcome(1, version: 1), now: start)
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
            _ = machine.opened(now: start, nonce: nonce)
            _ = machine.challenged(challenge)
            let peer = ServiceLinkPeer(incarnation: incarnation, isFirst: false, hasChanged: hasChanged)
            #expect(machine.welcomed(welcome(incarnation), now: start) == .up(peer))
        }
    }

    @Test("no connection and no welcome in time end the attempt")
    func attemptDeadlines() {
        var machine = ServiceLinkStateMachine(configuration)
        _ = machine.start(now: start)
        guard case .close(.connectFailed) = machine.wake(now: start + .seconds(1)) else {
            Issue.record("the attempt goes on")
            return
        }
        let wasUp = machine.lost(now: start, random: 0)
        #expect(!wasUp)
        #expect(machine.wake(now: start) == .connect)
        _ = machine.opened(now: start, nonce: nonce)
        #expect(machine.wake(now: start + .milliseconds(4_999)) == .none)
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
        let afterStop = machine.opened(now: start, nonce: nonce)
        #expect(afterStop == nil)
        _ = machine.lost(now: start, random: 0.5)
        #expect(machine.nextWake == nil)
    }

    @Test("the called end: first a hello, then a life; without one the link ends at the deadline")
    func calledEnd() {
        var configuration = ServiceLinkServerConfiguration(service: "messaging")
        configuration.link.secret = "s"
        var late = AcceptedServiceLinkStateMachine(configuration, now: start)
        #expect(late.wake(now: start + .milliseconds(4_999)) == .none)
        _ = late.greeted(hello(), nonce: challenge.nonce)
        #expect(late.wake(now: start + .seconds(5)) == .close(.handshakeTimedOut))

        var machine = AcceptedServiceLinkStateMachine(configuration, now: start)
        #expect(machine.greeted(hello(), nonce: challenge.nonce) == .challenge(challenge))
        #expect(machine.greeted(hello(), nonce: challenge.nonce) == .unexpected)
        let handshake = ServiceLinkHandshake(hello: hello(), challenge: challenge)
        let incarnation = configuration.incarnation
        let welcome = ServiceLinkWelcome(
            version: ServiceLinkVersion.current, service: "messaging", incarnation: incarnation,
            proof: handshake.serviceProof("s", incarnation: incarnation, shards: 1), shards: 1)
        #expect(machine.proved(handshake.callerProof("s"), now: start) == .welcome(welcome, hello()))
        #expect(machine.proved(handshake.callerProof("s"), now: start) == .unexpected)
        #expect(machine.wake(now: start + .seconds(2)) == .sendHeartbeat)
        #expect(machine.wake(now: start + .seconds(6)) == .close(.silent))
    }

    @Test("the called end refuses another version, another service, and a proof with another secret")
    func admission() {
        let admission = ServiceLinkAdmission(service: "messaging", shards: 4)
        #expect(admission.refusal(of: hello()) == nil)
        #expect(admission.refusal(of: hello(version: 1))?.reason == .version)
        #expect(admission.refusal(of: hello(service: "storage"))?.reason == .wrongService)
        var other = hello()
        other.shard = 3
        #expect(admission.refusal(of: other) == nil)
        other.shard = 4
        #expect(admission.refusal(of: other)?.reason == .wrongService)
        let short = ServiceLinkHello(
            version: ServiceLinkVersion.current, service: "messaging", node: "n", nonce: [1])
        #expect(admission.refusal(of: short)?.reason == .protocolError)
        for secret in ["t", ""] {
            var configuration = ServiceLinkServerConfiguration(service: "messaging")
            configuration.link.secret = "s"
            var machine = AcceptedServiceLinkStateMachine(configuration, now: start)
            _ = machine.greeted(hello(), nonce: challenge.nonce)
            let handshake = ServiceLinkHandshake(hello: hello(), challenge: challenge)
            let action = machine.proved(handshake.callerProof(secret), now: start)
            guard case .refuse(let goAway, node: "edge-1") = action else {
                Issue.record("not refused")
                continue
            }
            #expect(goAway.reason == .wrongSecret)
        }
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
            case 0:
                _ = machine.opened(now: now, nonce: nonce)
                _ = machine.challenged(challenge)
            case 1:
                if case .up = machine.welcomed(welcome(.random(in: 1...3, using: &random)), now: now) {
                    mayBeUp = true
                }
            case 2:
                #expect(machine.lost(now: now, random: .random(in: 0..<1, using: &random)) == mayBeUp)
                mayBeUp = false
            case 3: _ = machine.bytesReceived(now: now)
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
