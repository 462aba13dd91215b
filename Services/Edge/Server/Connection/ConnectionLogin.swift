import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// What a login, its refusal and a new token change about a connection.
struct ConnectionLogin {
    private let connection: ConnectionHandler
    private var loop: EdgeLoop { connection.loop }

    init(over connection: ConnectionHandler) { self.connection = connection }

    /// The inbox of the new session is attached next.
    func begin(_ login: ClientRequest.Login, _ requestID: UInt64) {
        do throws(RTMError) {
            let session = try loop.logIn(connection, login)
            connection.session = session
            loop.subscribing.attachInbox(of: session, after: login.inboxAfter, requestID)
        } catch {
            refuse(error, app: login.appID.string, user: login.userID.string, requestID)
        }
    }

    /// The session's inbox is attached: from here on messages reach the user.
    func succeeded(_ session: Session, inbox position: StreamPosition, gap: Bool, _ requestID: UInt64) {
        connection.machine.loggedIn()
        loop.strangers.trim()
        loop.sessionLog.loggedIn(session, from: connection.context.address)
        connection.deadline.loggedIn(
            now: loop.eventLoop.now, heartbeatInterval: .seconds(Int64(session.heartbeatInterval)),
            grace: .seconds(Int64(Limits.heartbeatGrace)))
        connection.deadline.tokenAccepted(expiresAt: session.tokenExpiresAt)
        connection.answer(requestID, loop.logins.loggedIn(session, inbox: position, gap: gap))
        // The deadline of the handshake, which is still armed, may be later than that of the first heartbeat.
        connection.checkDeadline(now: loop.eventLoop.now)
        loop.loggedIn(session)
    }

    func refuse(_ error: RTMError, app: String, user: String, _ requestID: UInt64) {
        guard !connection.machine.isEnded else { return }
        let now = loop.eventLoop.now
        loop.sessionLog.refused(error, app: app, user: user, from: connection.context.address, now: now)
        connection.answer(requestID, error)
        connection.disconnect(Disconnect(.loginRefused, "the login was refused: \(error.reason)"))
    }

    func renewToken(of session: Session, _ token: WireText, _ requestID: UInt64) {
        do throws(RTMError) {
            try loop.tokenRenewals.renew(session, token)
            connection.deadline.tokenAccepted(expiresAt: session.tokenExpiresAt)
            connection.answer(requestID, TokenRenewed())
            // The new token may end before the old one.
            connection.checkDeadline(now: loop.eventLoop.now)
        } catch {
            connection.answer(requestID, error)
        }
    }
}
