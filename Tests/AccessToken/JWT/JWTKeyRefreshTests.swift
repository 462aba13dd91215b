import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken

/// When keys of a URL are fetched, and what a token gets whose key isn't there, in virtual time.
@Suite("A-21: keys of JWTs that are fetched")
struct JWTKeyRefreshTests {
    private let start = ContinuousClock.now
    private var refresh: JWTKeyRefresh
    private let first: JWTKeySet
    private let second: JWTKeySet

    init() throws {
        refresh = JWTKeyRefresh(now: start)
        first = try JWTKeySet(SampleJWT.keys(SampleJWT.rsaJWK))
        second = try JWTKeySet(SampleJWT.keys(SampleJWT.rsaJWK, SampleJWT.otherRSAJWK))
    }

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private var dueAfter: Duration? { refresh.dueAt.map { $0 - start } }

    /// A fetch that takes no time.
    private mutating func fetch(
        _ keys: JWTKeySet?, at seconds: Double, freshFor: Duration? = nil, random: Double = 0
    ) {
        #expect(refresh.begin(now: at(seconds)) == true)
        if let keys {
            refresh.fetched(keys, freshFor: freshFor, random: random, now: at(seconds))
        } else {
            refresh.failed(random: random, now: at(seconds))
        }
    }

    @Test("they are fetched at the start, and then at the interval, by up to a tenth earlier")
    mutating func interval() {
        #expect(dueAfter == .zero)
        fetch(first, at: 0)
        #expect(dueAfter == .seconds(600))
        #expect(refresh.begin(now: at(599)) == false)
        fetch(first, at: 600, random: 1)
        #expect(dueAfter == .seconds(600 + 540))
    }

    @Test("one fetch is under way at a time")
    mutating func oneAtATime() {
        #expect(refresh.begin(now: at(0)) == true)
        #expect(refresh.begin(now: at(100)) == false)
        #expect(dueAfter == nil)
    }

    @Test(
        "max-age shortens the interval, down to a minute, and never makes it longer",
        arguments: [(nil, 600), (0, 60), (15, 60), (300, 300), (86_400, 600)] as [(Int?, Int)])
    mutating func lifetime(_ lifetime: Int?, _ wait: Int) {
        fetch(first, at: 0, freshFor: lifetime.map { .seconds($0) })
        #expect(dueAfter == .seconds(wait))
    }

    @Test("without an answer the last keys hold, and it is asked again after 1, 2, 4 … and at most 60 s")
    mutating func failures() {
        fetch(first, at: 0)
        var now = 600.0
        for wait in [1.0, 2, 4, 8, 16, 32, 60, 60] {
            fetch(nil, at: now)
            now += wait
            #expect(dueAfter == .seconds(now))
            #expect(refresh.keys?.hasKey(named: "r") == true)
        }
        fetch(second, at: now)
        #expect(dueAfter == .seconds(now + 600))
    }

    @Test("without any keys a login may be repeated when the next fetch has ended")
    mutating func nothing() {
        #expect(refresh.unavailable(now: at(0)).retryAfter == .seconds(1))
        fetch(nil, at: 0)
        fetch(nil, at: 1)
        let error = refresh.unavailable(now: at(1))
        #expect(error.code == .loginNoServerResources && error.isRetryable == true)
        #expect(error.retryAfter == .seconds(3))
        #expect(error.reason.contains("can't be fetched at present"))
    }

    @Test("a token with an unknown key has the keys fetched at once, and gets in after that")
    mutating func rotation() {
        fetch(first, at: 0)
        let error = refresh.refusal(ofKey: "r2", now: at(100))
        #expect(error.code == .loginNoServerResources)
        #expect(error.retryAfter == .seconds(1))
        #expect(dueAfter == .seconds(100))
        fetch(second, at: 100)
        #expect(refresh.keys?.hasKey(named: "r2") == true)
        #expect(dueAfter == .seconds(700))
    }

    @Test("a key that the fetch didn't bring is refused for good, and looked for again after ten seconds")
    mutating func missing() {
        fetch(first, at: 0)
        #expect(refresh.refusal(ofKey: "x", now: at(100)).isRetryable == true)
        fetch(first, at: 100)
        let final = refresh.refusal(ofKey: "x", now: at(101))
        #expect(final.code == .invalidToken && !final.isRetryable == true)
        #expect(final.reason.contains("which is unknown here"))
        #expect(dueAfter == .seconds(700), "nothing is fetched for it")
        #expect(refresh.refusal(ofKey: "x", now: at(110)).isRetryable == true)
        #expect(dueAfter == .seconds(110))
    }

