import Logging
import NIOCore
import RTMEdgeWebSocket
import RTMMessagingClient
import RTMModel
import RTMPresenceClient
import RTMPublishHook
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// One event loop of an edge: its sessions, its own links to the other services, and the features that use
/// them.
///
/// An edge is as many of these as it has loops, and they share nothing that a message passes, so there is no
/// lock on the way of a message (docs/decisions/0005). The loop wires its features together; what a client
/// asks goes from its `ConnectionHandler` to a feature, and what a service answers comes back through
/// `ServiceEvents`.
final class EdgeLoop {
    let eventLoop: any EventLoop
    let configuration: EdgeConfiguration
    let metrics: EdgeMetrics
    let logger: Logger
    let endOfTurn: EndOfTurn
    /// For what the loop's connections write.
    var frameMemory = FrameMemory()
    /// The server's UTC clock in milliseconds.
    let wallClock: () -> UInt64
    let arena: DecodeArena
    /// What waits to be written to the loop's clients.
    let outboundMemory: OutboundMemory
    let pages: PageTurns
    let deadlines: ConnectionDeadlines
    let closeQueue: CloseQueue<ConnectionHandler>
    var unauthenticated = PendingConnections<ConnectionHandler>()
    let sessions = Sessions()
    let sessionLog: SessionLog
    let userLog: UserLog
    var clientNames = ClientNames()
    let logins: Logins
    let tokenRenewals: TokenRenewals
    let subscribing: Subscribing
    let channelRequests: ChannelRequests
    let userMetadataRequests: UserMetadataRequests
    let publishing: Publishing
    let held: HeldPublishes
    let calls: Calls
    let memberships: Memberships
    let locks: LockRequests
    /// Its memory is there as soon as a client over WebSocket has agreed on compression.
    private(set) lazy var messageCompression = MessageCompression(
        messageBytesMax: configuration.limits.frameBytesMax + FrameReader.prefixLength)
    private let messaging: MessagingClient
    private let presence: PresenceClient
    private let storage: StorageClient
    private let events: ServiceEvents
    private var random: any RandomNumberGenerator
    /// What half frames of unauthenticated connections hold.
    private var handshakeBytes = 0
    private let canaries: Canaries?

