package import RTMModel

/// Which tokens one app takes: tokens 007, JWTs, or both. Pure: the time is an argument.
package struct AppTokens: Sendable {
    private enum Kind {
        case token(TokenVerifier)
        case jwt(JWTVerifier)
    }

    /// Decides about a text whose form doesn't say that it is a JWT.
    private let usual: Kind
    /// Nil if the app takes none.
    let jwts: JWTVerifier?

    /// Nil for an app that takes neither, and so needs none.
    package init?(_ tokens: TokenVerifier?, _ jwts: JWTVerifier?) {
        guard let usual = tokens.map(Kind.token) ?? jwts.map(Kind.jwt) else { return nil }
        self.usual = usual
        self.jwts = jwts
    }

    /// Decides whether a token lets a user log in, as `TokenVerifier` and `JWTVerifier` do.
    package func verify(
        _ text: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> TokenGrant {
        switch kind(of: text) {
        case .token(let verifier):
            try verifier.verify(text, userID: userID, nowMilliseconds: nowMilliseconds)
        case .jwt(let verifier):
            try verifier.verify(text, userID: userID, nowMilliseconds: nowMilliseconds)
        }
    }

    /// Decides whether a token lets a user join a stream channel, as `TokenVerifier` and `JWTVerifier` do.
    package func verifyJoin(
        _ text: String, channel: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> JoinGrant {
        switch kind(of: text) {
        case .token(let verifier):
            try verifier.verifyJoin(
                text, channel: channel, userID: userID, nowMilliseconds: nowMilliseconds)
        case .jwt(let verifier):
            try verifier.verifyJoin(
                text, channel: channel, userID: userID, nowMilliseconds: nowMilliseconds)
        }
    }

    private func kind(of text: String) -> Kind {
        if let jwts, SignedJWT.isOne(text) { .jwt(jwts) } else { usual }
    }
}
