import ArgumentParser
import RTMClient

struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure how fast a server delivers, and check that it loses nothing.",
        discussion: """
            All clients run in this process. Every message is checked for loss, order and repetition; the \
            exit status is 1 if any is found. --user is not used: each client has a name of its own, so the \
            app must be one without certificate.

            Without --fan-out and --pairs, 10 subscribers share one channel. By default a server \
            accepts 60 messages a second to one channel. The bench keeps to that rate and reports it. To \
            measure how fast the server is, switch the rate off: start it with --edge-rates-publish 0 \
            (rtm-standalone) or --rates-publish 0 (rtm-edge).
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
            let bench = BenchRun(
                plan: plan, serverProcesses: serverPid, configuration: try common.configuration(settings),
                logIn: { try await common.logIn($0, settings) },
                notice: { [output = common.output] in output.notice($0) })
            let report = try await bench.run()
            try await common.output.result(report.sentence, report.json)
            if !report.isSound { throw ExitCode.failure }
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
