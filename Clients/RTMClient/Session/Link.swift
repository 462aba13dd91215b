// The client's link to the server: the one owner of a client's state, confined to its event loop.
//
// The link decides little. `LinkStateMachine` says when to connect and what to announce, and the link
// performs that on sockets and timers. Each feature has an object of its own, which asks the server through
// `requests` and speaks to the app through `events`. The values below the features decide and can be tested
// alone: `SubscriptionTable`, `PublishQueue`, `ChannelRoster`, `StateCache`, `LockLedger`, `RequestTable`,
// `Retries`.

import Logging
import NIOCore
import RTMModel
import RTMProtocol

final class Link {
    typealias Instant = ContinuousClock.Instant

    let configuration: RTMClient.Configuration
    let logger: Logger
    let events: EventOutlet
    let recorder: FlightRecorder
    let eventLoop: any EventLoop
    /// Tells the server, and through it others, a return of this client from a login elsewhere (S-12b).
    let instance: UInt64
    /// Servers and tools in JavaScript read numbers exactly only up to here.
    private static let instances: ClosedRange<UInt64> = 1...(1 << 53) - 1
    private let dialer: any Dialing
    private let requestIDs: RequestIDs
    private let timer: LinkTimer

    var machine: LinkStateMachine
    var connection: LinkConnection?
    var route = NetworkRoute()
    var time: ServerTime
    /// The reason of the latest change of the link state.
    private(set) var lastReason = LinkStateReason.unknown
    private var lastCause = ""
    private var random: any RandomNumberGenerator

    private(set) lazy var requests = Requests(self, ids: requestIDs)
    private(set) lazy var waitingCalls = WaitingCalls(self)
    private(set) lazy var opening = SessionOpening(self)
    private(set) lazy var session = SessionCalls(self)
    private(set) lazy var subscriptions = Subscriptions(self)
    private(set) lazy var streams = Streams(self)
    private(set) lazy var refreshes = Refreshes(self)
    /// `nil` if the client has no encryption keys.
    private(set) lazy var encryption = Encryption(self)
    private(set) lazy var messages = Messages(self)
    private(set) lazy var rosters = Rosters(self)
    private(set) lazy var ownStates = OwnStates(self)
    private(set) lazy var metadata = MetadataFeed(self)
    private(set) lazy var followedUsers = FollowedUsers(self)
    private(set) lazy var locks = OwnLocks(self)
    /// `nil` if the app has opened none.
    var outbox: Outbox?
    /// `nil` if the client has no second path.
    private(set) lazy var standby = Standby(self)

    init(
        _ configuration: RTMClient.Configuration, dialer: any Dialing, hub: EventHub, requestIDs: RequestIDs,
        eventLoop: any EventLoop, clock: LinkClock = .system,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.configuration = configuration
        self.dialer = dialer
        self.requestIDs = requestIDs
        self.random = random
        self.eventLoop = eventLoop
        recorder = FlightRecorder(capacity: configuration.flightRecorderCapacity, clock: clock)
        events = EventOutlet(hub, recorder)
        timer = LinkTimer(eventLoop: eventLoop)
        time = ServerTime(clock)
        instance = .random(in: Self.instances, using: &self.random)
        var logger = configuration.logger
        logger[metadataKey: "user"] = .string(configuration.userID)
        self.logger = logger
        machine = LinkStateMachine(
            .init(
                timing: configuration.timing, serverCount: configuration.servers.count,
                attemptTimeout: configuration.requestTimeout,
                reconnectTimeout: configuration.reconnectTimeout, token: configuration.token))
    }

    var now: Instant { time.now }
    /// Tells the server who counts a message's sequence, if it isn't this client.
    func randomOrigin() -> UInt64 { .random(in: Self.instances, using: &random) }
    var state: RTMLinkState { machine.state }
    var isClosed: Bool { session.isClosed }
    /// The app knows nothing of the connection that is being made (N-5).
    var isChangingPath: Bool { machine.shownState != machine.state }
    /// Why a call that needs a session fails.
    var notLoggedIn: RTMError {
        RTMError(.notLogin, state == .failed ? "not logged in: \(lastCause)" : "not logged in")
    }
    /// The server has accepted the login, and takes up again what belongs to the session.
    var isBeingRestored: Bool { state == .connecting && connection?.heartbeat != nil }
}

// MARK: - What the state machine decides

extension Link {
    /// Performs what the machine decided, in order, and arms the timer anew.
    func perform(_ actions: [LinkStateMachine.Action]) {
        for action in actions { perform(action) }
        armTimer()
    }

    private func perform(_ action: LinkStateMachine.Action) {
        switch action {
        case .announce(let change): announce(change)
        case .connect(let attempt, let server): connect(attempt: attempt, to: configuration.servers[server])
        case .takeOver(let attempt, let reason): takeOver(attempt, reason: reason)
        case .pathChanged: pathChanged()
        case .disconnect(let reason): disconnect(reason: reason)
        case .sayGoodbye: sayGoodbye()
        case .reauthenticate(let id, let token): session.reauthenticate(id, token: token)
        case .completeLogin(let id, let error): session.completeLogin(id, error)
        case .forgetSubscriptions: forgetSession()
        }
    }

    private func connect(attempt: UInt64, to server: ServerAddress) {
        logger.debug("connecting", metadata: ["server": "\(server)", "attempt": "\(attempt)"])
        connection = LinkConnection(attempt: attempt, socket: dial(server, over: nil, for: FrameRouter(self)))
    }

