import RTMModel

/// How long a token lets its session live, and when its holder is to be warned (S-50, S-51). Pure: it is told
/// the time.
///
/// The time is that of the wall clock, because tokens are dated by it. It is asked at every check, so that a
/// clock that was set meanwhile is followed by the next one.
struct TokenClock {
    private static let warning = UInt64(Limits.tokenWarning) * 1000

    /// UTC, milliseconds since 1970.
    private var expiresAt: UInt64
    private var isWarned = false

    init(expiresAt: UInt64) { self.expiresAt = expiresAt }

    /// S-52. Another end is warned of again; the same one isn't, so that a client that answers the warning
    /// with the token that it has already is not warned for ever.
    mutating func renewed(expiresAt: UInt64) {
        if expiresAt != self.expiresAt { self = TokenClock(expiresAt: expiresAt) }
    }

    enum Verdict: Equatable {
        /// Nothing is due for this long.
        case valid(for: Duration)
        /// The holder is to be told that this is left of it. Said once.
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
