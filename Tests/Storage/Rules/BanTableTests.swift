import RTMModel
import RTMWire
import Testing

@testable import RTMStorageClient

/// Who is shut out, as edges and gateways know it (S-4).
struct BanTableTests {
    private var table = BanTable()

    private func ban(_ user: String, until: UInt64, ends: Bool = true) -> Ban {
        Ban(appID: "a", userID: user, untilMilliseconds: until, reason: "spam", endsSession: ends)
    }

    private mutating func take(_ ban: Ban, of shard: Int = 0, at now: UInt64 = 0) -> Bool {
        table.take(ban, of: shard, nowMilliseconds: now)
    }

    private func refusal(_ user: String, at now: UInt64, app: String = "a") -> RTMError? {
        do {
            try table.check(user, of: app, nowMilliseconds: now)
            return nil
        } catch {
            return error
        }
    }

    @Test("S-4: a user who is shut out is refused without a time to wait, until the ban ends")
    mutating func refused() {
        #expect(refusal("bob", at: 0) == nil)
        #expect(take(ban("bob", until: 5_000)) == true)
        let error = refusal("bob", at: 1_000)
        #expect(error?.code == .loginRejected && error?.retryAfter == nil)
        #expect(error?.reason == "user \"bob\" may not log in for 4 s: spam")
        #expect(refusal("bob", at: 5_000) == nil)
        #expect(refusal("carol", at: 1_000) == nil)
        #expect(refusal("bob", at: 1_000, app: "b") == nil)
    }

    @Test("S-4: a ban can be lifted, and an end of a session shuts nobody out")
    mutating func lifted() {
        _ = take(ban("bob", until: 5_000))
        #expect(take(ban("bob", until: 0, ends: false)) == true)
        #expect(refusal("bob", at: 1_000) == nil)
        #expect(take(ban("bob", until: 0)) == true, "the session is to end")
        #expect(refusal("bob", at: 1_000) == nil && table.count == 0)
    }

    private func isRevoked(_ issued: UInt32, at now: UInt64, of user: String = "bob") -> Bool {
        do {
            try table.checkToken(issuedAtSeconds: issued, of: user, of: "a", nowMilliseconds: now)
            return false
        } catch {
            #expect(error.code == .tokenExpired)
            return true
        }
    }

    @Test("W-29: a token that says that it is issued in the future is none while its user has a revocation")
    mutating func ahead() {
        #expect(!isRevoked(1_290, at: 1_000_000))
        var ban = ban("bob", until: 9_000_000)
        ban.tokensBeforeSeconds = 1_000
        _ = take(ban)
        #expect(isRevoked(999, at: 1_010_000) && isRevoked(1_290, at: 1_010_000))
        #expect(!isRevoked(1_005, at: 1_010_000))
    }

    @Test("W-29: a revocation refuses older tokens and nobody, beside a ban, until it is forgotten")
    mutating func revocation() {
        var revocation = ban("bob", until: 5_000)
        revocation.tokensBeforeSeconds = 1
        #expect(take(revocation) == true && take(revocation) == false)
        #expect(isRevoked(0, at: 1_000) && !isRevoked(1, at: 1_000) && !isRevoked(0, at: 5_000))
        #expect(!isRevoked(0, at: 1_000, of: "carol"))
        #expect(refusal("bob", at: 1_000) == nil)
        _ = take(ban("bob", until: 4_000))
        #expect(table.until("bob", of: "a", nowMilliseconds: 3_999) == 4_000)
        #expect(table.until("bob", of: "a", nowMilliseconds: 4_000) == nil)
        _ = take(ban("bob", until: 0, ends: false))
        #expect(isRevoked(0, at: 1_000), "the ban was lifted, and nothing else")
        table.listBegins(of: 0)
        _ = take(Ban(appID: "", userID: "", endsSession: false))
        #expect(!isRevoked(0, at: 1_000), "storage doesn't have it any more")
        for number in 0..<BanTable.countMaxAtFirst {
            var other = ban("user\(number)", until: 5_000)
            other.tokensBeforeSeconds = 1
            _ = take(other)
        }
        _ = take(revocation, at: 5_000)
        #expect(table.count == 1)
    }

    @Test("S-4: bans that have ended don't stay in memory")
    mutating func ended() {
        for number in 0..<BanTable.countMaxAtFirst {
            _ = take(ban("bob\(number)", until: 5_000))
        }
        _ = take(ban("carol", until: 9_000), at: 5_000)
        #expect(table.count == 1)
    }

    @Test("S-4: what storage repeats when its link is back is no news, and what it doesn't repeat is over")
    mutating func lists() {
        _ = take(ban("bob", until: 5_000))
        _ = take(ban("carol", until: 5_000))
        table.listBegins(of: 0)
        #expect(take(ban("bob", until: 5_000)) == false)
        #expect(take(ban("dave", until: 6_000)) == true)
        #expect(refusal("carol", at: 1_000) != nil, "the list isn't over yet")
        #expect(take(Ban(appID: "", userID: "", endsSession: false)) == false)
        #expect(refusal("carol", at: 1_000) == nil)
        #expect(refusal("bob", at: 1_000) != nil && refusal("dave", at: 1_000) != nil)
    }

    @Test("S-4: what one shard of storage doesn't repeat is over, and what the others have said stays")
    mutating func shards() {
        _ = take(ban("bob", until: 5_000), of: 0)
        _ = take(ban("carol", until: 5_000), of: 1)
        var revocation = ban("dave", until: 5_000)
        revocation.tokensBeforeSeconds = 100
        _ = take(revocation, of: 1)
        table.listBegins(of: 0)
        _ = take(Ban(appID: "", userID: "", endsSession: false), of: 0)
        #expect(refusal("bob", at: 1_000) == nil && refusal("carol", at: 1_000) != nil)
        #expect(isRevoked(99, at: 1_000, of: "dave"))
    }
}
