import NIOCore
import NIOPosix
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMServiceKit

@Suite("Running a program: order of start and shutdown, failures, deadlines")
struct ServiceRunnerTests {
    private let journal = ProgramLog()

    private func service(_ name: String, _ flaw: ScriptedService.Flaw = .none) -> ScriptedService {
        ScriptedService(name: name, journal: journal, flaw: flaw)
    }

    @Test(
        "services start in order, definition after definition, and shut down in reverse; a signal ends with 0"
    )
    func order() async throws {
        let program = try RunningProgram([[service("a"), service("b")], [service("c")]], journal: journal)
        try await program.untilReady()
        try await eventually("all three run") { journal.all.filter { $0.hasSuffix("run") }.count == 3 }
        program.lifecycle.signalReceived(15)
        #expect(await program.run.value == .ok)
        let steps = journal.all.filter { !$0.hasSuffix("run") }
        #expect(
            steps == [
                "0 assemble", "a start", "b start", "1 assemble", "c start", "c shutdown", "b shutdown",
                "a shutdown",
            ])
        #expect(program.lifecycle.state == .stopped(.ok))
    }

    @Test(
        "a service that can't start shuts down those before it, and the class of the error is the exit status"
    )
    func startFails() async throws {
        let lines = ProgramLog()
        let failure = ServiceFailure.unavailable("the depot", RTMError(.notConnected, "nobody there"))
        let program = try RunningProgram(
            [[service("a"), service("b", .startFails(failure)), service("c")]], journal: journal,
            log: { lines.note($0) })
        #expect(await program.run.value == .unavailable)
        #expect(journal.all == ["0 assemble", "a start", "b start", "a shutdown"])
        let critical = lines.all.filter { $0.contains("\"critical\"") }
        #expect(critical.count == 1)
        #expect(critical.first?.contains("\"code\":\"unavailable\"") == true)
        #expect(critical.first?.contains("the depot: nobody there") == true)
    }

    @Test("a service whose run throws ends the program with its class")
    func runFails() async throws {
        struct Surprise: Error {}
        let program = try RunningProgram(
            [[service("a"), service("b", .runFails(Surprise()))]], journal: journal)
        #expect(await program.run.value == .internal)
        #expect(journal.all.suffix(2) == ["b shutdown", "a shutdown"])
    }

    @Test("a signal during a start that hangs cancels it and shuts down what had started")
    func signalWhileStarting() async throws {
        let program = try RunningProgram([[service("a"), service("b", .startHangs)]], journal: journal)
        try await eventually("b is starting") { journal.all.last == "b start" }
        #expect(program.lifecycle.state == .starting)
        program.lifecycle.signalReceived(2)
        #expect(await program.run.value == .ok)
        #expect(journal.all.last == "a shutdown")
    }

    @Test("a shutdown that hangs is cut off at the deadline, and the log names what wasn't finished")
    func deadline() async throws {
        let lines = ProgramLog()
        let program = try RunningProgram(
            [[service("a"), service("b", .shutdownHangs)]], journal: journal,
            arguments: ["--shutdown-timeout", "50ms"],
            log: { lines.note($0) })
        try await program.untilReady()
        program.lifecycle.signalReceived(15)
        #expect(await program.run.value == .ok)
        #expect(
            lines.all.contains {
                $0.contains("shutdown cut off") && $0.contains("\"unfinished\":[\"a\",\"b\"]")
            })
    }

    @Test("a reload reads the configuration anew, and the admin page shows it")
    func reload() async throws {
        let lines = ProgramLog()
        let program = try RunningProgram(
            [[service("a")]], journal: journal, reload: ["--threads", "3"], log: { lines.note($0) })
        try await program.untilReady()
        program.runner.reload()
        #expect(
            lines.all.contains {
                $0.contains("configuration reloaded") && $0.contains("\"after restart\":[\"threads\"]")
            })
        program.lifecycle.signalReceived(15)
        _ = await program.run.value
    }

    @Test("a second signal exits at once with 128 and its number")
    func secondSignal() async throws {
        let program = try RunningProgram(
            [[service("a", .shutdownHangs)]], journal: journal, arguments: ["--shutdown-timeout", "200ms"])
        try await program.untilReady()
        program.lifecycle.signalReceived(15)
        program.lifecycle.signalReceived(2)
        #expect(program.exits.all == ["130"])
        _ = await program.run.value
    }

    @Test("the start line has version, configuration and every listening address")
    func startLine() async throws {
        let lines = ProgramLog()
        let program = try RunningProgram(
            [[service("a")]], journal: journal, arguments: ["--threads", "1"], log: { lines.note($0) })
        try await eventually("the start line") { lines.all.contains { $0.contains("\"started\"") } }
        let line = try #require(lines.all.first { $0.contains("\"started\"") })
        #expect(line.contains("\"version\":\"\(BuildInformation.version)\""))
        #expect(line.contains("\"configuration\":\"flags\""))
        #expect(line.contains("\"a\":\"127.0.0.1:1\",\"admin\":\"127.0.0.1:"))
        program.lifecycle.signalReceived(15)
        _ = await program.run.value
    }

    @Test("an admin address that can't be bound is exit status 3")
    func cannotBind() async throws {
        let first = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(first.localAddress?.port)
        let program = try RunningProgram(
            [[service("a")]], journal: journal, arguments: ["--admin", "127.0.0.1:\(port)"])
        #expect(await program.run.value == .unavailable)
        #expect(journal.all.isEmpty)
        try await first.close()
    }

    @Test("errors are sorted into classes by type and code, never by their words")
    func classes() {
        #expect(ServiceFailure(ConfigurationError([])).status == .configuration)
        #expect(ServiceFailure(ServiceFailure.configuration("no certificate")).status == .configuration)
        #expect(ServiceFailure(RTMError(.storageNotAvailable, "")).status == .unavailable)
        #expect(ServiceFailure(RTMError(.invalidParameter, "unavailable")).status == .internal)
        #expect(ServiceFailure(CancellationError()).status == .internal)
    }
}
