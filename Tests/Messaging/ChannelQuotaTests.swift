import RTMModel
import Testing

@testable import RTMMessagingServer

@Suite("How many channels there may be")
struct ChannelQuotaTests {
    private var broker = Broker(
        limits: .limits(channelsMax: 100, channelsPerAppMax: 40, channelsPerSessionMax: 30), firstEpoch: 1)

    private mutating func login(_ user: String, of appID: String = "app") throws {
        let link = Broker.Interest(link: 1, id: UInt64(broker.channelCount))
        let inbox = ChannelKey(appID: appID, type: .user, name: user)
        _ = try broker.attach(link, to: inbox, after: nil, ownership: 0, now: 1)
    }

    /// How many new channels a session begins until it is refused, and by what.
    private mutating func fill(
        _ prefix: String, of appID: String = "app", session: UInt64, now: UInt64 = 1
    ) -> (count: Int, refusal: RTMError?) {
        for count in 0..<1_000 {
            let key = ChannelKey.message("\(prefix)\(count)", of: appID)
            do {
                _ = try broker.publish("m", to: key, session: session, now: now)
            } catch {
                return (count, error)
            }
        }
        return (1_000, nil)
    }

    @Test("M-37: an app that has all channels it may have takes no room from others, and refuses no login")
    mutating func perApp() throws {
        #expect(fill("a", session: 1).count == 30)
        let (count, refusal) = fill("b", session: 2)
        #expect(count == 10)
        #expect(refusal?.code == .channelInstanceExceedLimitation)
        #expect(refusal?.limit == RTMError.Limit(name: "channels per app", value: 40))
        #expect(refusal?.retryAfter != nil)
        for number in 0..<100 { try login("user\(number)") }
        #expect(fill("a", of: "other", session: 3).count == 30)
        try login("anna", of: "other")
        let known = try broker.publish("m", to: .message("a0"), now: 2)
        #expect(known.entries.offset == 71 && known.entries.offsetsBetween == 69, "what is there goes on")
    }

    @Test("M-37: a full node refuses new channels by name and value, and no login")
    mutating func perNode() throws {
        for (session, appID) in ["one", "two", "three"].enumerated() {
            _ = fill("a", of: appID, session: UInt64(2 * session + 1))
            _ = fill("b", of: appID, session: UInt64(2 * session + 2))
        }
        #expect(broker.openChannelCount == 100)
        let (_, refusal) = fill("x", of: "four", session: 9)
        #expect(refusal?.limit == RTMError.Limit(name: "channels per node", value: 100))
        for number in 0..<50 { try login("user\(number)", of: "four") }
        let event = try broker.append(
            to: .message("event", of: "four"), by: "anna", source: 0, sequence: 0, now: 2)
        #expect(event.appended.count == 1, "events of services are paid for elsewhere")
    }

    @Test("M-37: a session that begins ever new channels waits, as long as the refusal says")
    mutating func perSession() throws {
        let (count, refusal) = fill("a", session: 1, now: 1_000)
        #expect(count == 30)
        #expect(refusal?.limit == RTMError.Limit(name: "channels begun by a session", value: 30))
        let wait = try #require(refusal?.retryAfter)
        // 30 in 120 s.
        #expect(wait > .zero && wait <= .milliseconds(4_000))
        #expect(fill("b", session: 2, now: 1_000).count == 10, "another session has a quota of its own")
        let key = ChannelKey.message("c", of: "other")
        #expect(throws: RTMError.self) { try broker.publish("m", to: key, session: 1, now: 4_999) }
        #expect(try broker.publish("m", to: key, session: 1, now: 5_000).entries.count == 1)
    }

    @Test("M-37: room comes back when channels are forgotten")
    mutating func forgotten() throws {
        _ = fill("a", session: 1)
        _ = fill("b", session: 2)
        broker.sweep(1_000, now: 1_000_000)
        #expect(broker.openChannelCount == 0 && broker.channelCount == 0)
        #expect(fill("c", session: 3, now: 1_000_000).count == 30)
    }

    @Test(
        "a clock that goes back makes nobody wait for longer than the period, and idle sessions cost nothing")
    func clock() {
        var channels = NewChannels(countMax: 10, period: 1_000)
        for _ in 0..<10 { _ = channels.begin(1, now: 1_000_000) }
        let wait = channels.begin(1, now: 10)
        #expect(wait.map { $0 <= .milliseconds(1_000) } ?? true)
        for session in 0..<5_000 as Range<UInt64> {
            _ = channels.begin(session, now: 2_000_000 + session * 100)
        }
        #expect(channels.sessionCount < 1_200)
    }
}
