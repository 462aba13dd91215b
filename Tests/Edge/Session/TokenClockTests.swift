import NIOCore
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("How long a token lets its session live")
struct TokenClockTests {
    private var clock = TokenClock(expiresAt: 100_000)

    @Test("S-50: the warning comes 30 s before the end, once; then the end")
    mutating func life() {
        #expect(clock.check(now: 0) == .valid(for: .seconds(70)))
        #expect(clock.check(now: 69_999) == .valid(for: .milliseconds(1)))
        #expect(clock.check(now: 70_000) == .willExpire(in: .seconds(30)))
        #expect(clock.check(now: 70_000) == .valid(for: .seconds(30)))
        #expect(clock.check(now: 99_999) == .valid(for: .milliseconds(1)))
        #expect(clock.check(now: 100_000) == .expired)
        #expect(clock.check(now: .max) == .expired)
    }

    @Test("S-50: less than 30 s at the beginning is warned of at once, with what is left")
    mutating func short() {
        #expect(clock.check(now: 98_800) == .willExpire(in: .milliseconds(1_200)))
        #expect(clock.check(now: 98_800) == .valid(for: .milliseconds(1_200)))
    }

    @Test("a token that has ended before it was looked at is not warned of")
    mutating func late() {
        #expect(clock.check(now: 100_001) == .expired)
    }

    @Test("S-52: a renewal arms the warning again")
    mutating func renewal() {
        #expect(clock.check(now: 75_000) == .willExpire(in: .seconds(25)))
        clock.renewed(expiresAt: 675_000)
        #expect(clock.check(now: 100_000) == .valid(for: .seconds(545)))
        #expect(clock.check(now: 645_000) == .willExpire(in: .seconds(30)))
        #expect(clock.check(now: 675_000) == .expired)
    }

    @Test("S-52: a renewal may bring the end nearer")
    mutating func shorter() {
        clock.renewed(expiresAt: 50_000)
        #expect(clock.check(now: 0) == .valid(for: .seconds(20)))
        #expect(clock.check(now: 50_000) == .expired)
    }

    @Test("2.2.6: the warning is not repeated for a renewal with the same end")
    mutating func sameEnd() {
        #expect(clock.check(now: 80_000) == .willExpire(in: .seconds(20)))
        for now in stride(from: 80_000 as UInt64, to: 100_000, by: 1_000) {
            clock.renewed(expiresAt: 100_000)
            #expect(clock.check(now: now) == .valid(for: .milliseconds(100_000 - now)))
        }
    }

    @Test("a wall clock that is set meanwhile is followed")
    mutating func clockSet() {
        #expect(clock.check(now: 10_000) == .valid(for: .seconds(60)))
        #expect(clock.check(now: 90_000) == .willExpire(in: .seconds(10)))
        #expect(clock.check(now: 20_000) == .valid(for: .seconds(80)), "set back: warned already")
        #expect(clock.check(now: 200_000) == .expired)
    }

    @Test("the longest life that a token can state is no trouble")
    mutating func longest() {
        let longest = 2 * UInt64(UInt32.max) * 1000
        clock.renewed(expiresAt: longest)
        guard case .valid(let duration) = clock.check(now: 0) else {
            return #expect(Bool(false), "not valid")
        }
        #expect(NIODeadline.now() + TimeAmount(duration) > .now())
    }
}

/// Behaviour.md, appendix D: the timed scenarios of tokens, with a connection's one deadline under a virtual
/// clock.
@Suite("Appendix D: tokens")
struct TokenScenarioTests {
    @Test("a token of 40 s: will expire 10 s after login, once; the end at 40 s (S-50, S-51)")
    func fortySeconds() {
        var connection = VirtualConnection(tokenLife: 40)
        connection.run(until: 1_000)
        #expect(connection.events == ["10 willExpire 30", "40 tokenExpired"])
    }

