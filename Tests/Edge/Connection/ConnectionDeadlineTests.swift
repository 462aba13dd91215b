import NIOCore
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("When a silent connection ends")
struct ConnectionDeadlineTests {
    private var deadline = ConnectionDeadline(now: .at(100), handshakeTimeout: .seconds(10))

    @Test("without a login it ends at the handshake's limit, and talking doesn't help")
    mutating func handshake() {
        #expect(deadline.check(now: .at(100), utc: 0) == .alive(until: .at(110)))
        for now in 101..<110 {
            deadline.frameReceived(now: .at(Double(now)))
            #expect(deadline.check(now: .at(Double(now)), utc: 0) == .alive(until: .at(110)))
        }
        #expect(deadline.check(now: .at(109.999), utc: 0) == .alive(until: .at(110)))
        #expect(code(at: 110) == 3005)
    }

    @Test("a client that reads slowly is not cut off, one that stops reading is")
    mutating func slowReader() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(300), grace: .seconds(10))
        deadline.stalls(4_000, behindOthers: false, now: .at(100))
        for look in 1...4 {
            let now = 100 + Double(look) * 55
            deadline.stillWaiting(4_000 - look * 100, now: .at(now))
            deadline.frameReceived(now: .at(now))
            #expect(deadline.check(now: .at(now), utc: 0) == .alive(until: .at(now + 60)))
        }
        deadline.stalls(1_000, behindOthers: true, now: .at(330))
        deadline.stillWaiting(4_600, now: .at(379))
        #expect(code(at: 379) == nil)
        #expect(code(at: 380) == 3001)
    }

    @Test("S-41: after login it ends a heartbeat interval and the grace after the last sign of life")
    mutating func heartbeat() {
        deadline.loggedIn(now: .at(105), heartbeatInterval: .seconds(5), grace: .seconds(10))
        #expect(deadline.check(now: .at(105), utc: 0) == .alive(until: .at(120)))
        deadline.frameReceived(now: .at(112))
        #expect(deadline.check(now: .at(126.999), utc: 0) == .alive(until: .at(127)))
        #expect(code(at: 127) == 3002)
        #expect(code(at: 500) == 3002)
    }

    @Test("who leaves what waits for it unread is cut off after a minute, however often it speaks")
    mutating func unread() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(5), grace: .seconds(10))
        deadline.stalls(100, behindOthers: false, now: .at(101))
        for now in stride(from: 105, to: 161, by: 5) {
            deadline.frameReceived(now: .at(Double(now)))
            let until = min(Double(now) + 15, 161)
            #expect(deadline.check(now: .at(Double(now)), utc: 0) == .alive(until: .at(until)))
        }
        #expect(code(at: 161) == 3001)
        deadline.stallEnded()
        #expect(deadline.check(now: .at(162), utc: 0) == .alive(until: .at(175)))
    }

    @Test("a sign of life that the timer didn't outrun saves the connection")
    mutating func lateSignOfLife() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(5), grace: .seconds(10))
        deadline.frameReceived(now: .at(114.999))
        #expect(deadline.check(now: .at(115), utc: 0) == .alive(until: .at(129.999)))
    }

    @Test("a login may bring the deadline nearer than the handshake's limit was")
    mutating func shorterAfterLogin() {
        deadline = ConnectionDeadline(now: .at(100), handshakeTimeout: .seconds(300))
        deadline.loggedIn(now: .at(101), heartbeatInterval: .seconds(5), grace: .seconds(10))
        #expect(deadline.check(now: .at(101), utc: 0) == .alive(until: .at(116)))
        #expect(code(at: 116) == 3002)
    }

    @Test("S-51: the end of the token ends the connection, however lively it is")
    mutating func token() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(5), grace: .seconds(10))
        deadline.tokenAccepted(expiresAt: 60_000)
        #expect(deadline.check(now: .at(100), utc: 20_000) == .alive(until: .at(110)))
        deadline.frameReceived(now: .at(110))
        #expect(deadline.check(now: .at(110), utc: 30_000) == .tokenWillExpire(in: .seconds(30)))
        #expect(deadline.check(now: .at(110), utc: 30_000) == .alive(until: .at(125)))
        deadline.frameReceived(now: .at(139))
        #expect(deadline.check(now: .at(139), utc: 59_000) == .alive(until: .at(140)))
        guard case .expired(let disconnect) = deadline.check(now: .at(140), utc: 60_000) else {
            return #expect(Bool(false), "still alive")
        }
        #expect(disconnect.code == .tokenExpired)
        #expect(disconnect.retryAfter == .zero)
    }

    @Test("S-2: the app id as credential takes the end away that a token had")
    mutating func noToken() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(5), grace: .seconds(10))
        deadline.tokenAccepted(expiresAt: 60_000)
        deadline.tokenAccepted(expiresAt: nil)
        #expect(deadline.check(now: .at(100), utc: .max) == .alive(until: .at(115)))
    }

    @Test("the reason says how long nothing was heard")
    mutating func reason() {
        deadline.loggedIn(now: .at(100), heartbeatInterval: .seconds(30), grace: .seconds(10))
        guard case .expired(let disconnect) = deadline.check(now: .at(140), utc: 0) else {
            return #expect(Bool(false), "still alive")
        }
        #expect(disconnect.reason.contains("40 s"))
    }

    private mutating func code(at seconds: Double) -> Int? {
        guard case .expired(let disconnect) = deadline.check(now: .at(seconds), utc: 0) else { return nil }
        return disconnect.code.rawValue
    }
}

extension NIODeadline {
    fileprivate static func at(_ seconds: Double) -> NIODeadline {
        .uptimeNanoseconds(UInt64((seconds * 1000).rounded()) * 1_000_000)
    }
}