    func dial(
        _ server: ServerAddress, over interface: String?, for receiver: any FrameReceiver
    ) -> ServerConnection {
        dialer.dial(server, over: interface, for: receiver)
    }

    private func disconnect(reason: String) {
        guard let socket = takeSocket() else { return }
        socket.close()
        requests.connectionLost(reason, keeping: messages.connectionLost())
    }

    /// The server hears of the logout, so that others see the user leave at once (S-22).
    private func sayGoodbye() {
        guard let socket = takeSocket() else { return }
        requests.sessionEnded("logged out")
        session.sayGoodbye(on: socket)
    }

    /// The present connection belongs to the link no more.
    private func takeSocket() -> ServerConnection? {
        events.releaseAll()
        defer { connection = nil }
        return connection?.socket
    }

    /// Nothing is to be restored any more.
    private func forgetSession() {
        subscriptions.forgetAll()
        streams.forgetAll()
        followedUsers.forgetAll()
        locks.forgetAll()
        messages.forgetInbox()
        rosters.forgetAll()
        ownStates.forgetAll()
        requests.sessionEnded("the session has ended")
    }

    private func announce(_ change: LinkChange) {
        lastReason = change.reasonCode
        lastCause = change.reason
        recorder.noted(change)
        logger.debug(
            "link state changed",
            metadata: [
                "from": "\(change.previous)", "to": "\(change.current)", "reason": "\(change.reasonCode)",
                "cause": "\(change.reason)",
            ])
        events.emit(
            .linkState(
                LinkStateEvent(
                    change, subscribedChannels: subscriptions.table.channels,
                    restoration: connection?.restoration, timestampMilliseconds: time.milliseconds)))
        if change.current != .connecting { waitingCalls.releaseAll() }
        standby?.linkChanged(isConnected: change.current == .connected)
        outbox?.linkChanged(isConnected: change.current == .connected)
    }

    /// The present connection is of no more use.
    func end(_ loss: LinkLoss) {
        guard let attempt = connection?.attempt else { return }
        if let standby, standby.replaces(loss) { return changePath(loss.text) }
        perform(machine.connectionEnded(attempt: attempt, loss, now: now, random: &random))
    }
}

// MARK: - The second path

extension Link {
    /// The session goes on over the connection that stands by.
    func changePath(_ reason: String) {
        guard let server = standby?.server else { return }
        logger.debug("changing the path", metadata: ["cause": "\(reason)"])
        perform(machine.changePath(to: server, reason: reason, now: now))
    }

    /// What may be asked twice is asked again, so that the app notices nothing of the change.
    private func takeOver(_ attempt: UInt64, reason: String) {
        guard let socket = standby?.take()?.hand(to: FrameRouter(self)) else { return }
        takeSocket()?.close()
        connection = LinkConnection(attempt: attempt, socket: socket, isSecondPath: true)
        requests.connectionLost(reason, keeping: messages.connectionLost().union(requests.repeatable))
        opening.logIn()
    }

    private func pathChanged() {
        logger.debug("the path is changed")
        waitingCalls.releaseAll()
        standby?.linkChanged(isConnected: true)
        outbox?.linkChanged(isConnected: true)
    }
}

// MARK: - Time

extension Link {
    func armTimer() {
        let deadlines = [
            machine.deadline, requests.deadline, connection?.deadline, session.deadline,
            waitingCalls.deadline, standby?.deadline,
        ]
        timer.arm(for: deadlines.lazy.compactMap { $0 }.min(), now: now) { self.timerFired() }
    }

    /// Makes sure that the timer fires by then. This is the short way for each of many requests.
    func armTimer(by deadline: Instant) {
        if !timer.covers(deadline) { armTimer() }
    }

    private func timerFired() {
        perform(machine.timerFired(now: now, random: &random))
        requests.expire(now: now)
        keepHeartbeat()
        tryAgain()
        session.endGoodbyes(now: now)
        waitingCalls.expire(now: now)
        standby?.timerFired()
        armTimer()
    }

    private func keepHeartbeat() {
        switch connection?.heartbeat?.due(now: now) {
        case nil, .nothing: break
        case .lost: end(.heartbeatTimeout)
        case .beat:
            let id = requests.tell { $0.heartbeat = .init() }
            connection?.heartbeat?.sent(id, now: now)
            standby?.sent(id)
        }
    }

    /// Tries something again on this connection after a while.
    func retry(_ retry: Retries.Retry, after delay: Duration) {
        guard connection != nil else { return }
        let time = now + delay
        connection?.retries.put(retry, at: time)
        armTimer(by: time)
    }

    private func tryAgain() {
        while let due = connection?.retries.takeDue(now: now), !due.isEmpty {
            for retry in due { tryAgain(retry) }
        }
    }

    private func tryAgain(_ retry: Retries.Retry) {
        switch retry {
        case .publishes: messages.sendRefusedAgain()
        case .subscribes: subscriptions.askAgain()
        case .pacedPublishes: messages.sendPaced()
        case .outbox: outbox?.go()
        case .restoration(let channel): subscriptions.restoreAgain(channel)
        case .states(let channel): ownStates.settleAgain(in: channel)
        case .lockLines: locks.standInLineAgain()
        case .snapshot(let refresh): refreshes.tryAgain(refresh)
        case .followedUser(let userID): followedUsers.followAgain(userID)
        }
    }
}
