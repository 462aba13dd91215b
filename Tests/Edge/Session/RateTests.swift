import NIOCore
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("Rates")
struct RateTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let rates = ApplicationRates(
        publish: 60, calls: 20, subscribesMax: 2, login: 2, subscriptionsMax: 50)

    // MARK: Buckets

    @Test("a bucket gives its burst at once, then what comes back, and says how long the next one takes")
    func bucket() throws {
        let rate = Rate(perSecond: 10, burst: 15)
        var bucket = TokenBucket(rate, now: Self.start)
        for _ in 0..<15 { #expect(bucket.take(rate, now: Self.start) == nil) }
        let wait = try known(bucket.take(rate, now: Self.start))
        #expect(wait > .milliseconds(99) && wait <= .milliseconds(101))
        #expect(bucket.take(rate, now: Self.start + .milliseconds(50)) != nil)
        #expect(bucket.take(rate, now: Self.start + wait) == nil)
        for _ in 0..<15 { #expect(bucket.take(rate, now: Self.start + .hours(1)) == nil) }
        #expect(bucket.take(rate, now: Self.start + .hours(1)) != nil)
    }

    @Test("random histories: never more than the burst and what came back, never less; the advice is right")
    func randomBucket() throws {
        for seed in 0..<50 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let rate = Rate(
                perSecond: .random(in: 1...100, using: &random), burst: .random(in: 1...50, using: &random))
            var bucket = TokenBucket(rate, now: Self.start)
            var now = Self.start
            var granted = 0
            for _ in 0..<500 {
                if let wait = bucket.take(rate, now: now) {
                    #expect(wait > .nanoseconds(0) && wait <= .seconds(1) + .nanoseconds(2), "seed \(seed)")
                    now = now + wait
                    #expect(bucket.take(rate, now: now) == nil, "seed \(seed)")
                }
                granted += 1
                let seconds = Double((now - Self.start).nanoseconds) / 1e9
                #expect(
                    Double(granted) <= Double(rate.burst) + seconds * Double(rate.perSecond) + 0.001,
                    "seed \(seed)")
                now = now + .milliseconds(.random(in: 0...20, using: &random))
            }
        }
    }

    @Test("full buckets are forgotten: the memory follows what happens, not what ever happened")
    func bucketsForget() {
        let rate = Rate(perSecond: 60)
        var buckets = TokenBuckets<Int>()
        for key in 0..<10_000 {
            let now = Self.start + .milliseconds(Int64(key) * 10)
            #expect(buckets.take(key, rate, now: now) == nil)
        }
        #expect(buckets.count <= 64)
    }

    @Test("R-5: never more than two events of a key in any five seconds")
    func recentEvents() throws {
        var events = RecentEvents<String>(within: .seconds(5))
        #expect(events.take("a", countMax: 2, now: Self.start) == nil)
        #expect(events.take("a", countMax: 2, now: Self.start + .seconds(4)) == nil)
        #expect(events.take("b", countMax: 2, now: Self.start + .seconds(4)) == nil)
        #expect(events.take("a", countMax: 2, now: Self.start + .milliseconds(4_500)) == .milliseconds(500))
        #expect(events.take("a", countMax: 2, now: Self.start + .seconds(5)) == nil)
        #expect(events.take("a", countMax: 2, now: Self.start + .seconds(6)) == .seconds(3))
        for key in 0..<1_000 {
            _ = events.take("\(key)", countMax: 2, now: Self.start + .seconds(100 + Int64(key)))
        }
        #expect(events.keyCount <= 64)
    }

    // MARK: Sessions

    @Test("R-2: 60 messages a second to one channel, each channel by itself; the refusal says when")
    func publishes() throws {
        var session = SessionRates()
        let rates = Self.rates
        for channel in ["lobby", "hall"] {
            for _ in 0..<60 { try session.publish(.message, channel, rates, at: Self.start) }
        }
        let error = try #require(throws: RTMError.self) {
            try session.publish(.message, "lobby", rates, at: Self.start)
        }
        #expect(error.code == .channelPublishMessageTooFrequent)
        #expect(error.limit == .init(name: "messages per second", value: 60))
        let wait = try known(error.retryAfter)
        #expect(wait > .milliseconds(16) && wait <= .milliseconds(17))
        try session.publish(.message, "lobby", rates, at: Self.start + .milliseconds(17))
        #expect(throws: RTMError.self) {
            try session.publish(.message, "lobby", rates, at: Self.start + .milliseconds(18))
        }
    }

    @Test("R-3: 60 messages a second to one user, apart from other users and from a channel of that name")
    func publishesToUsers() throws {
        var session = SessionRates()
        let rates = Self.rates
        for _ in 0..<60 { try session.publish(.message, "bob", rates, at: Self.start) }
        for user in ["bob", "carol"] {
            for _ in 0..<60 { try session.publish(.user, user, rates, at: Self.start) }
            let error = try #require(throws: RTMError.self) {
                try session.publish(.user, user, rates, at: Self.start)
            }
            #expect(error.code == .channelPublishMessageTooFrequent)
            #expect(error.limit == .init(name: "messages per second", value: 60))
            let wait = try known(error.retryAfter)
            #expect(wait > .milliseconds(16) && wait <= .milliseconds(17))
        }
        try session.publish(.user, "bob", rates, at: Self.start + .milliseconds(17))
        #expect(throws: RTMError.self) {
            try session.publish(.user, "bob", rates, at: Self.start + .milliseconds(18))
        }
    }

    @Test(
        "R-5: a third subscribe to one channel within five seconds; the refusal says how much is left of them"
    )
    func subscribes() throws {
        var session = SessionRates()
        let rates = Self.rates
        try session.subscribe("lobby", rates, now: Self.start)
        try session.subscribe("lobby", rates, now: Self.start + .seconds(1))
        let error = try #require(throws: RTMError.self) {
            try session.subscribe("lobby", rates, now: Self.start + .seconds(2))
        }
        #expect(error.code == .channelSubscribeTooFrequent)
        #expect(error.limit == .init(name: "subscribes in five seconds", value: 2))
        #expect(error.retryAfter == .seconds(3))
        try session.subscribe("hall", rates, now: Self.start + .seconds(2))
        try session.subscribe("lobby", rates, now: Self.start + .seconds(5))
    }

    @Test("R-1: 20 other calls a second")
    func calls() throws {
        var session = SessionRates()
        let rates = Self.rates
        for _ in 0..<20 { try session.call(rates, now: Self.start) }
        let error = try #require(throws: RTMError.self) { try session.call(rates, now: Self.start) }
        #expect(error.code == .operationRateExceedLimitation)
        #expect(error.limit == .init(name: "calls per second", value: 20))
        let wait = try known(error.retryAfter)
        #expect(wait > .milliseconds(49) && wait <= .milliseconds(51))
        for _ in 0..<20 { try session.call(rates, now: Self.start + .seconds(1)) }
        #expect(throws: RTMError.self) { try session.call(rates, now: Self.start + .seconds(1)) }
    }

    @Test("R-1, R-7, R-8, S-19: who comes back takes up what it had, once and beside its rates")
    func restored() throws {
        let rates = Self.rates
        var fresh = SessionRates()
        var back = SessionRates(restoring: rates.restorable)
        for _ in 0..<20 { try fresh.callToSubscribe(rates, now: Self.start) }
        #expect(throws: RTMError.self) { try fresh.callToSubscribe(rates, now: Self.start) }
        for _ in 0..<70 { try back.callToSubscribe(rates, now: Self.start) }
        #expect(throws: RTMError.self) { try back.callToSubscribe(rates, now: Self.start) }
        for _ in 0..<20 { try fresh.subscribeUserMetadata(rates, now: Self.start) }
        #expect(throws: RTMError.self) { try fresh.subscribeUserMetadata(rates, now: Self.start) }
        for _ in 0..<120 { try back.subscribeUserMetadata(rates, now: Self.start) }
        #expect(throws: RTMError.self) { try back.subscribeUserMetadata(rates, now: Self.start) }
        #expect(rates.acquireLock == Rate(perSecond: 10))
        #expect(rates.restorable.acquires == 64)
        #expect(fresh.takeRefusals() == 2)
        #expect(fresh.takeRefusals() == 0)
    }

    @Test("R-2: publishes that are sent again pass 1,024 times for a user, however often the user logs in")
    func repeats() {
        var repeats = RepeatRates()
        for _ in 0..<1_024 { #expect(repeats.passes("app", "anna", Self.rates, now: Self.start) == true) }
        #expect(repeats.passes("app", "anna", Self.rates, now: Self.start) == false)
        #expect(repeats.passes("app", "bob", Self.rates, now: Self.start) == true)
        #expect(repeats.passes("other", "anna", Self.rates, now: Self.start) == true)
        let later = Self.start + .seconds(1)
        for _ in 0..<60 { #expect(repeats.passes("app", "anna", Self.rates, now: later) == true) }
        #expect(repeats.passes("app", "anna", Self.rates, now: later) == false)
    }

    @Test("R-10: two renewals of a token a second, and refused ones count too")
    func renewals() throws {
        var session = SessionRates()
        let rates = Self.rates
        for _ in 0..<2 { try session.renewal(rates, now: Self.start) }
        let error = try #require(throws: RTMError.self) { try session.renewal(rates, now: Self.start) }
        #expect(error.code == .operationRateExceedLimitation)
        #expect(error.limit == .init(name: "token renewals per second", value: 2))
        #expect(try known(error.retryAfter) <= .milliseconds(501))
        try session.renewal(rates, now: Self.start + .milliseconds(501))
        #expect(throws: RTMError.self) {
            try session.renewal(rates, now: Self.start + .milliseconds(502))
        }
    }

    @Test("R-9: two logins a second of one user, ten at once, and users of other apps are others")
    func logins() throws {
        var logins = LoginRates()
        let rates = Self.rates
        for app in ["one", "two"] {
            for _ in 0..<10 { try logins.login(app, "anna", rates, now: Self.start) }
        }
        let error = try #require(throws: RTMError.self) {
            try logins.login("one", "anna", rates, now: Self.start)
        }
        #expect(error.code == .loginRejected && error.limit?.value == 2)
        let wait = try known(error.retryAfter)
        #expect(wait > .milliseconds(499) && wait <= .milliseconds(501))
        try logins.login("one", "bob", rates, now: Self.start)
        try logins.login("one", "anna", rates, now: Self.start + .milliseconds(501))
    }

    @Test("R-9: an app with a greater rate doesn't make the edge forget who has used up another app's")
    func otherRates() throws {
        var logins = LoginRates()
        for number in 0..<64 { try logins.login("slow", "user \(number)", Self.rates, now: Self.start) }
        for _ in 0..<9 { try logins.login("slow", "user 0", Self.rates, now: Self.start) }
        var fast = Self.rates
        fast.login = Rate(perSecond: 1_000, burst: 1)
        let later = Self.start + .milliseconds(2)
        for number in 0..<65 { try logins.login("fast", "user \(number)", fast, now: later) }
        #expect(throws: RTMError.self) { try logins.login("slow", "user 0", Self.rates, now: later) }
    }

    @Test("a rate of 0 is no limit, and remembers nothing")
    func unlimited() throws {
        var session = SessionRates()
        var logins = LoginRates()
        for _ in 0..<10_000 {
            try session.publish(.message, "lobby", .unlimited, at: Self.start)
            try session.call(.unlimited, now: Self.start)
            try session.subscribe("lobby", .unlimited, now: Self.start)
            try session.renewal(.unlimited, now: Self.start)
            try logins.login("app", "anna", .unlimited, now: Self.start)
        }
    }
}

extension SessionRates {
    fileprivate mutating func publish(
        _ type: ChannelType, _ channel: String, _ rates: ApplicationRates, at now: NIODeadline
    ) throws {
        var copy = self
        let shortage = channel.withWireText { copy.publish(type, $0, rates, now: now) }
        self = copy
        if let shortage { throw shortage.error }
    }
}

/// As `#require`, which doesn't take mutating calls.
private func known<Value>(_ value: Value?) throws -> Value { try #require(value) }
