import ArgumentParser

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "See users, end their sessions, and shut them out, as a backend does.",
        subcommands: [
            UserListCommand.self, UserShowCommand.self, UserKickCommand.self, UserBanCommand.self,
            UserUnbanCommand.self, UserRevokeTokensCommand.self,
        ])
}

struct UserListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the users who are online, or those who are banned.",
        discussion:
            "They are in the order of their ids. The key needs the scope read, with --banned moderate.")

    @Option(help: .init("Only users whose ids begin so.", valueName: "prefix"))
    var prefix: String?

    @Flag(help: "List who is banned, until when, why and by whom.")
    var banned = false

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        if banned, prefix != nil { throw ValidationError("--prefix doesn't go with --banned") }
    }

    func run() async throws {
        try await gateway.run("user list") { client, output in
            let users = banned ? bans(client) : online(client)
            try await users.show(client, output, limit: list.limit)
        }
    }

    private func online(_ client: GatewayClient) -> GatewayList {
        GatewayList(
            path: client.app("users"), rows: "users", query: ["prefix": prefix], kind: "user",
            columns: { row, _ in [row["user"]?.text] }, nothing: "nobody is online")
    }

    private func bans(_ client: GatewayClient) -> GatewayList {
        GatewayList(
            path: client.app("bans"), rows: "bans", next: ("nextAfter", "after"), takesLimit: false,
            kind: "ban",
            columns: { row, transcript in
                [
                    row["user"]?.text, row["until"]?.time.map { "until \(transcript.time($0))" },
                    row["by"]?.text.flatMap { $0.isEmpty ? nil : "by \($0)" }, row["reason"]?.text,
                ]
            }, nothing: "nobody is banned")
    }
}

struct UserShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show whether a user is online or banned, and the user's sessions.",
        discussion: "The key needs the scope moderate.")

    @Argument(help: "User id.")
    var user: String

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("user show", naming: [.user(user)]) { client, output in
            let user = try await client.get(client.app("users", user))
            try await output.result(Self.text(of: user, output.transcript), "user", user)
            output.noticeMissing(user["edges"])
        }
    }

    /// A line about the user, and one for each session.
    static func text(of user: JSON, _ transcript: Transcript) -> String {
        let about = [
            user["user"]?.text?.visible, user["online"]?.isTrue == true ? "online" : "offline",
            user["bannedUntil"]?.time.map { "banned until \(transcript.time($0))" },
        ]
        let sessions = (user["connections"]?.array ?? []).map {
            ConnectionListCommand.columns(of: $0, transcript).map { $0?.visible }
        }
        return ([about] + sessions).map { $0.compactMap { $0 }.joined(separator: "\t") }
            .joined(separator: "\n")
    }
}

// MARK: - Moderation

/// Whom a command is about, and why.
struct ModerationArguments: ParsableArguments {
    @Argument(help: "User id.")
    var user: String

    @Option(help: .init("One sentence, which the user gets and the audit log keeps.", valueName: "text"))
    var reason: String?

    @OptionGroup var gateway: GatewayOptions

    /// - Parameters:
    ///   - command: the last piece of the path.
    ///   - fields: the fields of the body beside the reason.
    func carryOut(_ command: String, _ fields: [JSON.Field] = []) async throws {
        let reason = reason.map { [JSON.Field(name: "reason", value: .string($0))] } ?? []
        try await gateway.run("user \(command)", naming: [.user(user)]) { client, output in
            let outcome = try await client.post(
                client.app("users", user, command), .object(fields + reason))
            try await output.result(
                Self.sentence(command, user, outcome, output.transcript).visible, "result", outcome.succeeded)
            if let asked = outcome["asked"]?.int, let answered = outcome["answered"]?.int, answered < asked {
                output.notice(
                    "\(answered) of \(asked) event loops have answered in time; run it again, "
                        + "which does no harm"
                )
            }
            if Self.hasFoundNothing(command, outcome) { throw ExitCode.failure }
        }
    }