    /// - Parameter loopNumber: which of the edge's loops this is, from 0 on.
    init(
        eventLoop: any EventLoop, number loopNumber: Int = 0, configuration: EdgeConfiguration,
        links: EdgeServiceLinks,
        metrics: EdgeMetrics, reachability: Reachability, logger: Logger, sharedRates: SharedRates? = nil,
        hooks: [String: PublishHook] = [:],
        wallClock: @escaping () -> UInt64 = WallClock.milliseconds,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        reportCanary: ((Canary.Verdict) -> Void)? = nil
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        self.wallClock = wallClock
        self.random = random
        sessionLog = SessionLog(logger, metrics, wallClock: wallClock)
        userLog = UserLog(logger, on: eventLoop)
        let refusals = RefusalLog(logger, userLog, wallClock: wallClock)
        endOfTurn = EndOfTurn.shared(on: eventLoop)
        arena = DecodeArena(bytesMax: 4 * configuration.limits.frameBytesMax)
        deadlines = ConnectionDeadlines(on: eventLoop)
        closeQueue = CloseQueue(on: eventLoop)
        outboundMemory = OutboundMemory(
            bytesMax: configuration.limits.outboundLoopBytesMax, sessions: sessions, metrics: metrics,
            endOfTurn: endOfTurn)
        // Session ids and the lease begin with the same number. The two are never compared.
        let number = self.random.next()
        let lease = number | 1

        messaging = links.messagingClient(endOfTurn, logger)
        presence = links.presenceClient(endOfTurn, logger)
        storage = links.storageClient(endOfTurn, logger)

        let sharedRates = sharedRates ?? SharedRates(configuration.applications)
        locks = LockRequests(storage: storage, sessions: sessions, metrics: metrics)
        memberships = Memberships(
            eventLoop: eventLoop, presence: presence, sessions: sessions, lease: lease)
        pages = PageTurns(bytesMax: configuration.limits.outboundLoopBytesMax, on: eventLoop)
        let snapshots = SnapshotReads(
            presence: presence, storage: storage, lease: lease, memory: outboundMemory, pages: pages)
        subscribing = Subscribing(
            eventLoop: eventLoop, endOfTurn: endOfTurn, sessions: sessions, messaging: messaging,
            snapshots: snapshots, pages: pages, memberships: memberships, locks: locks, metrics: metrics,
            refusals: refusals, wallClock: wallClock, reattachBatch: configuration.limits.reattachBatch)
        memberships.subscriptions = subscribing
        let history = HistoryAppends(storage: storage, wallClock: wallClock)
        publishing = Publishing(
            messaging: messaging, history: history, sessions: sessions, subscribing: subscribing,
            sharedRates: sharedRates, metrics: metrics, refusals: refusals, endOfTurn: endOfTurn,
            wallClock: wallClock)
        held = HeldPublishes(hooks) { [publishing] hook in
            PublishHookGate(hook, on: eventLoop, metrics.hooks, logger) { [weak publishing] in
                publishing?.proceed($0)
            }
        }
        calls = Calls(
            presence: presence, storage: storage, locks: locks, subscribing: subscribing,
            sharedRates: sharedRates, pages: pages, metrics: metrics, endOfTurn: endOfTurn,
            wallClock: wallClock)
        channelRequests = ChannelRequests(
            subscribing: subscribing, memberships: memberships, locks: locks, refusals: refusals,
            sharedRates: sharedRates, endOfTurn: endOfTurn, eventLoop: eventLoop, wallClock: wallClock)
        userMetadataRequests = UserMetadataRequests(subscribing: subscribing, endOfTurn: endOfTurn)
        let bannedUsers = BannedUsers(sessions: sessions, wallClock: wallClock)
        logins = Logins(
            configuration, sessions: sessions, metrics: metrics, endOfTurn: endOfTurn, wallClock: wallClock,
            number: number, sharedRates: sharedRates, bannedUsers: bannedUsers)
        tokenRenewals = TokenRenewals(
            logins: logins, subscribing: subscribing, metrics: metrics, endOfTurn: endOfTurn,
            wallClock: wallClock)
        canaries = reportCanary.map { [messaging] report in
            Canaries(over: messaging, name: "loop \(number)", on: eventLoop, report: report)
        }
        events = ServiceEvents(
            sessions: sessions, sharedRates: sharedRates, subscribing: subscribing, publishing: publishing,
            history: history,
            memberships: memberships, calls: calls, locks: locks, bannedUsers: bannedUsers,
            questions: GatewayQuestions(
                sessions: sessions, subscribing: subscribing,
                explanations: Explanations(
                    ofLoop: loopNumber, at: links.node, sessions: sessions, subscribing: subscribing,
                    publishing: publishing, sessionLog: sessionLog, refusals: refusals, eventLoop: eventLoop),
                top: TopQuestions(
                    sessions: sessions, subscribing: subscribing, refusals: refusals, userLog: userLog,
                    eventLoop: eventLoop),
                eventLoop: eventLoop),
            logins: logins, reachability: reachability, messaging: messaging, storage: storage,
            canaries: canaries, eventLoop: eventLoop)
    }

    func start() {
        messaging.start(caller: events)
        canaries?.start()
        presence.start(caller: events)
        storage.start(caller: events)
    }

    func stop() {
        canaries?.stop()
        messaging.shutdown()
        presence.shutdown()
        storage.shutdown()
    }
}

// MARK: - Sessions

extension EdgeLoop {
    func logIn(
        _ connection: any SessionConnection, _ login: ClientRequest.Login
    ) throws(RTMError) -> Session {
        let inbox = ChannelView(appID: login.appID, type: .user, name: login.userID)
        let session = try logins.makeSession(
            connection, login, isMessagingUp: messaging.outage(of: inbox) == nil)
        session.hook = held[session.appID]
        return session
    }

    /// Takes over the apps and hooks of a new configuration. Sessions that are there keep what they have of
    /// their app, and a hook is asked about what they publish from now on.
    func take(_ applications: [Application], _ hooks: [String: PublishHook]) {
        logins.take(applications)
        held.take(hooks)
        for session in sessions.all { session.hook = held[session.appID] }
    }

    /// Ends the oldest unauthenticated connection, so that a new one is accepted.
    ///
    /// - Parameter address: if it isn't nil, only a connection from there is ended.
    /// - Returns: whether there was one.
    func evictUnauthenticated(from address: String?) -> Bool {
        guard let connection = unauthenticated.takeOldest(from: address) else { return false }
        connection.evict(
            Disconnect(
                .tooManyConnections,
                "this server has all the connections that it may have, and you haven't logged in",
                retryAfter: .seconds(5)
            ))
        return true
    }

