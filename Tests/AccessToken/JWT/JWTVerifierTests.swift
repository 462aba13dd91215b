import Foundation
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken

@Suite("JWTs that let users in, or don't")
struct JWTVerifierTests {
    /// UTC, seconds since 1970.
    private let end: UInt64 = 1_700_000_000

    @Test(
        "A-17, A-20: JWTs of another library are accepted, and grant what they say", arguments: JWTVector.all)
    func vectors(_ vector: (algorithm: JWTAlgorithm, text: String)) throws {
        let verifier = try verifier()
        let before = end * 1000 - 1
        let grant = try verifier.verify(vector.text, userID: "anna", nowMilliseconds: before)
        #expect(
            grant
                == TokenGrant(
                    expiresAtMilliseconds: end * 1000,
                    permissions: [.channels(read: ["news"], write: ["lobby"], users: ["bert"])],
                    issuedAtSeconds: UInt32(end - 600)))
        for (channel, publishesUntil) in [("stage", end * 1000), ("hall", nil)] as [(String, UInt64?)] {
            let join = try verifier.verifyJoin(
                vector.text, channel: channel, userID: "anna", nowMilliseconds: before)
            #expect(
                join
                    == JoinGrant(
                        expiresAtMilliseconds: end * 1000, publishesUntilMilliseconds: publishesUntil))
        }
        let expired = refusal {
            try verifier.verify(vector.text, userID: "anna", nowMilliseconds: end * 1000)
        }
        #expect(expired?.code == .tokenExpired)
        #expect(expired?.reason == "the token expired 0 s ago by server clock")
    }

    @Test(
        "what we sign is accepted, also without a name of the key where there is one key",
        arguments: [JWTAlgorithm.hs256, .rs256, .es256])
    func ours(_ algorithm: JWTAlgorithm) throws {
        let text = try SampleJWT.claims(for: "anna", endsAt: end).signed(with: SampleJWT.signing(algorithm))
        let grant = try verifier().verify(text, userID: "anna", nowMilliseconds: end * 1000 - 1)
        #expect(
            grant
                == TokenGrant(
                    expiresAtMilliseconds: end * 1000, permissions: [], issuedAtSeconds: UInt32(end - 600)))
        let alone =
            switch algorithm {
            case .hs256: SampleJWT.secretJWK
            case .rs256: SampleJWT.rsaPublicKey
            case .es256: SampleJWT.curvePublicKey
            }
        let nameless = try forge(
            #"{"alg":"\#(algorithm.rawValue)"}"#, claims(), SampleJWT.signing(algorithm))
        _ = try verifier(alone).verify(nameless, userID: "anna", nowMilliseconds: 0)
        #expect(refuse(nameless, by: try verifier())?.reason.contains("doesn't name its key") == true)
    }

    @Test("A-18: the key decides on the algorithm, so a public key is never taken for a secret")
    func confusion() throws {
        // The classic: the public key, which everybody has, as the secret of an HMAC.
        let secret = Base64URL.text(of: Array((SampleJWT.rsaPublicKey + "\n").utf8))
        let attacker = try JWTSigningKey(#"{"kty":"oct","k":"\#(secret)"}"#, id: nil)
        for (header, keys) in [
            (#"{"alg":"HS256","kid":"r"}"#, nil), (#"{"alg":"HS256"}"#, SampleJWT.rsaPublicKey + "\n"),
            (#"{"alg":"hs256"}"#, SampleJWT.rsaPublicKey + "\n"),
        ] as [(String, String?)] {
            let error = refuse(
                try forge(header, claims(), attacker), by: try keys.map(verifier) ?? verifier())
            #expect(error?.code == .invalidToken)
            #expect(error?.reason.contains("and its key is for RS256") == true, "\(error?.reason ?? "")")
        }
        // The right key under the name of another algorithm.
        for (header, algorithm) in [
            (#"{"alg":"ES256","kid":"r"}"#, JWTAlgorithm.rs256), (#"{"alg":"RS512","kid":"r"}"#, .rs256),
            (#"{"alg":"PS256","kid":"r"}"#, .rs256), (#"{"alg":"HS512","kid":"h"}"#, .hs256),
            (#"{"alg":"ES384","kid":"e"}"#, .es256),
        ] {
            let token = try forge(header, claims(), SampleJWT.signing(algorithm))
            #expect(refuse(token)?.reason.contains("and its key is for") == true)
        }
        // A signature of another key, under the name of one that is known.
        let other = try JWTSigningKey(SampleJWT.otherRSAKey, id: "r")
        let token = try SampleJWT.claims(for: "anna", endsAt: end).signed(with: other)
        #expect(refuse(token)?.reason.hasPrefix("the token's signature is wrong") == true)
    }

    @Test("A-18: a token that isn't signed is refused", arguments: ["none", "None", "NONE", "nOnE"])
    func unsigned(_ algorithm: String) throws {
        for kid in ["", #","kid":"h""#] {
            let header = Base64URL.text(of: Array(#"{"alg":"\#(algorithm)"\#(kid)}"#.utf8))
            let text = header + "." + Base64URL.text(of: Array(claims().utf8)) + "."
            for keys in [SampleJWT.secretJWK, SampleJWT.keys(SampleJWT.secretJWK, SampleJWT.rsaJWK)] {
                let error = refuse(text, by: try verifier(keys))
                #expect(error?.code == .invalidToken)
                #expect(error?.reason == "the token is not signed: its algorithm is none")
            }
        }
    }

    @Test("what is refused, with which code and in which words")
    func refusals() throws {
        let late = end * 1000
        let cases: [(String, ErrorCode, String)] = [
            (
                try header(#"{"alg":"HS256","kid":"x"}"#), .invalidToken,
                #"the key "x", which is unknown here"#
            ),
            (
                try header(#"{"alg":"HS256"}"#), .invalidToken,
                "doesn't name its key (kid), and this app has 3"
            ),
            (try header(#"{"kid":"h"}"#), .invalidToken, "names no algorithm (alg)"),
            (try header(#"{"alg":7,"kid":"h"}"#), .invalidToken, "header is not a JSON object of a JWT"),
            (try header(#"["HS256"]"#), .invalidToken, "header is not a JSON object of a JWT"),
            (try header(#"{"alg":"HS256","kid":"h","crit":["exp"]}"#), .invalidToken, "(crit)"),
            (try header(#"{"alg":"HS256","kid":"h","crit":null,"b64":false}"#), .invalidToken, "(crit)"),
            (
                try header(#"{"alg":"HS256","kid":"h","typ":"logout+jwt"}"#), .invalidToken,
                #"another type, "logout+jwt""#
            ),
            (
                try sign { $0.issuer = "https://else" }, .invalidToken,
                #"another issuer (iss), "https://else""#
            ),
            (try sign { $0.issuer = nil }, .invalidToken, "the token names no issuer (iss)"),
            (
                try sign { $0.audience = ["a", "b"] }, .loginInconsistentAppId,
                #"for another audience (aud), "a", "b""#
            ),
            (try sign { $0.audience = [] }, .loginInconsistentAppId, "the token names no audience (aud)"),
            (
                try sign { $0.issuedAt = late + 300_000 }, .invalidToken,
                "issued 5 min in the future by server clock, 300 s are allowed"
            ),
            (
                try sign { $0.beginsAt = late + 3_600_000 }, .invalidToken,
                "begins to be valid (nbf) 60 min in the future by server clock, 300 s are allowed"
            ),
            (
                try sign { $0.expiresAt = late - 38_000 }, .tokenExpired,
                "the token expired 37 s ago by server"
            ),
            (try sign { $0.expiresAt = nil }, .invalidToken, "doesn't say when it expires (exp)"),
            (
                try sign { $0.subject = nil }, .loginNotAuthorized,
                "names no user (sub), so it lets nobody log in"
            ),
            (try sign { $0.subject = "" }, .loginNotAuthorized, "names no user (sub)"),
            (try sign { $0.subject = "bert" }, .invalidToken, #"is for user "bert", not for "anna""#),
            ("", .invalidToken, "the token is empty"),
            (SampleApp.id, .invalidToken, "this is not a JWT: it doesn't have three parts"),
            ("a.b", .invalidToken, "this is not a JWT"), ("a.b.c.d.e", .invalidToken, "an encrypted JWT"),
            (String(repeating: "a", count: 24_577), .invalidToken, "24577 bytes, 24576 are allowed"),
        ]
        for (text, code, reason) in cases {
            let error = refuse(text, at: late - 1000)
            #expect(error?.code == code, "\(reason)")
            #expect(error?.reason.contains(reason) == true, "\(reason), not \(error?.reason ?? "accepted")")
            #expect(text.isEmpty || error?.reason.contains(text) == false, "the token is in the reason")
        }
    }

    @Test("a user is compared byte by byte: the Kelvin sign is no K, though Swift finds them equal")
    func kelvin() throws {
        let text = try sign { $0.subject = "\u{212A}" }
        #expect(refuse(text, user: "K")?.reason.contains("not for \"K\"") == true)
    }

    @Test("A-14: five minutes of difference of the clocks are allowed at the begin, and none at the end")
    func leeway() throws {
        let now = end * 1000 - 600_000
        func verify(_ change: (inout JWTClaims) -> Void) throws -> TokenGrant {
            try verifier().verify(sign(change), userID: "anna", nowMilliseconds: now)
        }
        _ = try verify { ($0.issuedAt, $0.beginsAt) = (now + 300_000, now + 300_000) }
        #expect(refusal { try verify { $0.issuedAt = now + 301_000 } }?.code == .invalidToken)
        #expect(refusal { try verify { $0.beginsAt = now + 301_000 } }?.code == .invalidToken)
        #expect(refusal { try verify { $0.expiresAt = now } }?.code == .tokenExpired)
        #expect(try verify { $0.expiresAt = now + 1000 }.expiresAtMilliseconds == now + 1000)
    }

    @Test("W-29: a JWT that doesn't say when it was issued counts as an old one")
    func nameless() throws {
        let text = try sign { $0.issuedAt = nil }
        let grant = try verifier().verify(text, userID: "anna", nowMilliseconds: 0)
        #expect(grant.issuedAtSeconds == 0)
    }

    @Test("L-50: the operator's limit counts from the issue, which the token then has to name")
    func life() throws {
        let verifier = JWTVerifier(
            keys: try JWTKeySet(SampleJWT.secretJWK), audience: SampleApp.id, lifeMax: .seconds(60))
        let issuedAt = end * 1000 - 600_000
        let text = try sign { _ in }
        let grant = try verifier.verify(text, userID: "anna", nowMilliseconds: issuedAt + 59_999)
        #expect(grant.expiresAtMilliseconds == issuedAt + 60_000)
        let late = refusal {
            try verifier.verify(text, userID: "anna", nowMilliseconds: issuedAt + 60_000)
        }
        #expect(late?.code == .tokenExpired)
        #expect(late?.limit?.value == 60)
        let without = refusal {
            try verifier.verify(
                sign { $0.issuedAt = nil }, userID: "anna", nowMilliseconds: end * 1000 - 1)
        }
        #expect(without?.reason.contains("doesn't say when it was issued (iat)") == true)
    }

    @Test("C-2: a join needs its user and its channel in the token, and nothing that a login wouldn't need")
    func joins() throws {
        let verifier = try verifier()
        func join(_ channel: String, as user: String, _ text: String) -> RTMError? {
            refusal {
                try verifier.verifyJoin(text, channel: channel, userID: user, nowMilliseconds: end * 1000 - 1)
            }
        }
        let text = try sign { $0.joins = ["stage"] }
        #expect(join("stage", as: "anna", text) == nil)
        #expect(join("hall", as: "anna", text)?.code == .channelJoinFailed)
        #expect(join("stage", as: "bert", text)?.code == .channelJoinFailed)
        #expect(join("stage", as: "anna", try sign { _ in })?.code == .channelJoinFailed)
        // The privilege to publish is of no use without that to join.
        #expect(
            join("stage", as: "anna", try sign { $0.publishesData = ["stage"] })?.code == .channelJoinFailed)
        let foreign = try sign { ($0.joins, $0.audience) = (["stage"], ["other"]) }
        #expect(join("stage", as: "anna", foreign)?.code == .loginInconsistentAppId)
    }

    @Test(
        "an app without an issuer takes every issuer that has its keys, and its audience may have another name"
    )
    func issuerAndAudience() throws {
        let verifier = JWTVerifier(keys: try JWTKeySet(SampleJWT.secretJWK), audience: "api://chat")
        let text = try sign { ($0.issuer, $0.audience) = (nil, ["api://chat", SampleApp.id]) }
        _ = try verifier.verify(text, userID: "anna", nowMilliseconds: end * 1000 - 1)
        #expect(refuse(try sign { _ in }, by: verifier)?.code == .loginInconsistentAppId)
    }

    @Test("who knows all that a server knows is told what the server would say")
    func explanation() throws {
        let changes: [(inout JWTClaims) -> Void] = [
            { _ in }, { $0.subject = "bert" }, { $0.subject = nil }, { $0.issuer = nil },
            { $0.audience = ["x"] }, { $0.expiresAt = 1000 }, { $0.expiresAt = nil },
            { $0.beginsAt = 1_700_001_000_000 },
        ]
        for change in changes {
            for algorithm in [JWTAlgorithm.hs256, .rs256] {
                let keys = try JWTKeySet(SampleJWT.keys(SampleJWT.secretJWK))
                var claims = SampleJWT.claims(for: "anna", endsAt: end)
                change(&claims)
                let text = try claims.signed(with: SampleJWT.signing(algorithm))
                let now = end * 1000 - 1
                let verdict = refusal {
                    try JWTVerifier(keys: keys, issuer: SampleJWT.issuer, audience: SampleApp.id)
                        .verify(text, userID: "anna", nowMilliseconds: now)
                }
                let explanation = try JWTExplanation(
                    SignedJWT(text), keys: keys, issuer: SampleJWT.issuer, audience: SampleApp.id,
                    userID: "anna", nowMilliseconds: now)
                #expect(explanation.refusal?.code == verdict?.code)
                #expect(
                    explanation.refusal?.reason.replacing("the clock of this machine", with: "server clock")
                        == verdict?.reason)
                let blind = try JWTExplanation(
                    SignedJWT(text), keys: nil, issuer: nil, audience: nil, userID: nil, nowMilliseconds: now)
                let unknown = blind.outcomes.filter { $0.outcome == .unknown }.map(\.check)
                #expect(unknown.starts(with: [.key, .signature, .issuer, .audience]))
            }
        }
    }

    // MARK: -

    private func verifier(
        _ keys: String = SampleJWT.keys(SampleJWT.secretJWK, SampleJWT.rsaJWK, SampleJWT.curveJWK)
    ) throws -> JWTVerifier {
        JWTVerifier(keys: try JWTKeySet(keys), issuer: SampleJWT.issuer, audience: SampleApp.id)
    }

    private func claims() -> String {
        #"{"sub":"anna","iss":"\#(SampleJWT.issuer)","aud":"\#(SampleApp.id)","exp":\#(end)}"#
    }

    private func header(_ header: String) throws -> String {
        try forge(header, claims(), SampleJWT.signing(.hs256))
    }

    private func sign(_ change: (inout JWTClaims) -> Void) throws -> String {
        var claims = SampleJWT.claims(for: "anna", endsAt: end)
        change(&claims)
        return try claims.signed(with: SampleJWT.signing(.hs256))
    }

    private func refuse(
        _ text: String, by verifier: JWTVerifier? = nil, user: String = "anna",
        at now: UInt64 = 1_699_999_999_000
    ) -> RTMError? {
        refusal { try (verifier ?? self.verifier()).verify(text, userID: user, nowMilliseconds: now) }
    }
}

/// A token with a header and claims that no builder writes, under a right signature.
func forge(_ header: String, _ claims: String, _ key: JWTSigningKey) throws -> String {
    let content = Base64URL.text(of: Array(header.utf8)) + "." + Base64URL.text(of: Array(claims.utf8))
    return try content + "." + Base64URL.text(of: key.signature(over: Array(content.utf8)))
}

func refusal(_ body: () throws -> some Any) -> RTMError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? RTMError
    }
}
