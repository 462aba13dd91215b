// The client's link to the server: the one owner of a client's state, confined to its event loop.
//
// The link makes the features and gives each what it needs. It decides little: `LinkStateMachine` says when
// to connect and what to announce, and the link performs that on sockets and timers. The values below the
// features decide and can be tested alone: `SubscriptionTable`, `PublishQueue`, `ChannelRoster`,
// `StateCache`, `LockLedger`, `RequestTable`, `Retries`.

import Logging
import NIOCore
import RTMModel
import RTMProtocol

final class Link {
    typealias Instant = ContinuousClock.Instant

    let configuration: RTMClient.Configuration
    let events: EventOutlet
    let recorder: FlightRecorder
    let eventLoop: any EventLoop
    let clock: SessionClock
    private let logger: Logger
    /// With this number the server and other clients distinguish a return of this client from a login
    /// elsewhere (S-12b).
    private let instance: UInt64
    /// Servers and tools in JavaScript read numbers exactly only up to here.
    private static let instances: ClosedRange<UInt64> = 1...(1 << 53) - 1
    private let dialer: any Dialing
    private let requestIDs: RequestIDs
    private let timer: LinkTimer
    private var random: any RandomNumberGenerator
    /// `nil` outside of a test environment.
    private let watch: (any ClientWatch)?

    private(set) lazy var session = LinkSession(
        configuration, logger: logger, clock: clock, timer: timer, delegate: self)
    private(set) lazy var requests = Requests(session: session, recorder: recorder, ids: requestIDs)
    private(set) lazy var waitingCalls = WaitingCalls(session: session)
    /// `nil` if the client has no encryption keys.
    private(set) lazy var encryption = Encryption(configuration, events: events, logger: logger)

    let subscribed = LinkSubscriptions()
    private(set) lazy var messages = Messages(
        session: session, requests: requests, events: events, encryption: encryption)
    private(set) lazy var locks = OwnLocks(
        session: session, requests: requests, events: events, subscribed: subscribed)
    private(set) lazy var metadata = MetadataFeed(
        session: session, events: events, subscribed: subscribed, encryption: encryption)
    private(set) lazy var refreshes = Refreshes(
        session: session, requests: requests, subscribed: subscribed, metadata: metadata, locks: locks)
    private(set) lazy var followedUsers = FollowedUsers(
        session: session, requests: requests, subscribed: subscribed, refreshes: refreshes)
    private(set) lazy var topicRosters = TopicRosters(events: events)
    private(set) lazy var rosters = Rosters(
        session: session, events: events, encryption: encryption, topics: topicRosters)
    private(set) lazy var ownStates = OwnStates(
        session: session, requests: requests, subscribed: subscribed, encryption: encryption, rosters: rosters
    )
    private(set) lazy var presence = ChannelPresence(rosters: rosters, ownStates: ownStates)
    private(set) lazy var subscriptions = Subscriptions(
        session: session, requests: requests, events: events, subscribed: subscribed, refreshes: refreshes,
        presence: presence, topics: topicRosters, locks: locks)
    private(set) lazy var streams = Streams(
        session: session, requests: requests, events: events, eventLoop: eventLoop,
        subscriptions: subscriptions, rosters: topicRosters, ownStates: ownStates, messages: messages,
        locks: locks)
    private(set) lazy var opening = SessionOpening(
        session: session, requests: requests, events: events, instance: instance, subscribed: subscribed,
        subscriptions: subscriptions, followedUsers: followedUsers, messages: messages, locks: locks,
        tokens: tokens)
    private(set) lazy var calls = SessionCalls(
        session: session, requests: requests, events: events, rosters: rosters)
    /// `nil` if the app has no provider of tokens.
    private(set) lazy var tokens = configuration.tokenProvider.map {
        TokenKeeper($0, session: session, requests: requests, eventLoop: eventLoop, watch: watch)
    }
    /// `nil` if the app has opened none.
    var outbox: Outbox?
    /// `nil` if the client has no second path.
    private(set) lazy var standby = Standby(session: session, requests: requests, dialer: dialer)

    init(
        _ configuration: RTMClient.Configuration, dialer: any Dialing, hub: EventHub, requestIDs: RequestIDs,
        eventLoop: any EventLoop, clock: LinkClock = .system,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), watch: (any ClientWatch)? = nil
    ) {
        self.configuration = configuration
        self.dialer = dialer
        self.requestIDs = requestIDs
        self.random = random
        self.watch = watch
        self.eventLoop = eventLoop
        self.clock = SessionClock(clock)
        recorder = FlightRecorder(capacity: configuration.flightRecorderCapacity, clock: clock)
        events = EventOutlet(hub, recorder)
        timer = LinkTimer(eventLoop: eventLoop)
        instance = .random(in: Self.instances, using: &self.random)
        var logger = configuration.logger
        logger[metadataKey: "user"] = .string(configuration.userID)
        self.logger = logger
    }

    /// The number of whoever counts a message's sequence, if it isn't this client.
    func randomOrigin() -> UInt64 { .random(in: Self.instances, using: &random) }
    private var now: Instant { clock.now }
}

// MARK: - Calls that concern several features

extension Link {
    func close(_ continuation: CheckedContinuation<Void, Never>?) { calls.close(outbox, continuation) }

    /// The task that waited for this call was cancelled.
    func cancel(_ id: UInt64) {
        _ =
            calls.cancel(id) || requests.cancel(id) || locks.cancelWait(id) || waitingCalls.cancel(id)
            || outbox?.cancel(id) == true
    }
}

// MARK: - What the state machine decides

