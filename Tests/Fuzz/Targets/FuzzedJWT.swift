import Foundation
import RTMAccessToken

/// The first byte chooses: a text as a client may send it, claims under a right signature, or a file of keys.
enum FuzzedJWT {
    private static let appID = "970CA35de60c44645bbae8a215061b33"
    private static let secret = #"{"kty":"oct","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}"#
    private static let verifier = (try? JWTKeySet(secret)).map { JWTVerifier(keys: $0, audience: appID) }
    private static let key = try? JWTSigningKey(secret, id: nil)

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        guard let choice = bytes.first, let verifier, let key else { return }
        let rest = Array(bytes.dropFirst())
        switch choice % 3 {
        case 0: verify(String(decoding: rest, as: UTF8.self), verifier)
        case 1:
            guard let claims = try? JWTClaims(json: rest) else { return }
            guard let text = try? claims.signed(with: key) else { return }
            verify(text, verifier)
            let again = try? SignedJWT(text).claims()
            try Disagreement.unless(
                again == claims.inWholeSeconds, "written and read, the claims are others")
        default: _ = try? JWTKeySet(String(decoding: rest, as: UTF8.self))
        }
    }

    private static func verify(_ text: String, _ verifier: JWTVerifier) {
        guard let grant = try? verifier.verify(text, userID: "anna", nowMilliseconds: 1_600_000_000_000)
        else {
            return
        }
        _ = grant.allows(.write, to: .messageChannels, named: "news".utf8)
    }
}

extension JWTClaims {
    /// The claims as they are written, without fractions of seconds.
    fileprivate var inWholeSeconds: JWTClaims {
        var claims = self
        claims.expiresAt = expiresAt.map { $0 / 1000 * 1000 }
        claims.beginsAt = beginsAt.map { $0 / 1000 * 1000 }
        claims.issuedAt = issuedAt.map { $0 / 1000 * 1000 }
        return claims
    }
}
