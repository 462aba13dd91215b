/// What a link is doing, with what it has to remember meanwhile.
enum LinkPhase {
    typealias Instant = ContinuousClock.Instant

    /// Not logged in. Follows: connecting.
    case idle
    /// An attempt runs. Follows: connected, disconnected, suspended, failed, idle.
    case connecting(LinkAttempt, Outage)
    /// Logged in by the attempt with this number. Follows: disconnected, failed, idle.
    case connected(UInt64)
    /// Waits for the next attempt. Follows: connecting, suspended, failed, idle.
    case disconnected(Outage)
    /// Waits longer for the next attempt. Follows: connecting, failed, idle.
    case suspended(Outage)
    /// Gave up. Follows: connecting by a new login, idle.
    case failed

    var state: RTMLinkState {
        switch self {
        case .idle: .idle
        case .connecting: .connecting
        case .connected: .connected
        case .disconnected: .disconnected
        case .suspended: .suspended
        case .failed: .failed
        }
    }

    /// As the app knows it: a change of the path is none of the link.
    var shownState: RTMLinkState {
        if case .connecting(_, let outage) = self, outage.isPathChange { .connected } else { state }
    }

    /// When something has to be done although nothing happens.
    ///
    /// - Parameter reconnectTimeout: `nil` means never to give up (T17).
    func deadline(reconnectTimeout: Duration?) -> Instant? {
        switch self {
        case .idle, .connected, .failed: nil
        case .connecting(let attempt, let outage):
            earliest(attempt.beginsAt, attempt.deadline, outage.giveUpAt(after: reconnectTimeout))
        case .disconnected(let outage):
            earliest(outage.suspendAt, outage.retryAt, outage.giveUpAt(after: reconnectTimeout))
        case .suspended(let outage): earliest(outage.retryAt, outage.giveUpAt(after: reconnectTimeout))
        }
    }

    private func earliest(_ instants: Instant?...) -> Instant? { instants.compactMap { $0 }.min() }
}

/// One round over the servers, beginning with the preferred one.
struct LinkAttempt {
    var number: UInt64
    var serversTried = 1
    var deadline: ContinuousClock.Instant
    /// When the connection is opened, if that has not happened yet: a server that shuts down spreads the
    /// return of its clients.
    var beginsAt: ContinuousClock.Instant?
    /// The server accepted the login, and subscriptions are being restored.
    var isRestoring = false
}
