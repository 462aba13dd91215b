import NIOCore
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("When a silent connection ends")
struct ConnectionDeadlineTests {
    private var deadline = ConnectionDeadline(now: .at(100), handshakeTimeout: .seconds(10))

    @Test("without a login it ends at the handshake's limit, and talking doesn't help")
    mutating func handshake() {
        #expect(deadline.check(now: .at(100)) == .alive(until: .at(110)))
        for now in 101..<110 {
            deadline.heard(now: .at(Double(now)))
            #expect(deadline.check(now: .at(Double(now))) == .alive(until: .at(110)))
        }
        #expect(deadline.check(now: .at(109.999)) == .alive(until: .at(110)))
        #expect(code(at: 110) == 3503)
    }

    @Test("S-41: after login it ends a heartbeat interval and the grace after the last sign of life")
    mutating func heartbeat() {
        deadline.loggedIn(now: .at(105), heartbeatInterval: .seconds(5), grace: .seconds(10))
        #expect(deadline.check(now: .at(105)) == .alive(until: .at(120)))
        deadline.heard(now: .at(112))
        #expect(deadline.check(now: .at(126.999)) == .alive(until: .at(127)))
        #expect(code(at: 127) == 3002)
        #expect(code(at: 500) == 3002)
    }

    @Test("a sign of life that the timer didn't outrun saves the connection")
    mutating func lateSignOfLife() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(5), grace: .seconds(10))
        deadline.heard(now: .at(114.999))
        #expect(deadline.check(now: .at(115)) == .alive(until: .at(129.999)))
    }

    @Test("a login may bring the deadline nearer than the handshake's limit was")
    mutating func shorterAfterLogin() {
        deadline = ConnectionDeadline(now: .at(100), handshakeTimeout: .seconds(300))
        deadline.loggedIn(now: .at(101), heartbeatInterval: .seconds(5), grace: .seconds(10))
        #expect(deadline.check(now: .at(101)) == .alive(until: .at(116)))
        #expect(code(at: 116) == 3002)
    }

    @Test("the reason says how long nothing was heard")
    mutating func reason() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(30), grace: .seconds(10))
        guard case .expired(let disconnect) = deadline.check(now: .at(140)) else {
            return #expect(Bool(false), "still alive")
        }
        #expect(disconnect.reason.contains("40 s"))
    }

    private func code(at seconds: Double) -> UInt32? {
        guard case .expired(let disconnect) = deadline.check(now: .at(seconds)) else { return nil }
        return disconnect.code.rawValue
    }
}

extension NIODeadline {
    fileprivate static func at(_ seconds: Double) -> NIODeadline {
        .uptimeNanoseconds(UInt64((seconds * 1000).rounded()) * 1_000_000)
    }
}
