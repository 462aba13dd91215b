import RTMServiceKit
import RTMWire

/// What a command of an operator prints, and how it ends. Pure.
struct OperatorAnswer {
    let ban: Ban
    let outcome: BanOutcome

    private var user: String { "the user \"\(ban.userID)\" of the app \"\(ban.appID)\"" }
    private var command: String { OperatorText.command(ban) }
    /// No edge has answered, so nobody knows what there is.
    private var isBlind: Bool { outcome.answered == 0 }

    var status: ExitCode {
        switch command {
        case "unban": outcome.before == nil ? .nothingFound : .ok
        case "kick" where isBlind: .unavailable
        case "kick": outcome.sessions == 0 ? .nothingFound : .ok
        default: outcome.isAppKnown || isBlind ? .ok : .nothingFound
        }
    }

    var text: String { sentences.joined(separator: "\n") + "\n" }

    private var sentences: [String] {
        switch command {
        case "unban":
            [outcome.before.map { "\(user.asBeginning) may log in again. \(held($0))" } ?? notBanned]
        case "kick": [found] + unanswered
        default:
            ["\(user.asBeginning) may not log in until \(Timestamp.text(ban.untilMilliseconds)).", found]
                + (outcome.before.map { [held($0)] } ?? []) + unanswered
        }
    }

    private var notBanned: String { "\(user.asBeginning) was not banned." }

    private var found: String {
        if outcome.asked == 0 { return "No edge is connected to storage, so no session was ended." }
        if isBlind { return "No edge has answered, so nobody knows whether a session was ended." }
        if !outcome.isAppKnown {
            let rest = command == "ban" ? " The ban is kept; \"unban\" lifts it." : ""
            return "No edge knows the app \"\(ban.appID)\".\(rest)"
        }
        switch outcome.sessions {
        case 0: return "\(user.asBeginning) was not logged in."
        case 1: return "One session of \(user) was ended."
        default: return "\(outcome.sessions) sessions of \(user) were ended."
        }
    }

    private var unanswered: [String] {
        let count = outcome.asked - min(outcome.answered, outcome.asked)
        guard count > 0, !isBlind else { return [] }
        return [
            "\(count) of \(outcome.asked) links to edges did not answer in time. "
                + "Sessions there may still be open."
        ]
    }

    private func held(_ before: Ban) -> String {
        "The ban \(Self.origin(before)) was to end at \(Timestamp.text(before.untilMilliseconds))."
    }

    private static func origin(_ ban: Ban) -> String {
        let by = ban.by.isEmpty ? "" : " by \(ban.by)"
        let reason = ban.reason.isEmpty ? "" : " (\(ban.reason))"
        return "of \(Timestamp.text(ban.sinceMilliseconds))\(by)\(reason)"
    }

    var json: String {
        var fields: [(name: String, json: String)] = [
            ("command", JSONText.quoted(command)), ("app", JSONText.quoted(ban.appID)),
            ("user", JSONText.quoted(ban.userID)),
            ("appKnown", isBlind ? "null" : "\(outcome.isAppKnown)"),
            ("sessionsEnded", "\(outcome.sessions)"), ("linksAsked", "\(outcome.asked)"),
            ("linksAnswered", "\(outcome.answered)"),
        ]
        if ban.untilMilliseconds > 0 { fields.append(("until", Self.time(ban.untilMilliseconds))) }
        fields.append(("before", outcome.before.map { Self.json($0) } ?? "null"))
        return JSONText.object(fields) + "\n"
    }

    private static func time(_ milliseconds: UInt64) -> String {
        JSONText.quoted(Timestamp.text(milliseconds))
    }

    static func json(_ ban: Ban) -> String {
        JSONText.object([
            ("app", JSONText.quoted(ban.appID)), ("user", JSONText.quoted(ban.userID)),
            ("since", time(ban.sinceMilliseconds)), ("until", time(ban.untilMilliseconds)),
            ("by", JSONText.quoted(ban.by)), ("reason", JSONText.quoted(ban.reason)),
        ])
    }

    /// All bans, one a line.
    static func list(_ bans: [Ban], asJSON: Bool) -> String {
        if asJSON { return JSONText.array(bans.map { json($0) }) + "\n" }
        guard !bans.isEmpty else { return "Nobody is banned.\n" }
        return bans.map { ban in
            let by = ban.by.isEmpty ? "" : "  by \(plain(ban.by))"
            let reason = ban.reason.isEmpty ? "" : "  \(plain(ban.reason))"
            return "\(ban.appID)/\(ban.userID)  since \(Timestamp.text(ban.sinceMilliseconds))"
                + "  until \(Timestamp.text(ban.untilMilliseconds))\(by)\(reason)\n"
        }.joined()
    }

    /// Text of others can't forge a line, or steer a terminal.
    private static func plain(_ text: String) -> String {
        String(JSONText.quoted(text).dropFirst().dropLast())
    }
}

extension String {
    /// As the first words of a sentence.
    fileprivate var asBeginning: String { prefix(1).uppercased() + dropFirst() }
}
