/// What a token gives to a user who joins a stream channel with it. The times are milliseconds since 1970
/// (UTC).
package struct JoinGrant: Sendable, Hashable {
    /// When the membership ends unless the token is renewed.
    package let expiresAtMilliseconds: UInt64
    /// When the privilege to publish in the channel ends; nil without that privilege. It is asked for only
    /// where the operator wants it.
    package let publishesUntilMilliseconds: UInt64?

    package init(expiresAtMilliseconds: UInt64, publishesUntilMilliseconds: UInt64? = nil) {
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.publishesUntilMilliseconds = publishesUntilMilliseconds
    }

    /// - Parameter now: milliseconds since 1970 (UTC).
    package func allowsPublishing(now: UInt64) -> Bool {
        publishesUntilMilliseconds.map { now < $0 } ?? false
    }
}
