import ArgumentParser
import Foundation
import RTMClient
import RTMModel

struct DoctorCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the server, TLS, the clock and the token of the context in use.",
        discussion: """
            `rtm doctor` does the same. Each check is a line with its verdict, and what to do if something is \
            wrong; the exit status is then 1. Nobody's session ends: with a token nobody logs in, and without \
            one a guest with a random name does. `rtm doctor FILE` explains the record of a client instead.
            """)

    @Argument(help: .init("The record of a client, to explain it instead.", visibility: .hidden))
    var file: String?

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let output = common.output
        try await common.run {
            if let file { return try await output.explain(FlightRecord(file: file)) }
            let settings = try common.settings()
            var findings: [DoctorFinding] = []
            var clock: ServerClock?
            for server in settings.servers {
                let outcome = try await output.announcing("waiting for an answer of \(server)") {
                    try await RTMClient.probe(server, tls: settings.encryption, timeout: common.loginTimeout)
                }
                findings += DoctorFinding.server(
                    server, isEncrypted: server.hasTLS(settings.encryption), outcome)
                if case .answered(let reply) = outcome {
                    clock = ServerClock(reply, nowMilliseconds: WallClock.milliseconds())
                }
            }
            findings.append(.clock(clock))
            findings.append(try await token(settings, clock))
            for finding in findings { try await output.result(finding.line, "check", finding.json) }
            if findings.contains(where: { $0.verdict == .wrong }) { throw ExitCode.failure }
        }
    }

    private func token(_ settings: ConnectionSettings, _ clock: ServerClock?) async throws -> DoctorFinding {
        let now = WallClock.milliseconds()
        if let token = settings.token {
            return .token(token, settings, nowMilliseconds: clock?.time(of: now) ?? now)
        }
        guard clock != nil else { return .noToken(isRefused: nil) }
        // A second login of a user would end the first (S-10), so somebody logs in whom nobody knows.
        var guest = settings
        guest.userID = GuestName.random()
        do {
            try await common.withClient(guest) { _ in }
            return .noToken(isRefused: nil, isLetIn: true)
        } catch let error as RTMError {
            return .noToken(isRefused: error)
        }
    }
}
