import NIOConcurrencyHelpers
import NIOCore
import RTMModel

/// Gets tokens from the app's provider: for a login, and for the session before its token expires. What it
/// does and when, `TokenRenewal` decides.
final class TokenKeeper: EventSink {
    private struct Contents {
        var renewal = TokenRenewal()
        /// The call of the provider that is under way.
        var call: Task<String, any Error>?
        weak var client: RTMClient?
    }

    private let provider: RTMClient.TokenProvider
    private let eventLoop: any EventLoop
    private let contents = NIOLockedValueBox(Contents())

    init(_ provider: @escaping RTMClient.TokenProvider, eventLoop: any EventLoop) {
        self.provider = provider
        self.eventLoop = eventLoop
    }

    /// Renews the tokens of this client from now on, for as long as it lives.
    func keep(_ client: RTMClient) { contents.withLockedValue { $0.client = client } }

    /// Asks the provider. Whoever needs a token meanwhile gets the same answer.
    func token() async throws -> String {
        let call = contents.withLockedValue { contents in
            if let present = contents.call { return present }
            // Unstructured: several wait for the answer, and none may end it for the others.
            let call = Task { [provider] in try await provider() }
            contents.call = call
            return call
        }
        defer { contents.withLockedValue { if $0.call == call { $0.call = nil } } }
        return try await call.value
    }

    // MARK: Events

    func append(_ event: RTMEvent) {
        switch event {
        case .tokenWillExpire(let notice) where notice.channelName == nil: perform { $0.needed() }
        case .linkState(let change): linkChanged(change)
        default: break
        }
    }

    func finish() { end() }

    private func linkChanged(_ change: LinkStateEvent) {
        switch change.currentState {
        case .failed where change.reasonCode == .tokenExpired: perform { $0.needed() }
        case .failed, .idle: end()
        default: break
        }
    }

    private func end() { contents.withLockedValue { $0.renewal.ended() } }

    // MARK: Renewing

    private func perform(_ change: (inout TokenRenewal) -> TokenRenewal.Action?) {
        switch contents.withLockedValue({ change(&$0.renewal) }) {
        case nil: break
        case .ask(let round)?:
            // Unstructured: the session continues meanwhile, and no caller waits.
            Task { await renew(round) }
        case .wait(let delay, let round)?:
            // A failure is noticed on any thread, and in the world of a test only its own has timers.
            eventLoop.execute { [self] in
                eventLoop.scheduleTask(in: TimeAmount(delay)) { self.perform { $0.waited(round) } }
            }
        }
    }

    private func renew(_ round: UInt64) async {
        do {
            let token = try await token()
            let client = contents.withLockedValue { $0.renewal.isWanted(round) ? $0.client : nil }
            // While connected this renews the token, and otherwise it takes the session up again (S-7).
            try await client?.login(token: token)
            contents.withLockedValue { $0.renewal.succeeded(round) }
        } catch {
            perform { $0.failed(round) }
        }
    }
}

extension RTMClient {
    /// Gets a token from the app's own server. It is asked by one call at a time.
    public typealias TokenProvider = @Sendable () async throws -> String

    /// The token for a login that brings none.
    ///
    /// - Throws: `.invalidToken` (-10005) if the provider fails.
    func tokenForLogin() async throws(RTMError) -> String? {
        guard let tokenKeeper, linkState != .connected else { return nil }
        do {
            return try await tokenKeeper.token()
        } catch let error as RTMError {
            throw error.with(operation: .login)
        } catch {
            throw RTMError(.invalidToken, "the app's token provider failed: \(error)").with(operation: .login)
        }
    }
}

/// When the app's token provider is asked, and when again. Pure.
///
/// One round lasts from the moment a new token is needed until the server has taken one, or until the session
/// has ended. There is one round at a time, and an answer of an earlier one is ignored.
struct TokenRenewal {
    enum Action: Hashable {
        case ask(round: UInt64)
        case wait(Duration, round: UInt64)
    }

    /// The wait between attempts doubles from one second up to this one.
    private static let longestWait = Duration.seconds(30)

    private var round: UInt64 = 0
    private var isUnderWay = false
    private var failures = 0

    /// The token expires soon, or has expired.
    mutating func needed() -> Action? {
        guard !isUnderWay else { return nil }
        isUnderWay = true
        round += 1
        failures = 0
        return .ask(round: round)
    }

    /// The provider failed, or the token could not be presented.
    mutating func failed(_ round: UInt64) -> Action? {
        guard isWanted(round) else { return nil }
        failures += 1
        return .wait(min(.seconds(1 << min(failures - 1, 5)), Self.longestWait), round: round)
    }

    mutating func waited(_ round: UInt64) -> Action? { isWanted(round) ? .ask(round: round) : nil }

    /// The server took the token.
    mutating func succeeded(_ round: UInt64) {
        if isWanted(round) { isUnderWay = false }
    }

    /// The session has ended, and no token helps it.
    mutating func ended() { isUnderWay = false }

    /// Whether what comes of this round is still of use.
    func isWanted(_ round: UInt64) -> Bool { isUnderWay && round == self.round }
}