    @Test("renewed at 35 s for 600 s: nothing at 40 s, will expire at 605 s, the end at 635 s (S-50, S-52)")
    func renewed() {
        var connection = VirtualConnection(tokenLife: 40)
        connection.run(until: 35)
        connection.renew(life: 600)
        connection.run(until: 1_000)
        #expect(connection.events == ["10 willExpire 30", "605 willExpire 30", "635 tokenExpired"])
    }

    @Test("a refused renewal changes nothing (S-52)")
    func refused() {
        var connection = VirtualConnection(tokenLife: 40)
        connection.run(until: 35)
        connection.run(until: 1_000)
        #expect(connection.events == ["10 willExpire 30", "40 tokenExpired"])
    }

    @Test("a token without warning time: will expire with the login, the end in its time")
    func short() {
        var connection = VirtualConnection(tokenLife: 2)
        connection.run(until: 1_000)
        #expect(connection.events == ["0 willExpire 2", "2 tokenExpired"])
    }

    @Test("S-41: a silent client ends before its token does, and a token doesn't keep it")
    func silence() {
        var connection = VirtualConnection(tokenLife: 600, beats: false)
        connection.run(until: 1_000)
        #expect(connection.events == ["15 heartbeatTimeout"])
    }

    @Test("S-2: without a token nothing ever expires")
    func appID() {
        var connection = VirtualConnection(tokenLife: nil)
        connection.run(until: 1_000)
        #expect(connection.events.isEmpty)
    }

    @Test("A client that answers each warning with a short token is warned once for each")
    func shortTokens() {
        var connection = VirtualConnection(tokenLife: 20)
        for start in stride(from: 10, through: 50, by: 10) {
            connection.run(until: start)
            connection.renew(life: 20)
        }
        connection.run(until: 1_000)
        let warnings = ["0", "10", "20", "30", "40", "50"].map { "\($0) willExpire 20" }
        #expect(connection.events == warnings + ["70 tokenExpired"])
    }
}

/// A connection that is asked when it wanted to be, or at the wheel's horizon, and whose client sends a
/// heartbeat every 5 s.
private struct VirtualConnection {
    private var deadline = ConnectionDeadline(now: .at(1_000), handshakeTimeout: .seconds(10))
    private var next = 0
    private var seconds = 0
    private let beats: Bool
    private var isEnded = false
    private(set) var events: [String] = []

    /// In seconds from the login on.
    init(tokenLife: UInt64?, beats: Bool = true) {
        self.beats = beats
        deadline.loggedIn(now: .at(1_000), heartbeatInterval: .seconds(5), grace: .seconds(10))
        deadline.tokenAccepted(expiresAt: tokenLife.map { Self.utc(0) + $0 * 1000 })
        check()
    }

    mutating func renew(life: UInt64) {
        deadline.tokenAccepted(expiresAt: Self.utc(seconds) + life * 1000)
        check()
    }

    mutating func run(until end: Int) {
        while seconds < end, !isEnded {
            seconds += 1
            if beats, seconds.isMultiple(of: 5) { deadline.frameReceived(now: .at(1_000 + seconds)) }
            if seconds >= next { check() }
        }
    }

    private mutating func check() {
        guard !isEnded else { return }
        switch deadline.check(now: .at(1_000 + seconds), utc: Self.utc(seconds)) {
        case .alive(let until):
            next = Int((until - .at(1_000)).nanoseconds / 1_000_000_000)
            #expect(next > seconds, "it would be asked for ever")
        case .tokenWillExpire(let remaining):
            events.append("\(seconds) willExpire \(remaining.components.seconds)")
            check()
        case .expired(let disconnect):
            events.append("\(seconds) \(disconnect.code)")
            isEnded = true
        }
    }

    private static func utc(_ seconds: Int) -> UInt64 { 1_790_000_000_000 + UInt64(seconds) * 1000 }
}

extension NIODeadline {
    fileprivate static func at(_ seconds: Int) -> NIODeadline {
        .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000)
    }
}
