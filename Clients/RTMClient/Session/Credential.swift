import RTMModel

/// The token that a client logs in with, and comes back with after a loss: the newest that the server has
/// taken or will be asked to take (S-50, S-52).
struct Credential: Sendable {
    /// Nil means the app id (S-1).
    private(set) var token: String?
    private var isExpiryAnnounced = false

    init(_ token: String? = nil) { self.token = token }

    /// Another token takes the place of this one. The same one stays as it is.
    mutating func replace(with token: String?) {
        if token != self.token { self = Credential(token) }
    }

    /// Whether the app is to hear that the token will expire: once per token. A server that the client comes
    /// back to can't know that an earlier one has said it.
    mutating func announceExpiry() -> Bool {
        defer { isExpiryAnnounced = true }
        return !isExpiryAnnounced
    }
}

extension Credential {
    /// Refuses what would end the connection instead of being refused by the server (S-0b): a text that no
    /// frame can carry.
    ///
    /// - Throws: -10005.
    static func check(_ token: String) throws(RTMError) {
        guard token.utf8.count <= Limits.tokenBytesMax else {
            throw RTMError(
                .invalidToken,
                "the token has \(token.utf8.count) bytes, \(Limits.tokenBytesMax) are allowed",
                limit: .init(name: "token bytes", value: UInt64(Limits.tokenBytesMax)))
        }
        guard !token.utf8.contains(0) else {
            throw RTMError(.invalidToken, "the token has a NUL in it: it is none")
        }
    }
}
