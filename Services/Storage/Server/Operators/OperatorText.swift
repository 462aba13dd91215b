import RTMModel
import RTMServiceKit
import RTMWire

/// What operators write into a ban, and what the log says of it. Pure.
enum OperatorText {
    /// Limit: bytes of the name of an operator.
    static let byBytesMax = 128
    /// Limit: bytes of a reason, which the user gets.
    static let reasonBytesMax = 200

    static func check(_ ban: Ban) throws(RTMError) {
        try check(ban.by, byBytesMax, "the name of the operator")
        try check(ban.reason, reasonBytesMax, "the reason")
    }

    private static func check(_ text: String, _ bytesMax: Int, _ what: String) throws(RTMError) {
        guard text.utf8.count > bytesMax else { return }
        throw RTMError(
            .invalidParameter, "\(what) has \(text.utf8.count) bytes, \(bytesMax) are allowed",
            limit: .init(name: what, value: UInt64(bytesMax)))
    }

    /// The name of whoever runs a command. Under cron and in containers the variables are often missing or
    /// empty.
    static func name(_ environment: [String: String], account: String?, number: UInt32) -> String {
        let names = ["SUDO_USER", "USER", "LOGNAME"].map { environment[$0] } + [account]
        return names.compactMap(\.self).first { !$0.isEmpty } ?? "uid \(number)"
    }

    /// What is kept of a command that has ended (W-31).
    static func auditLine(_ ban: Ban, _ outcome: BanOutcome) -> AuditLine {
        let found = outcome.sessions == 1 ? "1 session" : "\(outcome.sessions) sessions"
        return AuditLine(
            timeMilliseconds: WallClock.milliseconds(), by: "operator \(ban.by)", what: command(ban),
            whom: "user \(ban.userID)", outcome: command(ban) == "unban" ? "done" : "\(found) ended")
    }

    /// The command that the ban came from.
    static func command(_ ban: Ban) -> String {
        if ban.tokensBeforeSeconds > 0 { return "revoke tokens" }
        if ban.untilMilliseconds > 0 { return "ban" }
        return ban.endsSession ? "kick" : "unban"
    }
}
