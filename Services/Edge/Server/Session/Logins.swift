import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// Lets users in: who may log in, how often, and what a client is told at first.
final class Logins {
    private let configuration: EdgeConfiguration
    private let sessions: Sessions
    private let metrics: EdgeMetrics
    private let endOfTurn: EndOfTurn
    /// The server's UTC clock in milliseconds.
    private let wallClock: () -> UInt64
    private let admission: Admission
    private var rates = LoginRates()
    private var sessionIDs: SessionIDSource

    /// - Parameter number: a random number, which no other loop of any edge has.
    init(
        _ configuration: EdgeConfiguration, sessions: Sessions, metrics: EdgeMetrics, endOfTurn: EndOfTurn,
        wallClock: @escaping () -> UInt64, number: UInt64
    ) {
        self.configuration = configuration
        self.sessions = sessions
        self.metrics = metrics
        self.endOfTurn = endOfTurn
        self.wallClock = wallClock
        admission = Admission(configuration.applications)
        sessionIDs = SessionIDSource(prefix: number)
    }

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

    /// The session of an admitted login. The session is up once its inbox is attached.
    ///
    /// - Parameter isMessagingUp: nobody is let in while no message could reach him.
    func makeSession(
        _ connection: any SessionConnection, _ login: ClientRequest.Login, isMessagingUp: Bool
    ) throws(RTMError) -> Session {
        let userID = login.userID.string
        let (application, grant) = try admission.admit(
            appID: login.appID.string, userID: userID, token: login.token.string, nowMilliseconds: wallClock()
        )
        try rates.login(application.id, userID, application.rates, now: endOfTurn.now)
        guard isMessagingUp else { throw .messagingUnreachable(.loginNoServerResources) }
        metrics.sessionsChanged(by: 1)
        return sessions.add(sessionIDs.next()) { key in
            Session(
                key: key, application: application, userID: userID, instance: login.instance,
                attempt: login.attempt, isReturn: login.inboxAfter != nil && !login.isAsked,
                heartbeatInterval: Limits.clamp(
                    Int(login.heartbeatIntervalSeconds), to: Limits.heartbeatInterval),
                presenceTimeout: Limits.presenceTimeout(Int(login.presenceTimeoutSeconds)),
                grant: grant, connection: connection)
        }
    }
}
