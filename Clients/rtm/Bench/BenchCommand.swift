import ArgumentParser
import RTMAccessToken
import RTMClient
import RTMModel

struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure how fast a server delivers, and check that it loses nothing.",
        discussion: """
            All clients run in this process. Every message is checked for loss, order and repetition; the \
            exit status is 1 if any is found. --user is not used: each client has a name of its own. For an app \
            with a certificate give the certificate instead of a token: a token is for one user, so the bench \
            makes one for each client.

            Without --fan-out and --pairs, 10 subscribers share one channel. A server limits how often a \
            client may publish. The bench keeps to that and reports which limit it has met. To measure how \
            fast the server itself is, start rtm-standalone or rtm-edge with --rates-unlimited.
            """)

    @Option(help: .init("One publisher and this many subscribers on one channel.", valueName: "n"))
    var fanOut: Int?

    @Option(help: .init("This many publishers with one subscriber each.", valueName: "n"))
    var pairs: Int?

    @Option(help: .init("Bytes of a message.", valueName: "bytes"))
    var payload = 128

    @Option(
        help: .init("Messages of a publisher that may be on their way to its subscribers.", valueName: "n"))
    var window = 8

    @Option(
        help: .init("How long to send.", valueName: "duration"), transform: { try Duration(argument: $0) })
    var duration: Duration = .seconds(5)

    @Option(help: .init("Process whose processor time is measured; repeat it for others.", valueName: "pid"))
    var serverPid: [Int32] = []

    @OptionGroup var certificate: CertificateOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard fanOut == nil || pairs == nil else {
            throw ValidationError("give either --fan-out or --pairs")
        }
        guard (1...10_000).contains(fanOut ?? pairs ?? Self.usualFanOut) else {
            throw ValidationError("--fan-out and --pairs go from 1 to 10000")
        }
        guard (1...10_000).contains(window) else { throw ValidationError("--window goes from 1 to 10000") }
        guard (BenchMessage.bytesMin...Limits.messageBytesMax).contains(payload) else {
            throw ValidationError(
                "--payload goes from \(BenchMessage.bytesMin) to \(Limits.messageBytesMax) bytes")
        }
    }

    func run() async throws {
        try await common.run {
            let settings = try common.settings()
            let token = try token(settings)
            let bench = BenchRun(
                plan: plan, serverProcesses: serverPid, configuration: try common.configuration(settings),
                logIn: { client in
                    var settings = settings
                    settings.token = try token(client.configuration.userID)
                    try await common.logIn(client, settings)
                },
                notice: { [output = common.output] in output.notice($0) })
            let report = try await bench.run()
            try await common.output.result(report.sentence, "result", report.json)
            if !report.isSound { throw ExitCode.failure }
        }
    }

    /// How each client gets its token, if the app needs one.
    ///
    /// - Throws: `.invalidParameter` (-10014) if there is a token and no certificate.
    func token(
        _ settings: ConnectionSettings
    ) throws(RTMError) -> @Sendable (_ user: String) throws(RTMError) -> String? {
        guard let certificate = try certificate.certificate() else {
            guard settings.token == nil else {
                throw RTMError(
                    .invalidParameter,
                    "a token is for one user, and the bench logs in many: give --certificate-file or "
                        + "RTM_CERTIFICATE_FILE, and it makes a token for each of them", operation: "bench")
            }
            return { _ in nil }
        }
        let issuedAt = UInt32(clamping: WallClock.milliseconds() / 1000)
        // Clients log in at the beginning, and stay until all have left.
        let lifetime = UInt32(clamping: duration.components.seconds) + 3600
        return { [appID = settings.appID] user throws(RTMError) in
            let login = TokenService(.rtm(user: user), privileges: [TokenService.Privilege.login: lifetime])
            return try AccessToken(
                appID: appID, issuedAt: issuedAt, lifetimeSeconds: lifetime, services: [login]
            ).signed(with: certificate).text
        }
    }

    /// Subscribers where neither shape is given.
    private static let usualFanOut = 10

    private var plan: BenchPlan {
        BenchPlan(
            shape: pairs.map(BenchPlan.Shape.pairs) ?? .fanOut(fanOut ?? Self.usualFanOut),
            payloadBytes: payload, window: window, duration: duration)
    }
}
