import ArgumentParser
import Foundation
import RTMAccessToken
import RTMClient

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that a running system keeps its promises.",
        discussion: """
            Several clients publish, receive, count by compare-and-set, take turns with a lock, and come and go. \
            Then it is checked that each acknowledged message was received once, in one order, by everybody who \
            got no gap; that no write of the counter was lost; that the lock had one owner at a time \
            and growing fencing tokens; and that others learned in time who came and left. The exit status is \
            1 if a promise was broken. Kill processes meanwhile, as you like.

            It works within the rates of the server, in channels of its own, and leaves nothing behind. --user \
            is not used, because each client has a name of its own. For an app with a certificate give the \
            certificate instead of a token: a token is for one user, so each client gets one of its own.
            """)

    @Option(help: .init("Clients that publish and receive, from 2 to 50.", valueName: "n"))
    var clients = 4

    @Option(help: .init("Channels, from 1 to 50.", valueName: "n"))
    var channels = 3

    @Option(
        help: .init("How long the clients work.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var duration: Duration = .seconds(10)

    @Option(
        help: .init("How soon others have to know that a user has come or left.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var presenceBound: Duration = .seconds(10)

    @Option(
        help: .init(
            "File for everything that the clients did and saw, one JSON object per line.", valueName: "file"))
    var history: String?

    @OptionGroup var certificate: CertificateOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (2...50).contains(clients) else { throw ValidationError("--clients goes from 2 to 50") }
        guard (1...50).contains(channels) else { throw ValidationError("--channels goes from 1 to 50") }
    }

    func run() async throws {
        try await common.run {
            let settings = try common.settings()
            let plan = VerifyRun.Plan(
                clients: clients, channels: channels, duration: duration, presenceBound: presenceBound)
            let certificate = try certificate.certificate()
            let run = VerifyRun(plan) { user in try await client(user, settings, certificate) }
            common.output.notice(
                "\(clients + 1) clients work for \(duration.text); what they see is checked then")
            let check = try await run.run()
            try write(run.history)
            try await common.output.result(check.sentence, "result", check.json)
            for violation in check.violations.prefix(100) { common.output.notice(violation.description) }
            if !check.violations.isEmpty { throw ExitCode.failure }
        }
    }

    private func client(
        _ user: String, _ settings: ConnectionSettings, _ certificate: String?
    ) async throws -> RTMClient {
        var settings = settings
        settings.userID = user
        settings.token = try certificate.map { try token(of: user, in: settings.appID, signedWith: $0) }
        let client = try RTMClient(common.configuration(settings))
        try await common.logIn(client, settings)
        return client
    }

    private func token(
        of user: String, in appID: String, signedWith certificate: String
    ) throws(RTMError) -> String {
        let credentials = TokenCredentials(appID: appID, userID: user, certificate: certificate)
        var create = TokenCreateCommand()
        create.expire = .seconds(24 * 60 * 60)
        return try create.token(
            for: credentials, issuedAt: UInt32(clamping: WallClock.milliseconds() / 1_000)
        ).text
    }

    private func write(_ events: [(time: Duration, event: VerifyEvent)]) throws {
        guard let history else { return }
        let lines = events.map { $0.event.json(at: $0.time).description + "\n" }
        do {
            try lines.joined().write(toFile: history, atomically: true, encoding: .utf8)
        } catch {
            throw RTMError(
                .invalidParameter, "--history: \(history) can't be written: \(error.localizedDescription)",
                operation: "verify")
        }
    }
}

extension VerifyCheck {
    /// The verdict for a person.
    var sentence: String {
        let work = """
            \(summary.published) messages published, \(summary.received) received, \
            \(summary.gaps) gaps reported; \(summary.comparisons) comparisons; \
            \(summary.acquisitions) times the lock; \
            \(summary.announcements) comings and goings, announced within \(summary.slowestAnnouncement.text)
            """
        return violations.isEmpty
            ? "every promise was kept: \(work)" : "\(violations.count) promises were broken: \(work)"
    }

    var json: JSON {
        [
            "event": "verified", "result": violations.isEmpty ? "ok" : "broken",
            "violations": .strings(violations.map(\.description)), "published": .number(summary.published),
            "received": .number(summary.received), "gaps": .number(summary.gaps),
            "comparisons": .number(summary.comparisons), "acquisitions": .number(summary.acquisitions),
            "announcements": .number(summary.announcements),
            "slowestAnnouncementMs": .number(summary.slowestAnnouncement / .milliseconds(1), decimals: 1),
        ]
    }
}
