// The one owner of a client's state, confined to its event loop.
//
// It decides little: `LinkStateMachine` says when to connect and what to announce, `SubscriptionTable` what
// to restore and deliver, `RequestTable` who waits for what, `HeartbeatSchedule` whether the server lives.
// The link performs their actions on sockets, timers and completions. There is one timer, armed for the
// nearest of all deadlines.

import Logging
import NIOCore
import RTMModel
import RTMProtocol

final class Link {
    typealias Instant = ContinuousClock.Instant

    /// The connection of the present attempt or session.
    struct Connection {
        let attempt: UInt64
        let handler: ServerConnection
        var loginRequest: UInt64 = 0
        /// Restorations without an answer.
        var restoring = 0
        /// Channels that were refused, or go on behind a gap.
        var unrestored: [String] = []
        var unrestoredUsers: [String] = []
        /// Users who can't be followed again at the moment.
        var unfollowed = Postponed<String>()
        var hasInboxGap = false
        var heartbeat: HeartbeatSchedule?
        /// Channels whose own states could not be set, and when that is tried again.
        var unsettledStates: Set<UserChannel> = []
        var settleStatesAt: Instant?
        /// The newest request of the app that changes its states in a channel.
        var stateRequests: [UserChannel: UInt64] = [:]
        /// The latest renewal that nobody waits for any more and that may still be answered.
        var lateRenewal: (request: UInt64, token: String)?
        /// Subscribes of running subscriptions that nobody waits for any more: their answers may say that
        /// something was lost.
        var lateSubscribes: [UInt64: String] = [:]
        /// Acquisitions of locks that nobody waits for any more and that may still be answered.
        var abandonedAcquisitions: [UInt64: LockKey] = [:]
        /// When publishes that were refused for the moment are sent again.
        var publishAgainAt: Instant?
        /// New publishes wait until all that were sent before them have their answers.
        var holdsPublishes = false
        /// Snapshots to be asked for again.
        var refreshes = Postponed<Refresh>()
        /// When `waitingForLocks` stand in line anew.
        var rejoinLinesAt: Instant?
        /// Events of channels in which locks are being claimed, until the link counts as connected.
        var heldBack: [String: [RTMEvent]] = [:]
    }

    /// A connection that has sent Logout and ends when that is answered, or in a moment.
    struct Goodbye {
        let handler: ServerConnection
        let deadline: Instant
    }

    let configuration: RTMClient.Configuration
    let hub: EventHub
    let requestIDs: RequestIDs
    let eventLoop: any EventLoop
    /// Tells the server, and through it others, a return of this client from a login elsewhere (S-12b).
    let instance: UInt64
    private let dialer: any Dialing
    private let clock: LinkClock
    var logger: Logger

    var machine: LinkStateMachine
    var subscriptions = SubscriptionTable()
    var userMetadata = SubscriptionTable(.userMetadata)
    var inbox = InboxPosition()
    var locks = LockLedger()
    /// K-6: acquisitions that lost their place in line, in the order in which they began.
    var waitingForLocks: [LockCall] = []
    /// Of the latest change of the link state.
    private(set) var lastReason = LinkStateReason.unknown
    /// By channel name: of the subscriptions that asked for presence.
    var rosters: [String: ChannelRoster] = [:]
    var watchers = RosterWatchers()
    var states = StateCache()
    var requests = RequestTable()
    var connection: Connection?
    var logins: [UInt64: Completion<Void>] = [:]
    var goodbyes: [Goodbye] = []
    /// Completed when the last goodbye is said.
    var logouts: [Completion<Void>] = []
    var closings: [CheckedContinuation<Void, Never>] = []
    var isClosed = false
    var random: any RandomNumberGenerator
    /// Of the latest publish. By it and by `instance` the server knows one that is sent again.
    var lastSequence: UInt64 = 0
    /// Server's clock minus local clock, in milliseconds.
    var clockOffset: Int64 = 0
    private var timer: (deadline: Instant, task: Scheduled<Void>)?

    init(
        _ configuration: RTMClient.Configuration, dialer: any Dialing, hub: EventHub, requestIDs: RequestIDs,
        eventLoop: any EventLoop, clock: LinkClock = .system,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.configuration = configuration
        self.dialer = dialer
        self.hub = hub
        self.requestIDs = requestIDs
        self.eventLoop = eventLoop
        self.clock = clock
        self.random = random
        instance = .random(in: 1...UInt64.max, using: &self.random)
        logger = configuration.logger
        logger[metadataKey: "user"] = .string(configuration.userID)
        machine = LinkStateMachine(
            .init(
                timing: configuration.timing, serverCount: configuration.servers.count,
                attemptTimeout: configuration.requestTimeout,
                reconnectTimeout: configuration.reconnectTimeout, token: configuration.token))
    }

    var now: Instant { clock.now() }

    // MARK: Actions

    /// Performs what the machine decided, in order, and arms the timer anew.
    func perform(_ actions: [LinkStateMachine.Action]) {
        for action in actions { perform(action) }
        armTimer()
    }

    private func perform(_ action: LinkStateMachine.Action) {
        switch action {
        case .announce(let change): announce(change)
        case .connect(let attempt, let server): connect(attempt: attempt, to: configuration.servers[server])
        case .disconnect(let reason): disconnect(reason: reason)
        case .sayGoodbye: sayGoodbye()
        case .reauthenticate(let id, let token): reauthenticate(id, token: token)
        case .completeLogin(let id, let error): completeLogin(id, error)
        case .forgetSubscriptions:
            subscriptions.removeAll()
            userMetadata.removeAll()
            forgetLocks()
            inbox.forget()
            forgetAllPresence()
            failRequests(reason: "the session has ended")
        }
    }

