// What every command does around its work: it ends at a signal, reports its error in the user's format, and
// chooses the exit status.

import ArgumentParser
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
        try await output.reportingErrors {
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
    /// Does something, reports its error in the user's format, and chooses the exit status.
    func reportingErrors(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as RTMError {
            failure(error)
            throw ExitCode.failure
        } catch is OutputClosed {
            // It is not an error if the reader of the output has read enough.
        }
    }
}
