import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf

/// Gets tokens from the app's provider: for an attempt to log in, and for the session before its token
/// expires (S-53). When a renewal asks, `TokenRenewal` decides.
///
/// An answer belongs to the attempt or the connection that asked. When that has ended, the call of the
/// provider is cancelled, and what it still answers is thrown away.
final class TokenKeeper {
    typealias Answer = Result<String, RTMError>

    /// The call of the provider that is under way.
    private struct Call {
        let number: UInt64
        let task: Asking
        let answered: (Answer) -> Void
    }

    private let provider: RTMClient.TokenProvider
    private let session: LinkSession
    private let requests: Requests
    private let eventLoop: any EventLoop
    /// `nil` outside of a test environment.
    private let watch: (any ClientWatch)?
    private var renewal = TokenRenewal()
    private var call: Call?
    private var callsMade: UInt64 = 0

    init(
        _ provider: @escaping RTMClient.TokenProvider, session: LinkSession, requests: Requests,
        eventLoop: any EventLoop, watch: (any ClientWatch)?
    ) {
        self.provider = provider
        self.session = session
        self.requests = requests
        self.eventLoop = eventLoop
        self.watch = watch
    }

    /// Asks the provider. What was asked before isn't wanted any more.
    func ask(_ answered: @escaping (Answer) -> Void) {
        cancelCall()
        callsMade += 1
        let number = callsMade
        let keeper = NIOLoopBound(self, eventLoop: eventLoop)
        // In the world of a test, time stands still while the app is at work.
        watch?.began()
        watch?.answered()
        let task = Self.ask(provider) { [eventLoop, watch] answer in
            eventLoop.execute {
                keeper.value.answered(number, answer)
                watch?.resumed()
            }
        }
        call = Call(number: number, task: task, answered: answered)
    }

    private typealias Asking = Task<Void, Never>

    private static func ask(
        _ provider: @escaping RTMClient.TokenProvider, _ answered: @escaping @Sendable (Answer) -> Void
    ) -> Asking {
        // Unstructured: the link can't wait. Its answer, or `cancelCall`, ends it.
        Task {
            do {
                let token = try await provider()
                try Credential.check(token)
                answered(.success(token))
            } catch {
                let reason = (error as? RTMError)?.reason ?? "\(error)"
                answered(.failure(RTMError(.invalidToken, "the app's token provider failed: \(reason)")))
            }
        }
    }

    private func answered(_ number: UInt64, _ answer: Answer) {
        guard let call, call.number == number else { return }
        self.call = nil
        call.answered(answer)
    }

    /// The connection, or the attempt to open one, has ended.
    func giveUp() {
        renewal.ended()
        cancelCall()
    }

    private func cancelCall() {
        call?.task.cancel()
        call = nil
    }

    // MARK: Renewing

    /// The token of the session expires soon.
    func renew() { perform(renewal.needed()) }

    private func perform(_ action: TokenRenewal.Action?) {
        switch action {
        case nil: break
        case .ask(let round)?: ask { [weak self] in self?.answered($0, in: round) }
        case .wait(let delay, let round)?:
            let keeper = NIOLoopBound(self, eventLoop: eventLoop)
            eventLoop.scheduleTask(in: TimeAmount(delay)) {
                keeper.value.perform(keeper.value.renewal.waited(round))
            }
        }
    }

    private func answered(_ answer: Answer, in round: UInt64) {
        guard case .success(let token) = answer else { return perform(renewal.failed(round)) }
        requests.call(.renewToken, .renewToken(.with { $0.token = token })) { [weak self] result in
            self?.presented(token, result, in: round)
        }
    }

    private func presented(_ token: String, _ result: Result<ServerBody, RTMError>, in round: UInt64) {
        guard case .success(.tokenRenewed) = result else { return perform(renewal.failed(round)) }
        session.machine.tokenRenewed(token)
        renewal.succeeded(round)
    }
}

extension RTMClient {
    /// Gets a token from the app's own server. It is asked by one call at a time, and a call whose answer
    /// isn't wanted any more is cancelled.
    public typealias TokenProvider = @Sendable () async throws -> String
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
