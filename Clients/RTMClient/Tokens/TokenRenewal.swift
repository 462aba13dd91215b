/// When the app's token provider is asked, and when again. Pure.
///
/// One round lasts from the moment a new token is needed until the server has taken one, or until the session
/// has ended. There is one round at a time, and an answer of an earlier one is ignored.
struct TokenRenewal {
    enum Action: Hashable {
        case ask(round: UInt64)
        case wait(Duration, round: UInt64)
    }

    /// The wait between attempts doubles from one second up to this one.
    private static let longestWait = Duration.seconds(30)

    private var round: UInt64 = 0
    private var isUnderWay = false
    private var failures = 0

    /// The token expires soon, or has expired.
    mutating func needed() -> Action? {
        guard !isUnderWay else { return nil }
        isUnderWay = true
        round += 1
        failures = 0
        return .ask(round: round)
    }

    /// The provider failed, or the token could not be presented.
    mutating func failed(_ round: UInt64) -> Action? {
        guard isWanted(round) else { return nil }
        failures += 1
        return .wait(min(.seconds(1 << min(failures - 1, 5)), Self.longestWait), round: round)
    }

    mutating func waited(_ round: UInt64) -> Action? { isWanted(round) ? .ask(round: round) : nil }

    /// The server took the token.
    mutating func succeeded(_ round: UInt64) {
        if isWanted(round) { isUnderWay = false }
    }

    /// The session has ended, and no token helps it.
    mutating func ended() { isUnderWay = false }

    /// Whether what comes of this round is still of use.
    func isWanted(_ round: UInt64) -> Bool { isUnderWay && round == self.round }
}