    /// Whether there was nothing to end or to lift, as with the commands of storage.
    static func hasFoundNothing(_ command: String, _ outcome: JSON) -> Bool {
        switch command {
        case "kick": (outcome["sessions"]?.int ?? 0) == 0
        case "unban": outcome["untilBefore"] == nil
        default: false
        }
    }

    static func sentence(
        _ command: String, _ user: String, _ outcome: JSON, _ transcript: Transcript
    ) -> String {
        let ended = (outcome["sessions"]?.int ?? 0).counted("session") + " of \(user) ended"
        let until = outcome["until"]?.time.map { transcript.time($0) } ?? ""
        switch command {
        case "ban":
            let term = outcome["forever"]?.isTrue == true ? "for ever" : "until \(until)"
            return "\(user) is banned \(term); \(ended)"
        case "unban":
            return outcome["untilBefore"] == nil ? "\(user) was not banned" : "\(user) may log in again"
        case "revoke-tokens":
            let before = outcome["issuedBefore"]?.time.map { transcript.time($0) } ?? ""
            return "tokens of \(user) from before \(before) are refused until \(until); \(ended)"
        default: return "\(ended); \(user) may log in again"
        }
    }
}

extension JSON {
    /// The object of a call that succeeded.
    var succeeded: JSON {
        .object([Field(name: "result", value: "ok")] + (fields ?? []))
    }
}

struct UserKickCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kick", abstract: "End a user's sessions. The user may log in again at once.",
        discussion: "The status is 1 if the user has no session. The key needs the scope moderate.")

    @OptionGroup var whom: ModerationArguments

    func run() async throws { try await whom.carryOut("kick") }
}

struct UserBanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ban", abstract: "End a user's sessions, and refuse logins for a time.",
        discussion: "A ban of a banned user replaces it. The key needs the scope moderate.")

    @OptionGroup var whom: ModerationArguments

    @Option(
        name: .customLong("for"), help: .init("How long, from a second on.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var time: Duration?

    @Flag(help: "Until the user is unbanned, in place of a time.")
    var forever = false

    func validate() throws {
        guard (time == nil) == forever else { throw ValidationError("Name either --for or --forever.") }
    }

    func run() async throws {
        let term = time.map { JSON.Field.seconds($0) } ?? JSON.Field(name: "forever", value: .literal("true"))
        try await whom.carryOut("ban", [term])
    }
}

struct UserUnbanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unban", abstract: "Let a banned user in again.",
        discussion: "The status is 1 if the user is not banned. The key needs the scope moderate.")

    @OptionGroup var whom: ModerationArguments

    func run() async throws { try await whom.carryOut("unban") }
}

struct UserRevokeTokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke-tokens",
        abstract: "Refuse a user's older tokens, and end the sessions that have them.",
        discussion: """
            Newer tokens are accepted at once. A TIME is in milliseconds since 1970, or like \
            2026-03-01T12:00:00Z. The key needs the scope moderate.
            """)

    @OptionGroup var whom: ModerationArguments

    @Option(
        help: .init(
            "Refuse tokens that were issued before this time; now unless it is given.", valueName: "time"),
        transform: { try HistoryTime(argument: $0) })
    var issuedBefore: HistoryTime?

    @Option(
        name: .customLong("for"),
        help: .init(
            "How long that is kept: longer than those tokens live. A year unless it is given.",
            valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var time: Duration?

    func run() async throws {
        let before = issuedBefore.map { JSON.Field(name: "issuedBefore", value: .number($0.milliseconds)) }
        try await whom.carryOut("revoke-tokens", [before, time.map { .seconds($0) }].compactMap { $0 })
    }
}

extension JSON.Field {
    /// Whole seconds, rounded up.
    fileprivate static func seconds(_ duration: Duration) -> JSON.Field {
        JSON.Field(name: "seconds", value: .number(Int((duration / .seconds(1)).rounded(.up))))
    }
}
