// Access tokens "007": what an app's own server signs with the app's certificate, so that its users can log
// in (behaviour.md 11). The way through this room:
//
//     AccessToken ── signed(with:) ──▶ SignedToken ◀── init(text) ── text from a client
//     what it says                     with signature    TokenVerifier ──▶ TokenGrant, or why not
//
// A token is not encrypted: who holds it can read it and use it until it expires, so it is never logged.

/// The content of a token: for whom it is, how long it is valid, and for which services.
package struct AccessToken: Sendable, Hashable {
    package var appID: String
    /// When the token was issued, in seconds since 1970 (UTC).
    package var issuedAt: UInt32
    /// How long the token is valid, in seconds from `issuedAt`.
    package var lifetimeSeconds: UInt32
    /// A part of the key, so that two tokens of one second differ.
    package var salt: UInt32
    package var services: [TokenService]

    package init(
        appID: String, issuedAt: UInt32, lifetimeSeconds: UInt32, salt: UInt32 = Self.randomSalt(),
        services: [TokenService]
    ) {
        self.appID = appID
        self.issuedAt = issuedAt
        self.lifetimeSeconds = lifetimeSeconds
        self.salt = salt
        self.services = services
    }

    /// The end of the token in seconds since 1970 (UTC). From this second on the token is void.
    package var expiresAt: UInt64 { UInt64(issuedAt) + UInt64(lifetimeSeconds) }

    /// The end of a privilege that lasts so many seconds from the issue. 0 means that it has no limit of its
    /// own. No privilege outlives its token.
    package func expiry(ofPrivilege seconds: UInt32) -> UInt64 {
        seconds == 0 ? expiresAt : min(expiresAt, UInt64(issuedAt) + UInt64(seconds))
    }

    /// A salt in the same range as that of other builders.
    package static func randomSalt() -> UInt32 { .random(in: 1...99_999_999) }
}