    private func connect(attempt: UInt64, to server: ServerAddress) {
        logger.debug("connecting", metadata: ["server": "\(server)", "attempt": "\(attempt)"])
        connection = Connection(attempt: attempt, handler: dialer.dial(server, for: self))
    }

    private func disconnect(reason: String) {
        guard let connection else { return }
        deliverHeldBack()
        self.connection = nil
        connection.handler.close()
        failLostRequests(reason: reason)
    }

    /// S-22: the server hears it, so that others see the user leave at once.
    private func sayGoodbye() {
        guard let connection else { return }
        deliverHeldBack()
        self.connection = nil
        failRequests(reason: "logged out")
        var frame = Rtm_Client_ClientFrame()
        frame.requestID = requestIDs.next()
        frame.logout = Rtm_Client_Logout()
        connection.handler.send(frame)
        goodbyes.append(Goodbye(handler: connection.handler, deadline: now + configuration.timing.goodbye))
    }

    func goodbyeSaid(_ handler: ServerConnection) {
        goodbyes.removeAll { $0.handler === handler }
        handler.close()
        completeGoodbyes()
    }

    func completeGoodbyes() {
        guard goodbyes.isEmpty else { return }
        let logouts = logouts
        let closings = closings
        self.logouts = []
        self.closings = []
        for completion in logouts { completion.succeed() }
        for continuation in closings { continuation.resume() }
    }

    private func completeLogin(_ id: UInt64, _ error: RTMError?) {
        guard let completion = logins.removeValue(forKey: id) else { return }
        if let error { completion.fail(error) } else { completion.succeed() }
    }

    private func announce(_ change: LinkChange) {
        lastReason = change.reasonCode
        logger.debug(
            "link state changed",
            metadata: [
                "from": "\(change.previous)", "to": "\(change.current)", "reason": "\(change.reasonCode)",
                "cause": "\(change.reason)",
            ])
        let event = LinkStateEvent(
            currentState: change.current, previousState: change.previous, operation: change.operation,
            reasonCode: change.reasonCode, reason: change.reason,
            affectedChannels: change.listsChannels ? affected(by: change) : [],
            unrestoredChannels: change.unrestoredChannels,
            unrestoredUsers: change.current == .connected ? connection?.unrestoredUsers.sorted() ?? [] : [],
            isResumed: change.isResumed, timestampMilliseconds: serverTimeMilliseconds)
        hub.emit(.linkState(event))
    }

    /// S-18: also those that end with this change.
    private func affected(by change: LinkChange) -> [String] {
        Set(subscriptions.channels).union(change.unrestoredChannels).sorted()
    }

    // MARK: Time

    var serverTimeMilliseconds: UInt64 { UInt64(max(0, clock.utcMilliseconds() + clockOffset)) }

    func serverTimeKnown(_ milliseconds: UInt64) {
        guard milliseconds > 0 else { return }
        clockOffset = Int64(clamping: milliseconds) - clock.utcMilliseconds()
    }

    /// A timer that fires too early only looks again, so it is replaced for an earlier deadline only.
    func armTimer() {
        let deadlines = [
            machine.deadline, requests.deadline, connection?.heartbeat?.deadline, goodbyes.first?.deadline,
            connection?.settleStatesAt, connection?.rejoinLinesAt, connection?.publishAgainAt,
            connection?.refreshes.at, connection?.unfollowed.at,
        ]
        guard let next = deadlines.compactMap({ $0 }).min() else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer, timer.deadline <= next { return }
        timer?.task.cancel()
        // Deadlines are finer than nanoseconds: rounded down, the timer would fire before its time.
        let delay = TimeAmount(max(.zero, next - now)) + .nanoseconds(1)
        timer = (next, eventLoop.assumeIsolated().scheduleTask(in: delay) { self.timerFired() })
    }

    /// Sees to it that the timer fires by then: the short way for each of many requests.
    func armTimer(by deadline: Instant) {
        if let timer, timer.deadline <= deadline { return }
        armTimer()
    }

    private func timerFired() {
        timer = nil
        perform(machine.timerFired(now: now, random: &random))
        while let (id, request) = requests.takeExpired(now: now) { expire(id, request) }
        keepHeartbeat()
        publishRefusedIfDue()
        settleStatesIfDue()
        rejoinLinesIfDue()
        refreshIfDue()
        followAgainIfDue()
        for goodbye in goodbyes where goodbye.deadline <= now { goodbyeSaid(goodbye.handler) }
        armTimer()
    }

    private func keepHeartbeat() {
        guard var heartbeat = connection?.heartbeat else { return }
        switch heartbeat.due(now: now) {
        case .nothing: break
        case .lost: end(.heartbeatTimeout)
        case .beat:
            let id = requestIDs.next()
            heartbeat.sent(id, now: now)
            connection?.heartbeat = heartbeat
            send(id) { $0.heartbeat = Rtm_Client_Heartbeat() }
        }
    }

    /// The present connection is of no more use.
    func end(_ loss: LinkLoss) {
        guard let attempt = connection?.attempt else { return }
        perform(machine.connectionEnded(attempt: attempt, loss, now: now, random: &random))
    }

    func send(_ id: UInt64, _ fill: (inout Rtm_Client_ClientFrame) -> Void) {
        var frame = Rtm_Client_ClientFrame()
        frame.requestID = id
        fill(&frame)
        connection?.handler.send(frame)
    }
}
