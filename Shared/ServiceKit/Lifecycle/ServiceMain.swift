internal import Dispatch
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix

/// The main of a service executable. A type marked `@main` conforms and names the program that it runs.
package protocol ServiceMain {
    static var program: ServiceProgram { get }
    /// How its configuration file is read (RTMConfigurationFile).
    static var parse: FileNode.Parser { get }
}

extension ServiceMain {
    /// Handles arguments, configuration, logging, signals, services and exit. It does not return.
    @concurrent
    package static func main() async {
        let program = self.program
        switch program.startDecision(parse) {
        case .write(let text, let stream, let status):
            stream.write(text)
            exit(status.rawValue)
        case .refuse(let error):
            LoggingBootstrap.start(format: .auto, level: .info)
            report(error, of: program)
            LogOutput.process.finish()
            exit(ExitCode.configuration.rawValue)
        case .probe(let address):
            let answer = await AdminClient.probe(program.name, at: address)
            (answer.isReady ? StandardStream.output : .error).write("\(answer.sentence)\n")
            exit((answer.isReady ? ExitCode.ok : .notReady).rawValue)
        case .perform(let command, let call): exit(perform(command, call).rawValue)
        case .run(let configuration): exit(await run(program, configuration, parse).rawValue)
        }
    }

    /// libdispatch opens a descriptor when somebody first waits by a clock, and ends the process if there is
    /// none left. So both clocks are waited for while there are descriptors, long enough that a timer is set.
    private static func openClocks() async {
        async let continuous: Void? = try? Task.sleep(for: .milliseconds(20), clock: .continuous)
        async let suspending: Void? = try? Task.sleep(for: .milliseconds(20), clock: .suspending)
        _ = await (continuous, suspending)
    }

    private static func perform(
        _ command: ProgramCommand, _ call: ProgramCommand.Call
    ) -> ExitCode {
        do {
            let result = try command.run(call)
            StandardStream.output.write(result.text)
            return result.status
        } catch {
            let failure = ServiceFailure(error)
            StandardStream.error.write("\(failure.cause)\n")
            return failure.status
        }
    }

    private static func report(_ error: ConfigurationError, of program: ServiceProgram) {
        let logger = Logger(label: program.name)
        for problem in error.problems {
            logger.critical(
                "configuration refused", metadata: ["code": "configuration", "cause": "\(problem)"])
        }
    }

    private static func run(
        _ program: ServiceProgram, _ configuration: Configuration, _ parse: @escaping FileNode.Parser
    ) async -> ExitCode {
        LoggingBootstrap.start(
            format: configuration[CommonKeys.logFormat], level: configuration[CommonKeys.logLevel])
        DescriptorLimit.raise()
        await openClocks()
        let logger = Logger(label: program.name)
        let threads = configuration[CommonKeys.threads]
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads == 0 ? System.coreCount : threads)
        let lifecycle = Lifecycle(
            shutdownTimeout: configuration[CommonKeys.shutdownTimeout], logger: logger,
            // This is not `exit`: handlers that run at exit could wait for a lock that a stuck thread holds.
            exitAtOnce: {
                LogOutput.process.finish()
                _exit($0.rawValue)
            })
        var signals: [ReceivedSignal] = []
        for number in [SIGTERM, SIGINT] {
            signals.append(await ReceivedSignal(number) { lifecycle.signalReceived(number) })
        }
        let runner = ServiceRunner(
            program, configuration: configuration, eventLoopGroup: group, logger: logger,
            lifecycle: lifecycle, notify: SystemdNotice.sender(ProcessInfo.processInfo.environment),
            reload: { () throws(ConfigurationError) in try program.reloaded(parse) })
        let terminal = Terminal()
        let hangUp = await ReceivedSignal(SIGHUP) {
            if terminal.isGone { lifecycle.signalReceived(SIGHUP) } else { runner.reload() }
        }
        let status = await runner.run()
        for signal in signals + [hangUp] { signal.cancel() }
        logger.notice("stopped", metadata: ["status": .stringConvertible(status.rawValue)])
        LogOutput.process.finish()
        return status
    }
}

extension ServiceProgram {
    /// What the process was asked to do, read from its arguments, its environment and the files they name.
    fileprivate func startDecision(_ parse: @escaping FileNode.Parser) -> StartDecision {
        StartDecision(
            self, arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment, parse: parse,
            readFile: { try TextFile.read($0) })
    }

    /// Reads everything again that the start has read.
    fileprivate func reloaded(_ parse: @escaping FileNode.Parser) throws(ConfigurationError) -> Configuration
    {
        switch startDecision(parse) {
        case .run(let configuration): return configuration
        case .refuse(let error): throw error
        case .write, .perform, .probe: throw ConfigurationError([])
        }
    }
}

/// The terminal that a program was started from, if any. When somebody closes it, the system sends the same
/// SIGHUP with which an operator asks for a reload. A program that was started to survive its terminal, as by
/// `nohup`, takes every SIGHUP for a request.
private struct Terminal: Sendable {
    private let endsWithTerminal = Self.isThere && !Self.ignoresHangUp

    /// Whether there was a terminal at the start and there is none now.
    var isGone: Bool { endsWithTerminal && !Self.isThere }

    private static var ignoresHangUp: Bool {
        // Only whoever sets a handler learns of the one before. The signals' source ignores it, too.
        unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static var isThere: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}

/// A signal that the process receives in place of its default action.
struct ReceivedSignal: Sendable {
    // Safety: a dispatch source may be used from every thread; only its protocol doesn't say so.
    private nonisolated(unsafe) let source: any DispatchSourceSignal

    /// Returns when the signal is received from now on. The source is set up on another thread, and a signal
    /// that comes before that is lost.
    init(_ number: Int32, handler: @escaping @Sendable () -> Void) async {
        // The default action would end the process before the source gets the signal.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: handler)
        await withCheckedContinuation { registered in
            source.setRegistrationHandler { registered.resume() }
            source.resume()
        }
        self.source = source
    }

    func cancel() { source.cancel() }
}
