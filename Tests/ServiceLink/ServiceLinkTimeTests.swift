import NIOCore
import Testing

@testable import RTMServiceLink

@Suite struct ServiceLinkTimeTests {
    private let start = NIODeadline.uptimeNanoseconds(1 << 40)

    @Test("back-off doubles to its longest wait, takes a random part of it, and starts anew after a success")
    func backoff() {
        var backoff = Backoff(first: .milliseconds(100), longest: .seconds(1))
        let waits = (0..<6).map { _ in backoff.next(random: 0.5) }
        #expect(waits == [50, 100, 200, 400, 500, 500].map { .milliseconds($0) })
        #expect(backoff.next(random: 0) == .zero)
        backoff.reset()
        #expect(backoff.next(random: 0.5) == .milliseconds(50))
        for _ in 0..<200 { #expect(backoff.next(random: 0.999) <= .seconds(1)) }
    }

    @Test("a caller finds a service within half a second after it is back, however long it was away")
    func relinking() {
        var backoff = ServiceLinkClientConfiguration(service: "messaging", node: "edge").backoff
        for _ in 0..<100 { _ = backoff.next(random: 0.999) }
        #expect(backoff.next(random: 0.999) < .milliseconds(500))
    }

    private func liveness() -> ServiceLinkLiveness {
        var configuration = ServiceLinkConfiguration()
        configuration.heartbeatInterval = .seconds(5)
        configuration.heartbeatDeadline = .seconds(15)
        return ServiceLinkLiveness(configuration, now: start)
    }

    @Test("a quiet peer is asked after the interval and gone at the deadline")
    func silence() {
        var liveness = liveness()
        #expect(liveness.wake(now: start + .seconds(4)) == .none)
        #expect(liveness.wake(now: start + .seconds(5)) == .sendHeartbeat)
        #expect(liveness.wake(now: start + .seconds(14)) == .none)
        #expect(liveness.nextWake == start + .seconds(15))
        #expect(liveness.wake(now: start + .seconds(15)) == .silent)
    }

    @Test("any sound puts the question off")
    func sound() {
        var liveness = liveness()
        let wasAskedBefore = liveness.bytesReceived(now: start + .seconds(4))
        #expect(!wasAskedBefore)
        #expect(liveness.wake(now: start + .seconds(5)) == .none)
        #expect(liveness.wake(now: start + .seconds(9)) == .sendHeartbeat)
        let wasAsked = liveness.bytesReceived(now: start + .seconds(10))
        #expect(wasAsked && liveness.nextWake == start + .seconds(15))
        #expect(liveness.wake(now: start + .seconds(14)) == .none)
        #expect(liveness.wake(now: start + .seconds(19)) == .sendHeartbeat)
    }

    @Test("a process that stood still itself asks again before it blames the peer")
    func ownStandstill() {
        var liveness = liveness()
        #expect(liveness.wake(now: start + .seconds(5)) == .sendHeartbeat)
        #expect(liveness.wake(now: start + .seconds(60)) == .sendHeartbeat)
        #expect(liveness.wake(now: start + .seconds(70)) == .silent)
    }
}
