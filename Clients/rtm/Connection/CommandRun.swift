// What every command does around its work: it ends at a signal, reports its error in the user's format, and
// chooses the exit status.

import ArgumentParser
import Dispatch
import Foundation
import RTMClient

extension ExitCode {
    /// The exit status that shells report for SIGINT.
    static let interrupted = ExitCode(130)
    static let timeout = ExitCode(2)
}

extension CommonOptions {
    /// - Parameter whenInterrupted: the exit status if a signal ends the work.
    func run(
        whenInterrupted: ExitCode = .interrupted, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await output.run(whenInterrupted: whenInterrupted, work)
    }

    /// Logs in, works, logs out.
    ///
    /// - Parameter names: what the command line names.
    func withClient(
        _ settings: ConnectionSettings, naming names: [ArgumentName] = [],
        _ work: (RTMClient) async throws -> Void
    ) async throws {
        for name in names { try name.check() }
        let client = try RTMClient(configuration(settings))
        do {
            try await logIn(client, settings)
            try await work(client)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }
}

extension Output {
    /// - Parameter whenInterrupted: the exit status if a signal ends the work.
    func run(whenInterrupted: ExitCode, _ work: @escaping @Sendable () async throws -> Void) async throws {
        try await reportingErrors {
            let status = try await race(
                {
                    try await work()
                    return ExitCode.success
                },
                {
                    await Interruption.wait()
                    return whenInterrupted
                })
            if let status, status != .success { throw status }
        }
    }

    /// Does something, reports its error in the user's format, and chooses the exit status.
    func reportingErrors(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as any CommandFailure {
            failure(error)
            throw ExitCode.failure
        } catch is OutputClosed {
            // It is not an error if the reader of the output has read enough.
        }
    }
}

/// The signal that this process should end: SIGINT or SIGTERM.
enum Interruption {
    /// Returns at the first signal, or when the task is cancelled. A further signal ends the process at once,
    /// in case the logout hangs, unless it comes within a second: many supervisors signal a process and then
    /// its whole group.
    static func wait() async {
        let (signals, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                continuation.yield()
                DispatchQueue.global().asyncAfter(deadline: .now() + 1) { signal(number, SIG_DFL) }
            }
            source.resume()
            return source
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
