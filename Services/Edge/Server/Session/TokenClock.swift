import RTMModel

/// How long a token lets its session live, and when its holder has to be warned (S-50, S-51). Pure: the
/// time is a parameter.
///
/// The time is that of the wall clock, because tokens are dated by it. Every check asks for it anew, so a
/// clock that was set meanwhile takes effect with the next check.
struct TokenClock {
    private static let warning = UInt64(Limits.tokenWarning) * 1000

    /// UTC, milliseconds since 1970.
    private var expiresAt: UInt64
    private var isWarned = false

    init(expiresAt: UInt64) { self.expiresAt = expiresAt }

    /// The session has a new token (S-52). The holder is warned again if the new token ends at another time.
    /// If it doesn't, there is no new warning: a client that answers every warning with the token that it
    /// already has would be warned for ever.
    mutating func renewed(expiresAt: UInt64) {
        if expiresAt != self.expiresAt { self = TokenClock(expiresAt: expiresAt) }
    }

    enum Verdict: Equatable {
        /// Nothing is due for this long.
        case valid(for: Duration)
        /// The client has to be warned how much time is left. This verdict comes once.
        case willExpire(in: Duration)
        case expired
    }

    /// - Parameter now: UTC, milliseconds since 1970.
    mutating func check(now: UInt64) -> Verdict {
        guard now < expiresAt else { return .expired }
        let remaining = expiresAt - now
        if isWarned { return .valid(for: .milliseconds(remaining)) }
        guard remaining <= Self.warning else { return .valid(for: .milliseconds(remaining - Self.warning)) }
        isWarned = true
        return .willExpire(in: .milliseconds(remaining))
    }
}
