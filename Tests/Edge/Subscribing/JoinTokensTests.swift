import RTMAccessToken
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMEdgeServer

/// When the tokens of stream channels are warned of, and when memberships end with them (C-2, S-50, S-51).
@Suite struct JoinTokensTests {
    @Test("S-50, S-51: one warning 30 s before the end, then the end; a renewal moves both")
    func life() {
        var tokens = JoinTokens()
        tokens.accepted("room", JoinGrant(expiresAtMilliseconds: 100_000))
        tokens.accepted("brief", JoinGrant(expiresAtMilliseconds: 20_000))
        var (events, next) = tokens.check(now: 0)
        #expect(events == [.willExpire(channel: "brief", in: .seconds(20))])
        #expect(next == .seconds(20))
        (events, next) = tokens.check(now: 20_000)
        #expect(events == [.expired(channel: "brief")] && next == .seconds(50))
        (events, next) = tokens.check(now: 70_000)
        #expect(events == [.willExpire(channel: "room", in: .seconds(30))] && next == .seconds(30))
        tokens.accepted("room", JoinGrant(expiresAtMilliseconds: 200_000))
        (events, next) = tokens.check(now: 100_000)
        #expect(events == [] && next == .seconds(70))
        tokens.left("room")
        (events, next) = tokens.check(now: 300_000)
        #expect(tokens.isEmpty && events == [] && next == nil)
    }

    @Test("A-13: publishing needs the privilege of the token that counts now, while both last")
    func publishing() {
        var tokens = JoinTokens()
        func may(_ now: UInt64) -> Bool { tokens.allowPublishing(in: "room", now: now) }
        #expect(!may(0), "not joined")
        tokens.accepted("room", JoinGrant(expiresAtMilliseconds: 100_000))
        #expect(!may(0), "the token lets join and no more")
        tokens.accepted(
            "room", JoinGrant(expiresAtMilliseconds: 100_000, publishesUntilMilliseconds: 50_000))
        #expect(may(0) && may(49_999) && !may(50_000))
        #expect(!tokens.allowPublishing(in: "hall", now: 0), "another channel")
        tokens.accepted("room", JoinGrant(expiresAtMilliseconds: 200_000))
        #expect(!may(0), "a renewal can take it away")
        tokens.accepted(
            "room", JoinGrant(expiresAtMilliseconds: 60_000, publishesUntilMilliseconds: 60_000))
        tokens.left("room")
        #expect(!may(0))
        tokens.accepted(
            "room", JoinGrant(expiresAtMilliseconds: 60_000, publishesUntilMilliseconds: 90_000))
        _ = tokens.check(now: 60_000)
        #expect(!may(60_000), "the membership has ended")
    }

    @Test("a generated history: each end comes once and in time, and is announced before", arguments: 1...40)
    func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var tokens = JoinTokens()
        var ends: [String: UInt64] = [:]
        var warned: [String: UInt64] = [:]
        var now: UInt64 = 0
        for step in 0..<300 {
            let channel = "room\(Int.random(in: 0..<5, using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                tokens.left(channel)
                (ends[channel], warned[channel]) = (nil, nil)
            case 1:
                let end = now + UInt64.random(in: 1...120_000, using: &random)
                if ends[channel] != end { warned[channel] = nil }
                tokens.accepted(channel, JoinGrant(expiresAtMilliseconds: end))
                ends[channel] = end
            default: break
            }
            let (events, next) = tokens.check(now: now)
            for event in events {
                switch event {
                case .willExpire(let channel, let remaining):
                    #expect(warned[channel] == nil, "step \(step): warned twice")
                    #expect(remaining <= .seconds(30))
                    #expect(ends[channel].map { now + UInt64(remaining / .milliseconds(1)) == $0 } == true)
                    warned[channel] = ends[channel]
                case .expired(let channel):
                    #expect(ends[channel].map { $0 <= now } == true, "step \(step): too early")
                    (ends[channel], warned[channel]) = (nil, nil)
                }
            }
            for (channel, end) in ends {
                #expect(end > now, "step \(step): \(channel) is over")
                #expect(end - now > 30_000 || warned[channel] == end, "step \(step): no warning")
            }
            guard let next else {
                #expect(ends.isEmpty)
                continue
            }
            now += UInt64(next / .milliseconds(1)) * (Bool.random(using: &random) ? 1 : 0)
        }
    }
}
