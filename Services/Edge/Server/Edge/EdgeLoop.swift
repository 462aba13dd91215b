import Logging
import NIOCore
import RTMMessagingClient
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// One event loop of an edge: its sessions, its subscription index, its own links to the other services.
///
/// An edge is as many of these as it has loops, and they share nothing that a message passes, so there is no
/// lock on the way of a message (docs/decisions/0005). The loop performs what the index and the connections
/// decide.
final class EdgeLoop {
    let eventLoop: any EventLoop
    let configuration: EdgeConfiguration
    let metrics: EdgeMetrics
    let reachability: Reachability
    let logger: Logger
    let endOfTurn: EndOfTurn
    let arena: DecodeArena
    var index = SubscriptionIndex()
    let run = PublishRun()
    let messaging: MessagingClient<EdgeLoop>
    let presence: PresenceClient<EdgeLoop>
    let storage: StorageClient<EdgeLoop>
    var lease: PresenceLease
    var leaseTimer: Scheduled<Void>?
    var lockWaits = LockWaits()
    var isRefreshing = false
    var rosterReads = RosterReads<Preparation>()
    var isReadingRosters = false
    private let admission: Admission
    private var logins = LoginRates()
    private var sessionIDs: SessionIDSource
    /// Server's UTC clock in milliseconds.
    let wallClock: () -> UInt64
    var random: any RandomNumberGenerator
    private(set) var sessions: [SessionID: Session] = [:]
    private var channelsReported = 0
    private var isScheduled = false
    private var wheel: DeadlineWheel<ConnectionHandler>
    private var wheelTimer: (task: Scheduled<Void>, due: NIODeadline)?

