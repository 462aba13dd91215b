import RTMModel

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

    var state: LinkState {
        switch self {
        case .idle: .idle
        case .connecting: .connecting
        case .connected: .connected
        case .disconnected: .disconnected
        case .suspended: .suspended
        case .failed: .failed
        }
    }

    /// As the app knows it: a change of the path is no change of the link.
    var shownState: LinkState {
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
    /// The app's provider has made the token for this round.
    var isTokenFresh = false
}

/// What the link-state machine has to know before it begins.
struct LinkParameters: Sendable {
    var timing = LinkTiming()
    var serverCount = 1
    /// How long connecting to one server and logging in may take, and restoring the subscriptions again.
    var attemptTimeout: Duration = .seconds(10)
    /// When the link fails for good (T17). `nil` means never.
    var reconnectTimeout: Duration?
    /// What a login presents that brings no token. `nil` means the app id.
    var token: String?
    /// Whether the app's provider is asked for a token instead (S-53).
    var hasTokenProvider = false
}

/// What the link-state machine wants done.
enum LinkAction: Sendable, Equatable {
    /// Announce the change to the app. `state` is the new one already.
    case announce(LinkChange)
    /// Ask the app's provider for a token. The answer carries the number of the attempt that waits for it.
    case askForToken(attempt: UInt64)
    /// Open a connection to the server with this index and log in. Reports about it carry the number.
    case connect(attempt: UInt64, server: Int)
    /// Drop the present connection, continue over the one that stands by, and log in there. Reports about it
    /// carry the number.
    case takeOver(attempt: UInt64, reason: String)
    /// The session continues over another path, and the app notices nothing.
    case pathChanged
    /// Drop the present connection at once. Calls in flight on it fail.
    case disconnect(reason: String)
    /// Send Logout on the present connection and let it end by itself.
    case sendLogout
    /// Present the token of the login on the present connection (S-7).
    case reauthenticate(login: UInt64, token: String)
    case completeLogin(UInt64, RTMError?)
    /// Nothing is to be restored any more (S-22).
    case forgetSubscriptions
}

/// A transition of the link state, as the state machine announces it. The link adds the channels and the
/// time.
struct LinkChange: Sendable, Hashable {
    var current: LinkState
    var previous: LinkState
    var operation: LinkOperation
    var reasonCode: LinkStateReason
    var reason: String
    var isResumed = false
    /// Whether the event names the subscribed channels (S-18).
    var listsChannels = false
    var unrestoredChannels: [String] = []
    var connectionFailure: ConnectionFailure?
}

extension LinkStateEvent {
    /// - Parameter restoration: what could not be brought back, shown when the link is connected again.
    init(
        _ change: LinkChange, subscribedChannels: [String], restoration: RestorationProgress?,
        timestampMilliseconds: UInt64
    ) {
        // Channels that end with this change are affected, too (S-18).
        let affected = Set(subscribedChannels).union(change.unrestoredChannels).sorted()
        self.init(
            currentState: change.current, previousState: change.previous, operation: change.operation,
            reasonCode: change.reasonCode, reason: change.reason,
            affectedChannels: change.listsChannels ? affected : [],
            unrestoredChannels: change.unrestoredChannels,
            isResumed: change.isResumed, timestampMilliseconds: timestampMilliseconds)
        if let restoration, change.current == .connected {
            unrestoredUsers = restoration.unrestoredUsers.sorted()
            forbiddenChannels = restoration.forbiddenChannels.sorted()
        }
        connectionFailure = change.connectionFailure
    }
}
