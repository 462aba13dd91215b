import NIOCore
import RTMAccessToken
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// Lets users in: who may log in, how often, and what a client is answered at first.
final class Logins {
    private let configuration: EdgeConfiguration
    private let sessions: Sessions
    private let metrics: EdgeMetrics
    private let endOfTurn: EndOfTurn
    /// The server's UTC clock in milliseconds.
    private let wallClock: () -> UInt64
    private var admission: Admission
    private let sharedRates: SharedRates
    /// This loop's shares of what the apps may publish.
    private var publishes: [String: AppPublishShare] = [:]
    private var sessionIDs: SessionIDSource
    private let bannedUsers: BannedUsers

    /// - Parameter number: a random number, which no other loop of any edge has.
    init(
        _ configuration: EdgeConfiguration, sessions: Sessions, metrics: EdgeMetrics, endOfTurn: EndOfTurn,
        wallClock: @escaping () -> UInt64, number: UInt64, sharedRates: SharedRates, bannedUsers: BannedUsers
    ) {
        self.configuration = configuration
        self.sessions = sessions
        self.metrics = metrics
        self.endOfTurn = endOfTurn
        self.wallClock = wallClock
        self.sharedRates = sharedRates
        self.bannedUsers = bannedUsers
        admission = Admission(configuration.applications)
        sessionIDs = SessionIDSource(prefix: number)
    }

    /// Takes over the apps of a new configuration.
    func take(_ applications: [Application]) {
        admission = Admission(applications)
        publishes = [:]
        let off = Set(applications.filter { $0.service == .none }.map(\.id))
        guard !off.isEmpty else { return }
        for session in Array(sessions.all) where off.contains(session.appID) {
            session.connection?.disconnect(Disconnect(.kicked, "the service was switched off"))
        }
    }

    /// The session's app as it is configured now; as it was at the login if it has been removed since.
    func application(of session: Session) -> Application {
        admission.application(session.appID) ?? session.application
    }

    func knows(app id: String) -> Bool { admission.application(id) != nil }

    func welcome(version: UInt32) -> Welcome {
        Welcome(
            version: version, serverTimeMilliseconds: wallClock(),
            frameBytesMax: configuration.limits.frameBytesMax, server: configuration.serverName,
            handshakeTimeout: .nanoseconds(configuration.limits.handshakeTimeout.nanoseconds))
    }

    func loggedIn(_ session: Session, inbox position: StreamPosition, gap: Bool) -> LoggedIn {
        let rates = application(of: session).rates
        return LoggedIn(
            session: session.id, serverTimeMilliseconds: wallClock(),
            heartbeatIntervalSeconds: session.heartbeatInterval,
            heartbeatGraceSeconds: UInt32(Limits.heartbeatGrace), inboxPosition: position, inboxGap: gap,
            subscriptionCount: session.loginSubscriptions?.channels.count ?? 0,
            followedUserCount: session.loginSubscriptions?.users.count ?? 0,
            publishRates: PublishRates(
                targetMessages: rates.publish.perSecond,
                sessionMessages: rates.sessionPublish.messages.perSecond,
                sessionBytes: rates.sessionPublish.bytes.perSecond,
                topicMessages: rates.topicPublish.perSecond))
    }

    /// The session of an admitted login. The session is up once its inbox is attached.
    ///
    /// - Parameter isMessagingUp: no login is admitted while no message could reach the user.
    func makeSession(
        _ connection: any SessionConnection, _ login: ClientRequest.Login, isMessagingUp: Bool
    ) throws(RTMError) -> Session {
        let userID = login.userID.string
        let (application, grant) = try admission.admit(
            appID: login.appID.string, userID: userID, token: login.token.string, nowMilliseconds: wallClock()
        )
        try bannedUsers.check(userID, of: application.id)
        try bannedUsers.check(grant, of: userID, of: application.id)
        try sharedRates.login(userID, of: application, now: endOfTurn.now)
        guard isMessagingUp else { throw .messagingUnreachable(.loginNoServerResources, for: nil) }
        try sharedRates.sessions.enter(application)
        let appPublishes = publishes(of: application)
        metrics.sessionsChanged(by: 1)
        let appMetrics = metrics.apps[application.id]
        appMetrics.sessionsChanged(by: 1)
        return sessions.add(sessionIDs.next()) { key in
            let subscriptions = LoginSubscriptions(
                login, of: key, channelsMax: application.subscriptionsMax)
            let session = Session(
                key: key, application: application, userID: userID, instance: login.instance,
                attempt: login.attempt, isReturn: login.inboxAfter != nil && !login.isAsked,
                heartbeatInterval: Limits.clamp(
                    Int(login.heartbeatIntervalSeconds), to: Limits.heartbeatInterval),
                presenceTimeout: Limits.presenceTimeout(Int(login.presenceTimeoutSeconds)),
                grant: grant, appPublishes: appPublishes,
                restorable: login.inboxAfter == nil
                    ? Restorable() : application.rates.restorable.without(subscriptions),
                connection: connection, appMetrics: appMetrics)
            session.loginSubscriptions = subscriptions
            return session
        }
    }

    /// Refuses a token that was revoked.
    func check(_ grant: TokenGrant?, of session: Session) throws(RTMError) {
        try bannedUsers.check(grant, of: session.userID, of: session.appID)
    }

    /// A session that was made here is no more.
    func ended(_ session: Session) {
        sharedRates.sessions.leave(session.appID)
        metrics.sessionsChanged(by: -1)
        session.appMetrics?.sessionsChanged(by: -1)
    }

    private func publishes(of application: Application) -> AppPublishShare {
        if let present = publishes[application.id] { return present }
        let share = AppPublishShare(of: sharedRates.publishes(of: application))
        publishes[application.id] = share
        return share
    }
}

/// Session ids that no other loop of any edge gives out: a random prefix of 40 bits, and a count.
struct SessionIDSource {
    private let prefix: UInt64
    private var count: UInt64 = 0

    init(prefix: UInt64) { self.prefix = prefix << 24 }

    mutating func next() -> SessionID {
        count += 1
        return SessionID(rawValue: prefix &+ count)
    }
}