    init(
        eventLoop: any EventLoop, configuration: EdgeConfiguration, links: EdgeServiceLinks,
        metrics: EdgeMetrics,
        reachability: Reachability, logger: Logger,
        wallClock: @escaping () -> UInt64 = WallClock.milliseconds,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.metrics = metrics
        self.reachability = reachability
        self.logger = logger
        endOfTurn = EndOfTurn.shared(on: eventLoop)
        arena = DecodeArena(bytesMax: 4 * configuration.limits.frameBytesMax)
        admission = Admission(configuration.applications)
        self.wallClock = wallClock
        self.random = random
        let number = self.random.next()
        sessionIDs = SessionIDSource(prefix: number)
        // Nobody compares the two, so one number serves both.
        lease = PresenceLease(id: number | 1)
        wheel = DeadlineWheel(start: eventLoop.now)
        messaging = MessagingClient(
            to: links.messaging, links.link, node: links.node, timeout: links.timeout, endOfTurn: endOfTurn,
            logger: logger)
        presence = PresenceClient(
            to: links.presence, links.link, node: links.node, timeout: links.timeout, endOfTurn: endOfTurn,
            logger: logger)
        storage = StorageClient(
            to: links.storage, links.link, node: links.node, timeout: links.timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    func start() {
        messaging.start(caller: self)
        presence.start(caller: self)
        storage.start(caller: self)
    }

    func stop() {
        messaging.shutdown()
        presence.shutdown()
        storage.shutdown()
    }
}

// MARK: - Sessions

extension EdgeLoop {
    func welcome(version: UInt32) -> Welcome {
        Welcome(
            version: version, serverTimeMilliseconds: wallClock(),
            frameBytesMax: configuration.limits.frameBytesMax, server: configuration.serverName,
            handshakeTimeout: .nanoseconds(configuration.limits.handshakeTimeout.nanoseconds))
    }

    func loggedIn(_ session: Session, inbox position: StreamPosition, gap: Bool) -> LoggedIn {
        LoggedIn(
            session: session.id, serverTimeMilliseconds: wallClock(),
            heartbeatIntervalSeconds: UInt32(session.heartbeatInterval),
            heartbeatGraceSeconds: UInt32(Limits.heartbeatGrace), inboxPosition: position, inboxGap: gap)
    }

    /// The session of an admitted login. It is up once `attachInbox` is through.
    func makeSession(
        _ connection: any SessionConnection, _ login: ClientRequest.Login
    ) throws(RTMError) -> Session {
        let userID = login.userID.string
        let (application, grant) = try admission.admit(
            appID: login.appID.string, userID: userID, token: login.token.string, nowMilliseconds: wallClock()
        )
        try logins.login(application.id, userID, application.rates, now: endOfTurn.now)
        guard messaging.isUp else { throw .messagingUnreachable(.loginNoServerResources) }
        let session = Session(
            id: sessionIDs.next(), application: application, userID: userID, instance: login.instance,
            attempt: login.attempt, isReturn: login.inboxAfter != nil && !login.isAsked,
            heartbeatInterval: Limits.clamp(
                Int(login.heartbeatIntervalSeconds), to: Limits.heartbeatInterval),
            presenceTimeout: Limits.presenceTimeout(Int(login.presenceTimeoutSeconds)),
            grant: grant, connection: connection)
        sessions[session.id] = session
        metrics.sessionsChanged(by: 1)
        return session
    }

    /// The login is answered when messages reach the user, so that "logged in" means "reachable".
    ///
    /// - Parameter after: how far a client that comes back has seen its inbox.
    func attachInbox(of session: Session, after: StreamPosition?, _ requestID: UInt64) {
        let inbox = PendingSubscribe(
            session: session, requestID: requestID, features: .message, after: after, purpose: .login)
        enter(inbox, session.inbox())
    }

    func sessionEnded(_ session: Session, _ end: SessionEnd) {
        sendRun()
        guard sessions.removeValue(forKey: session.id) != nil else { return }
        metrics.sessionsChanged(by: -1)
        lease.ended(session)
        if session.isMember { tellPresence(.ended(session.caller, end)) }
        endLocks(of: session)
        for detach in index.removeAll(session) { messaging.detach(detach) }
        reportChannels()
    }

    func reportChannels() {
        metrics.channelsChanged(by: index.channelCount - channelsReported)
        channelsReported = index.channelCount
    }

    /// Sends the sessions away, some every few milliseconds so that they don't all arrive elsewhere at once,
    /// and lets the links go when the last one has left.
    func drain(_ drained: EventLoopPromise<Void>) {
        for session in sessions.values.prefix(configuration.limits.drainBatch) {
            let goAway = Disconnect(
                .draining, "this server is going away",
                retryAfter: .milliseconds(Int64.random(in: 0...1_000, using: &random)))
            session.connection?.disconnect(goAway)
        }
        guard !sessions.isEmpty else {
            stop()
            return drained.succeed()
        }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { self.drain(drained) }
    }
}

// MARK: - Deadlines

extension EdgeLoop {
    /// The connection is asked at this time, or before, whether its deadline has passed.
    func remind(_ connection: ConnectionHandler, at deadline: NIODeadline) {
        armWheel(wheel.insert(connection, deadline: deadline))
    }

    func forgetDeadline(of connection: ConnectionHandler) { wheel.remove(connection) }

    private func armWheel(_ due: NIODeadline) {
        if let wheelTimer {
            guard due < wheelTimer.due else { return }
            wheelTimer.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.turnWheel() }
        wheelTimer = (task, due)
    }

    private func turnWheel() {
        wheelTimer = nil
        let now = eventLoop.now
        for connection in wheel.advance(to: now) { connection.checkDeadline(now: now) }
        if let due = wheel.nextDue { armWheel(due) }
    }
}

// MARK: - End of turn

extension EdgeLoop: Flushable {
    /// Entries of this turn go to their subscribers at its end.
    func gather(_ delivery: DeliveryPush) {
        index.gather(delivery)
        guard !isScheduled else { return }
        isScheduled = true
        endOfTurn.schedule(self)
    }

    func flushAtEndOfTurn() {
        isScheduled = false
        let before = index.deliveries
        index.flush()
        metrics.delivered(index.deliveries - before)
    }
}
