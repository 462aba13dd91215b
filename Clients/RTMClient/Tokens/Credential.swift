import RTMModel

/// The token that a client logs in with, and comes back with after a loss. It is the newest token that the
/// server has taken or will be asked to take (S-50, S-52).
struct Credential: Sendable {
    /// `nil` means that the app id is sent (S-1).
    private(set) var token: String?
    private var isExpiryAnnounced = false
    /// From this time on the server doesn't take the token, as far as that is known (S-54).
    private var expiresAt: ContinuousClock.Instant?

    init(_ token: String? = nil) { self.token = token }

    /// Another token takes the place of this one. If it is the same token, nothing changes.
    mutating func replace(with token: String?) {
        if token != self.token { self = Credential(token) }
    }

    /// The server has said when the token ends, or has refused it because it has ended.
    mutating func expires(at time: ContinuousClock.Instant) { expiresAt = time }

    func hasExpired(at now: ContinuousClock.Instant) -> Bool { expiresAt.map { now >= $0 } ?? false }

    /// Whether the app gets the event that the token will expire, which is emitted once per token. A server
    /// that the client comes back to can't know that an earlier server has announced it.
    mutating func announceExpiry() -> Bool {
        defer { isExpiryAnnounced = true }
        return !isExpiryAnnounced
    }
}

extension Credential {
    /// Refuses a token that no frame can carry. It would end the connection instead of being refused by the
    /// server (S-0b).
    ///
    /// - Throws: `.invalidToken` (-10005) if the token is too long or has a NUL.
    static func check(_ token: String) throws(RTMError) {
        guard token.utf8.count <= Limits.tokenBytesMax else {
            throw RTMError(
                .invalidToken,
                "the token has \(token.utf8.count) bytes, \(Limits.tokenBytesMax) are allowed",
                limit: .init(name: "token bytes", value: UInt64(Limits.tokenBytesMax)))
        }
        guard !token.utf8.contains(0) else {
            throw RTMError(.invalidToken, "the token has a NUL character, which is not allowed")
        }
    }
}
