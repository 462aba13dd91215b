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
        do {
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
        } catch let error as RTMError {
            output.failure(error)
            throw ExitCode.failure
        } catch is OutputClosed {
            // It is not an error if the reader of the output has read enough.
        }
    }

    /// Logs in, works, logs out.
    func withClient(
        _ settings: ConnectionSettings, _ work: (RTMClient) async throws -> Void
    ) async throws {
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

    /// Logs in. `login` itself goes on trying for minutes, but at a shell a person waits.
    ///
    /// - Throws: `.loginTimeout` (-10011) with the cause of the last attempt when no server let the user in
    ///   within `--connect-timeout`, or the error with which the server refuses the login.
    func logIn(_ client: RTMClient, _ settings: ConnectionSettings) async throws {
        let cause = LastCause()
        let events = client.events()
        let isLoggedIn = try await race(
            {
                try await client.login(token: settings.token)
                return true
            },
            { [connectTimeout] in
                try await Task.sleep(for: connectTimeout)
                return false
            },
            {
                // This contestant can't win: the events end only when it is cancelled.
                for await event in events {
                    if case .linkState(let change) = event, change.currentState == .disconnected {
                        await cause.set(change.reason)
                    }
                }
                return false
            })
        guard isLoggedIn == true else {
            let servers = settings.servers.map(\.description).joined(separator: ", ")
            let reason = await cause.value.map { ": \($0)" } ?? ""
            throw RTMError(
                .loginTimeout, "no login at \(servers) within \(connectTimeout.text)\(reason)",
                operation: "login")
        }
    }
}

/// Why the latest attempt to connect failed.
private actor LastCause {
    private(set) var value: String?

    func set(_ reason: String) { value = reason }
}
