import Logging
import NIOPosix
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMServiceKit

/// A list of words that several services write to.
final class ProgramLog: Sendable {
    private let words = Mutex<[String]>([])

    var all: [String] { words.withLock { $0 } }

    func note(_ word: String) { words.withLock { $0.append(word) } }
}

/// A service that records what happens to it and misbehaves on request.
struct ScriptedService: Service {
    enum Flaw: Sendable {
        case none
        case startFails(any Error)
        case startHangs
        case runFails(any Error)
        case shutdownHangs
    }

    let name: String
    let journal: ProgramLog
    var flaw = Flaw.none

    func start() async throws {
        journal.note("\(name) start")
        switch flaw {
        case .startFails(let error): throw error
        case .startHangs: try await hang()
        default: break
        }
    }

    func run() async throws {
        journal.note("\(name) run")
        if case .runFails(let error) = flaw { throw error }
        try await hang()
    }

    func shutdown(deadline: ContinuousClock.Instant) async {
        journal.note("\(name) shutdown")
        // The service ignores cancellation, too.
        if case .shutdownHangs = flaw {
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }

    var listening: [ListeningAddress] { [ListeningAddress(name, HostPort(host: "127.0.0.1", port: 1))] }

    private func hang() async throws {
        guard await Latch<Void>().wait() != nil else { throw CancellationError() }
    }
}

extension Logger {
    /// A logger whose lines a test can read.
    static func writing(_ write: @escaping @Sendable (String) -> Void) -> Logger {
        Logger(label: "relay") { JSONLogHandler(label: $0, now: { "now" }, write: write) }
    }

    static func writing(to journal: ProgramLog) -> Logger { writing { journal.note($0) } }
}

/// A whole program in this process, on a port of its own.
struct RunningProgram {
    let journal: ProgramLog
    let lifecycle: Lifecycle
    let run: Task<ExitCode, Never>
    let runner: ServiceRunner
    /// The exit code that a second signal would have caused.
    let exits: ProgramLog

    init(
        _ services: [[ScriptedService]], journal: ProgramLog, arguments: [String] = [],
        reload: [String] = [], notify: @escaping @Sendable (SystemdNotice) -> Void = { _ in },
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let definitions = services.enumerated().map { index, parts in
            ServiceDefinition(name: "relay\(index)", summary: "", keys: []) { context in
                journal.note("\(index) assemble")
                context.probe("probe").ready()
                return Assembly(parts)
            }
        }
        let program = ServiceProgram(
            section: "relay", summary: "", services: definitions, admin: HostPort(host: "127.0.0.1", port: 0))
        let configuration = try ConfigurationLoader(schema: program.schema) { _ in "" }
            .load(arguments: arguments, environment: [:])
        let logger = Logger.writing(log)
        let exits = ProgramLog()
        let lifecycle = Lifecycle(shutdownTimeout: configuration[CommonKeys.shutdownTimeout], logger: logger)
        {
            exits.note("\($0.rawValue)")
        }
        let runner = ServiceRunner(
            program, configuration: configuration, eventLoopGroup: .singleton, logger: logger,
            lifecycle: lifecycle, notify: notify
        ) { () throws(ConfigurationError) in
            try ConfigurationLoader(schema: program.schema) { _ in "" }
                .load(arguments: reload, environment: [:])
        }
        self.runner = runner
        self.journal = journal
        self.lifecycle = lifecycle
        self.exits = exits
        run = Task { await runner.run() }
    }

    func untilReady() async throws {
        try await eventually("the program is ready") { lifecycle.state == .running }
    }
}
