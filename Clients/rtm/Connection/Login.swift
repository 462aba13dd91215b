// Logging in at a shell: a person waits, so a refused connection ends the command at once, and everything
// else that takes longer than a second says what it waits for.

import RTMClient

extension CommonOptions {
    /// Logs in.
    ///
    /// - Throws: `.notConnected` (-10025) when nothing listens there and no `--connect-timeout` was given;
    ///   `.loginTimeout` (-10011) with the cause of the last attempt when no server let the user in in time;
    ///   or the error with which the server refuses the login.
    func logIn(_ client: RTMClient, _ settings: ConnectionSettings) async throws {
        let watch = WatchedLogin(
            LoginWatch(
                servers: settings.servers, timeout: loginTimeout, isPatient: connectTimeout != nil,
                context: settings.contextOfServers))
        let events = client.events()
        let isLoggedIn = try await race(
            {
                try await respectingRates(
                    { () async throws(RTMError) in try await client.login(token: settings.token) },
                    heldBack: { await watch.heldBack($0) })
                return true
            },
            { [loginTimeout] in
                try await Task.sleep(for: loginTimeout)
                return false
            },
            { [output] in
                try await Task.sleep(for: LoginWatch.silence)
                output.notice(await watch.notice)
                return try await forever()
            },
            {
                for await event in events {
                    if case .linkState(let change) = event, change.currentState == .disconnected {
                        try await watch.attemptFailed(change)
                    }
                }
                return try await forever()
            })
        guard isLoggedIn == true else { throw await watch.timedOut }
    }
}

/// The watch, shared by those who look at it.
private actor WatchedLogin {
    private var watch: LoginWatch

    init(_ watch: LoginWatch) { self.watch = watch }

    var notice: String { watch.notice }
    var timedOut: RTMError { watch.timedOut }

    func heldBack(_ refusal: RTMError) { watch.heldBack(refusal.reason) }

    func attemptFailed(_ change: LinkStateEvent) throws(RTMError) {
        try watch.attemptFailed(change.reason, change.connectionFailure)
    }
}

/// Waits until the task is cancelled.
func forever<Value>() async throws -> Value {
    try await Task.sleep(for: .seconds(Int64.max / 4))
    throw CancellationError()
}

extension Output {
    /// Does something, and says what is waited for when it takes more than a second.
    func announcing<Value: Sendable>(
        _ notice: String, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = try await race(
            work,
            {
                try await Task.sleep(for: LoginWatch.silence)
                self.notice(notice)
                return try await forever()
            })
        guard let outcome else { throw CancellationError() }
        return outcome
    }
}
