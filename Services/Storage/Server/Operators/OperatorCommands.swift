import Foundation
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// What an operator asks of the storage service that runs: who may not log in (S-4). The service takes it
/// over its link, as it takes what edges ask, so that only who knows the secret of the installation can ask.
enum OperatorCommands {
    /// Where the running service is reached.
    struct Access: Sendable {
        let address: @Sendable (Configuration) -> ServiceLinkAddress
        let link: @Sendable (Configuration) throws -> ServiceLinkConfiguration
    }

    private static let by = ProgramCommand.Option("by", value: "NAME")
    private static let reason = ProgramCommand.Option("reason", value: "TEXT")
    private static let json = ProgramCommand.Option("json")

    static func all(_ access: Access) -> [ProgramCommand] {
        [
            ProgramCommand(
                "kick", argument: "APP/USER", options: [by, reason, json],
                "Ends the user's sessions; the user may log in again."
            ) { call in
                try carryOut(Ban(try user(call.argument, parts: 2), endsSession: true, call), access, call)
            },
            ProgramCommand(
                "ban", argument: "APP/USER/DURATION", options: [by, reason, json],
                "Ends the user's sessions, and lets the user in again after that time."
            ) { call in
                let user = try user(call.argument, parts: 3)
                return try carryOut(Ban(user, endsSession: true, call), access, call)
            },
            ProgramCommand(
                "unban", argument: "APP/USER", options: [by, reason, json],
                "Lets a user in again who was shut out."
            ) { call in
                try carryOut(Ban(try user(call.argument, parts: 2), endsSession: false, call), access, call)
            },
            ProgramCommand("bans", options: [json], "Lists who is shut out, since when, until when and why.")
            {
                call in
                .init(OperatorAnswer.list(try bans(access, call), asJSON: call.options["json"] != nil))
            },
        ]
    }

    private static func carryOut(
        _ ban: Ban, _ access: Access, _ call: ProgramCommand.Call
    ) throws -> ProgramCommand.Result {
        do throws(RTMError) { try OperatorText.check(ban) } catch {
            throw ServiceFailure.configuration(error.reason)
        }
        let outcome = try OperatorCall.ban(ban, access, call.configuration)
        let answer = OperatorAnswer(ban: ban, outcome: outcome)
        return .init(call.options["json"] == nil ? answer.text : answer.json, answer.status)
    }

    private static func bans(_ access: Access, _ call: ProgramCommand.Call) throws -> [Ban] {
        var found: [Ban] = []
        var place = BansRequest()
        while true {
            let page = try OperatorCall.bans(place, access, call.configuration)
            found += page.bans
            guard page.hasMore, let last = page.bans.last else { return found }
            place = BansRequest(afterApp: last.appID, afterUser: last.userID)
        }
    }

    struct Argument: Equatable {
        let app: String
        let user: String
        var duration = Duration.zero
    }

    /// Neither an app id nor a user id has a slash.
    static func user(_ text: String, parts: Int) throws(ServiceFailure) -> Argument {
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard words.count == parts, !words[0].isEmpty else {
            let form = parts == 2 ? "APP/USER" : "APP/USER/DURATION"
            throw .configuration("\"\(text)\" is not \(form)")
        }
        do {
            try NameRule.user.check(words[1].utf8)
        } catch {
            throw .configuration(error.reason)
        }
        guard parts == 3 else { return Argument(app: words[0], user: words[1]) }
        guard let duration = try? UnitText.duration(words[2]), duration > .zero else {
            throw .configuration("\"\(words[2])\" is not a duration such as 10m")
        }
        return Argument(app: words[0], user: words[1], duration: duration)
    }
}

extension Ban {
    /// A ban of the duration that the argument names, or none if it names none.
    init(
        _ user: OperatorCommands.Argument, now: UInt64, reason: String = "", endsSession: Bool, by: String
    ) {
        let duration = UInt64(user.duration / .milliseconds(1))
        self.init(
            appID: user.app, userID: user.user, untilMilliseconds: duration > 0 ? now + duration : 0,
            reason: reason, endsSession: endsSession, sinceMilliseconds: duration > 0 ? now : 0, by: by)
    }

    fileprivate init(
        _ user: OperatorCommands.Argument, endsSession: Bool, _ call: ProgramCommand.Call
    ) {
        self.init(
            user, now: WallClock.milliseconds(), reason: call.options["reason"] ?? "",
            endsSession: endsSession, by: call.options["by"] ?? Self.operatorName)
    }

    /// Who runs the command, as the system knows them, and where.
    private static var operatorName: String {
        let process = ProcessInfo.processInfo
        let account = getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
        let name = OperatorText.name(process.environment, account: account, number: getuid())
        return String("\(name)@\(process.hostName)".prefix(64))
    }
}