    /// Counts what half frames of unauthenticated connections hold.
    ///
    /// - Returns: whether they hold no more than they may.
    func chargeHandshakeBytes(_ change: Int) -> Bool {
        handshakeBytes += change
        metrics.handshakeBytesChanged(by: change)
        return handshakeBytes <= configuration.limits.handshakeBytesMax
    }

    /// Hands what a session asks to the feature that it is about.
    func perform(
        _ action: ConnectionStateMachine.Action, of session: Session, _ requestID: UInt64
    ) {
        switch action {
        case .subscribe(let subscribe):
            channelRequests.subscribe(session, subscribe, requestID)
        case .unsubscribe(let unsubscribe):
            channelRequests.unsubscribe(session, unsubscribe, requestID)
        case .renewToken(let renewal):
            channelRequests.renew(session, renewal, requestID)
        case .call(let call):
            calls.call(session, call, requestID)
        case .subscribeUserMetadata(let subscribe):
            userMetadataRequests.subscribe(session, subscribe, requestID)
        case .unsubscribeUserMetadata(let userID):
            userMetadataRequests.unsubscribe(session, userID, requestID)
        default:
            break
        }
    }

    /// The login has been answered, so what it brought with it is subscribed.
    func loggedIn(_ session: Session) {
        // Its token may have expired while the inbox was attached.
        guard !session.isEnded else { return }
        memberships.loggedIn(session)
        guard let subscriptions = session.loginSubscriptions.take() else { return }
        for channel in subscriptions.channels { channelRequests.subscribe(session, channel) }
        for user in subscriptions.users { userMetadataRequests.subscribe(session, user) }
    }

    /// Warns of the tokens by which stream channels were joined, and ends memberships with them.
    ///
    /// - Returns: when there is something to do next.
    func checkJoinTokens(of session: Session) -> Duration? {
        guard var tokens = session.joinTokens else { return nil }
        let (events, next) = tokens.check(now: wallClock())
        session.joinTokens = tokens.isEmpty ? nil : tokens
        for event in events {
            switch event {
            case .willExpire(let channel, let remaining):
                session.answer(0, TokenWillExpire(remaining: remaining, channel: channel))
            case .expired(let channel): channelRequests.joinTokenExpired(session, channel)
            }
        }
        return next
    }

    func sessionEnded(_ session: Session, _ end: SessionEnd) {
        publishing.sendRun()
        publishing.ended(session)
        guard sessions[session.key] != nil else { return }
        memberships.ended(session, end)
        locks.ended(session)
        subscribing.ended(session, isLoggedOut: end == .loggedOut)
        if sessions.remove(session.key) { logins.ended(session) }
    }

    /// Disconnects the sessions, some every few milliseconds so that they don't all arrive elsewhere at once,
    /// and closes the links when the last one has left.
    func drain(_ drained: EventLoopPromise<Void>) {
        for session in Array(sessions.all.prefix(configuration.limits.drainBatch)) {
            session.connection?.disconnect(goAway())
        }
        for _ in 0..<configuration.limits.drainBatch {
            guard let connection = unauthenticated.takeOldest() else { break }
            connection.sendAway(goAway())
        }
        guard sessions.isEmpty, unauthenticated.count == 0 else {
            eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { self.drain(drained) }
            return
        }
        stop()
        drained.succeed()
    }

    /// Clients come back at different times.
    private func goAway() -> Disconnect {
        Disconnect(
            .draining, "this server is going away",
            retryAfter: .milliseconds(Int64.random(in: 0...1_000, using: &random)))
    }

    /// The clients get a moment to read why they were sent away: when the process ends, the kernel resets
    /// connections with unread bytes.
    func awaitCloses(_ closed: EventLoopPromise<Void>) {
        awaitCloses(until: eventLoop.now + configuration.limits.gracefulCloseTimeout, closed)
    }

    private func awaitCloses(until deadline: NIODeadline, _ closed: EventLoopPromise<Void>) {
        guard deadlines.count > 0, eventLoop.now < deadline else { return closed.succeed() }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) {
            self.awaitCloses(until: deadline, closed)
        }
    }
}