    @Test("another unknown key waits until ten seconds have passed since the last fetch began")
    mutating func distance() {
        fetch(first, at: 0)
        _ = refresh.refusal(ofKey: "x", now: at(100))
        fetch(first, at: 100)
        let error = refresh.refusal(ofKey: "r2", now: at(104))
        #expect(error.retryAfter == .seconds(7))
        #expect(dueAfter == .seconds(110))
    }

    @Test("a key that is asked for during a fetch is looked for by the next one")
    mutating func duringFetch() {
        #expect(refresh.begin(now: at(0)) == true)
        #expect(refresh.refusal(ofKey: "r2", now: at(1)).retryAfter == .seconds(1))
        refresh.fetched(first, freshFor: nil, random: 0, now: at(2))
        #expect(dueAfter == .seconds(10))
        #expect(refresh.refusal(ofKey: "r2", now: at(3)).isRetryable == true)
        fetch(second, at: 10)
        #expect(dueAfter == .seconds(610))
    }

    @Test("a flood of tokens with made-up keys has the keys fetched six times in a minute")
    mutating func flood() {
        fetch(first, at: 0)
        var fetches = 0
        for step in 0..<60_000 {
            let now = 100 + Double(step) / 1000
            let error = refresh.refusal(ofKey: "made up \(step)", now: at(now))
            #expect((error.retryAfter ?? .zero) <= .seconds(11))
            if refresh.begin(now: at(now)) {
                fetches += 1
                refresh.fetched(first, freshFor: nil, random: 0, now: at(now))
            }
        }
        #expect(fetches == 6)
        // A key of the issuer is found all the same.
        #expect(refresh.refusal(ofKey: "r2", now: at(160)).isRetryable == true)
        fetch(second, at: 160)
        #expect(refresh.keys?.hasKey(named: "r2") == true)
    }

    @Test("while the issuer is away nobody is refused for good, and nobody has it asked earlier")
    mutating func away() {
        fetch(first, at: 0)
        for (now, wait) in [(600.0, 1.0), (601, 2), (603, 4), (607, 8)] {
            fetch(nil, at: now)
            let error = refresh.refusal(ofKey: "r2", now: at(now))
            #expect(error.retryAfter == .seconds(wait + 1))
            #expect(error.reason.contains("can't be fetched at present"))
            #expect(dueAfter == .seconds(now + wait))
        }
        fetch(first, at: 615)
        #expect(refresh.refusal(ofKey: "r2", now: at(616)).code == .invalidToken)
    }

    @Test("names that are made up while the issuer is away are remembered up to a hundred")
    mutating func namesOfAnOutage() {
        fetch(first, at: 0)
        for round in 1...5 {
            let now = at(Double(round) * 600)
            #expect(refresh.begin(now: now) == true)
            for number in 0..<100 { _ = refresh.refusal(ofKey: "\(round) \(number)", now: now) }
            refresh.failed(random: 0, now: now)
        }
        fetch(first, at: 3_600)
        let known = (1...5).flatMap { round in (0..<100).map { "\(round) \($0)" } }.count {
            refresh.refusal(ofKey: $0, now: at(3_600)).code == .invalidToken
        }
        #expect(known == 100)
    }

    @Test("a name that no issuer gives a key isn't looked for")
    mutating func longName() {
        fetch(first, at: 0)
        let error = refresh.refusal(ofKey: String(repeating: "x", count: 257), now: at(100))
        #expect(error.code == .invalidToken)
        #expect(dueAfter == .seconds(600))
    }

    @Test("a shared secret that is published is none, and is passed over")
    func publishedSecret() throws {
        let keys = try JWTKeySet(
            SampleJWT.keys(SampleJWT.secretJWK, SampleJWT.curveJWK), isPublished: true)
        #expect(keys.hasKey(named: "e") && !keys.hasKey(named: "h"))
        #expect(keys.passedOver == [#"the key "h" is a shared secret, and everybody can read it there"#])
        for text in [SampleJWT.secretJWK, SampleJWT.keys(SampleJWT.secretJWK)] {
            #expect(throws: JWTKeyProblem.self) { try JWTKeySet(text, isPublished: true) }
        }
        #expect(try JWTKeySet(SampleJWT.curvePublicKey, isPublished: true).hasKey(named: "any"))
    }
}
