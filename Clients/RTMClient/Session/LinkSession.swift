// The session as the features of a client know it: whether the client is logged in, on which connection, what
// time it is, and when something is tried again. A feature gets it in its initialiser, beside `Requests`,
// `EventOutlet` and the features that it uses.

import Logging
import RTMModel

/// The link, as its session reports to it. All methods are called on the link's event loop.
protocol LinkSessionDelegate: AnyObject {
    /// The state machine has decided this, which is performed in this order.
    func stateMachineDecided(_ actions: [LinkAction])
    /// The connection in use has ended, or can't be used any longer.
    func connectionFailed(_ loss: LinkLoss)
    /// The server has answered for one restoration (S-19).
    func restorationEnded()
    /// Something is due before the timer fires.
    func deadlineMoved()
}

final class LinkSession {
    typealias Instant = ContinuousClock.Instant

    let configuration: RTMClient.Configuration
    let logger: Logger
    let clock: SessionClock
    private let timer: LinkTimer
    private unowned let delegate: any LinkSessionDelegate

    var machine: LinkStateMachine
    /// `nil` while there is no connection, and no attempt to open one.
    var connection: LinkConnection?
    /// What the connection before the present one brought back.
    var lastRestoration: RestorationProgress?
    /// The app has closed the client, or has released it.
    var isClosed = false
    /// The latest change of the link state.
    private(set) var lastChange: LinkChange?

    init(
        _ configuration: RTMClient.Configuration, logger: Logger, clock: SessionClock, timer: LinkTimer,
        delegate: any LinkSessionDelegate
    ) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        self.timer = timer
        self.delegate = delegate
        machine = LinkStateMachine(
            .init(
                timing: configuration.timing, serverCount: configuration.servers.count,
                attemptTimeout: configuration.requestTimeout,
                reconnectTimeout: configuration.reconnectTimeout, token: configuration.token,
                hasTokenProvider: configuration.tokenProvider != nil))
    }

    var userID: String { configuration.userID }
    var now: Instant { clock.now }

    // MARK: State

    var state: LinkState { machine.state }
    /// The app doesn't know of the connection that is being made (N-5).
    var isChangingPath: Bool { machine.shownState != machine.state }
    /// The server has accepted the login, and the subscriptions of the session are being restored.
    var isBeingRestored: Bool { state == .connecting && connection?.heartbeat != nil }
    /// The session came to the present connection from another path.
    var isOnSecondPath: Bool { connection?.isSecondPath == true }
    /// Why a call that needs a session fails.
    var notLoggedIn: RTMError {
        let cause = state == .failed ? lastChange.map { ": \($0.reason)" } : nil
        return RTMError(.notLogin, "not logged in\(cause ?? "")")
    }

    func changed(_ change: LinkChange) { lastChange = change }

    /// Has the link perform what the state machine has decided.
    func perform(_ actions: [LinkAction]) { delegate.stateMachineDecided(actions) }

    /// Ends the connection in use.
    func end(_ loss: LinkLoss) { delegate.connectionFailed(loss) }

    // MARK: Restoring

    /// The session counts as connected after so many more answers.
    func beginRestorations(_ count: Int) { connection?.restoration.begin(count) }

    /// The server has answered for one restoration.
    func restorationEnded() {
        connection?.restoration.end()
        delegate.restorationEnded()
    }

    // MARK: Time

    /// Makes sure that the timer fires by then. This is the short way for each of many requests.
    func wake(by deadline: Instant) {
        if !timer.covers(deadline) { delegate.deadlineMoved() }
    }

    /// A deadline has changed.
    func rearmTimer() { delegate.deadlineMoved() }

    /// Tries something again on this connection after a while.
    func retry(_ retry: Retries.Retry, after delay: Duration) {
        guard connection != nil else { return }
        let time = now + delay
        connection?.retries.put(retry, at: time)
        wake(by: time)
    }

    /// - Returns: whether this retry was waiting.
    @discardableResult
    func cancelRetry(_ retry: Retries.Retry) -> Bool { connection?.retries.remove(retry) == true }
}