extension Link: LinkSessionDelegate {
    /// Performs what the machine decided, in order, and arms the timer anew.
    func stateMachineDecided(_ actions: [LinkAction]) {
        for action in actions { perform(action) }
        armTimer()
    }

    private func perform(_ action: LinkAction) {
        switch action {
        case .announce(let change): announce(change)
        case .askForToken(let attempt): tokens?.ask { [weak self] in self?.tokenAnswered(attempt, $0) }
        case .connect(let attempt, let server): connect(attempt: attempt, to: configuration.servers[server])
        case .takeOver(let attempt, let reason): takeOver(attempt, reason: reason)
        case .pathChanged: pathChanged()
        case .disconnect(let reason):
            tokens?.giveUp()
            disconnect(reason: reason)
        case .sendLogout:
            tokens?.giveUp()
            sendLogout()
        case .reauthenticate(let id, let token): calls.reauthenticate(id, token: token)
        case .completeLogin(let id, let error): calls.completeLogin(id, error)
        case .forgetSubscriptions: forgetSession()
        }
    }

    private func tokenAnswered(_ attempt: UInt64, _ answer: Result<String, RTMError>) {
        switch answer {
        case .success(let token):
            session.perform(
                session.machine.tokenProvided(token, attempt: attempt, now: now, random: &random))
        case .failure(let error):
            session.perform(
                session.machine.connectionEnded(
                    attempt: attempt, .connectionError(error.reason), now: now, random: &random))
        }
    }

    private func connect(attempt: UInt64, to server: ServerAddress) {
        logger.debug("connecting", metadata: ["server": "\(server)", "attempt": "\(attempt)"])
        let socket = dialer.dial(server, over: nil, for: FrameRouter(self))
        session.connection = LinkConnection(
            attempt: attempt, socket: socket,
            restoration: RestorationProgress(after: session.lastRestoration))
    }

    private func disconnect(reason: String) {
        guard let socket = takeSocket() else { return }
        socket.close()
        requests.connectionLost(reason, keeping: messages.connectionLost())
    }

    /// With the logout the server announces at once that the user has left (S-22).
    private func sendLogout() {
        guard let socket = takeSocket() else { return }
        requests.sessionEnded("logged out")
        calls.sendLogout(on: socket)
    }

    /// The link doesn't use the present connection any longer.
    private func takeSocket() -> ServerConnection? {
        events.releaseAll()
        defer { session.connection = nil }
        if let connection = session.connection { session.lastRestoration = connection.restoration }
        return session.connection?.socket
    }

    /// Nothing is restored after this.
    private func forgetSession() {
        session.lastRestoration = nil
        subscriptions.forgetAll()
        topicRosters.forgetAll()
        locks.forgetAll()
        messages.forgetInbox()
        presence.forgetAll()
        requests.sessionEnded("the session has ended")
    }

    private func announce(_ change: LinkChange) {
        session.changed(change)
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
                    change, subscribedChannels: subscribed.table.channels,
                    restoration: session.connection?.restoration, timestampMilliseconds: clock.milliseconds)))
        if change.current != .connecting { waitingCalls.releaseAll() }
        standby?.linkChanged(isConnected: change.current == .connected)
        outbox?.linkChanged(isConnected: change.current == .connected)
    }

    func connectionFailed(_ loss: LinkLoss) {
        guard let attempt = session.connection?.attempt else { return }
        if let standby, standby.replaces(loss) { return standby.changePath(loss.text) }
        session.perform(session.machine.connectionEnded(attempt: attempt, loss, now: now, random: &random))
    }

    func restorationEnded() { opening.finishIfRestored() }

    func deadlineMoved() { armTimer() }
}

// MARK: - The second path

extension Link {
    /// What may be sent twice is sent again, so that the app doesn't notice the change.
    private func takeOver(_ attempt: UInt64, reason: String) {
        guard let socket = standby?.take()?.hand(to: FrameRouter(self)) else { return }
        takeSocket()?.close()
        session.connection = LinkConnection(attempt: attempt, socket: socket, isSecondPath: true)
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
            session.machine.deadline, requests.deadline, session.connection?.deadline, calls.deadline,
            waitingCalls.deadline, standby?.deadline,
        ]
        timer.arm(for: deadlines.lazy.compactMap { $0 }.min(), now: now) { self.timerFired() }
    }

    private func timerFired() {
        session.perform(session.machine.timerFired(now: now, random: &random))
        requests.expire(now: now)
        keepHeartbeat()
        retryDue()
        calls.closeOverdue(now: now)
        waitingCalls.expire(now: now)
        standby?.timerFired()
        armTimer()
    }

    private func keepHeartbeat() {
        switch session.connection?.heartbeat?.due(now: now) {
        case nil, .nothing: break
        case .lost: session.end(.heartbeatTimeout)
        case .beat:
            let id = requests.notify { $0.heartbeat = .init() }
            session.connection?.heartbeat?.sent(id, now: now)
            standby?.sent(id)
        }
    }

    private func retryDue() {
        while let due = session.connection?.retries.takeDue(now: now), !due.isEmpty {
            for retry in due { perform(retry) }
        }
    }

    private func perform(_ retry: Retries.Retry) {
        switch retry {
        case .publishes: messages.resendPostponed()
        case .subscribes: subscriptions.resendPostponed()
        case .pacedPublishes: messages.sendPaced()
        case .outbox: outbox?.advance()
        case .restoration(let channel): subscriptions.restoreAgain(channel)
        case .states(let channel): ownStates.settleAgain(in: channel)
        case .lockQueues: locks.queueAgain()
        case .snapshot(let refresh): refreshes.retry(refresh)
        case .followedUser(let userID): followedUsers.followAgain(userID)
        }
    }
}
