// The app's calls about its session: login, renewal of the token, logout, close, and ping.

import RTMModel
import RTMProtocol

final class SessionCalls {
    /// A connection that has sent Logout. It ends when that is answered, or a moment later.
    private struct ClosingConnection {
        let socket: ServerConnection
        let deadline: LinkSession.Instant
    }

    private let session: LinkSession
    private let requests: Requests
    private let events: EventOutlet
    private let rosters: Rosters
    private var logins: [UInt64: Completion<Void>] = [:]
    private var closingConnections: [ClosingConnection] = []
    /// Calls that end when the last of these connections has ended.
    private var logouts: [Completion<Void>] = []
    private var closings: [CheckedContinuation<Void, Never>] = []
    private var isClosingOutbox = false

    init(session: LinkSession, requests: Requests, events: EventOutlet, rosters: Rosters) {
        self.session = session
        self.requests = requests
        self.events = events
        self.rosters = rosters
    }

    /// When the oldest closing connection is closed without an answer.
    var deadline: LinkSession.Instant? { closingConnections.first?.deadline }

    // MARK: Login

    func login(token: String?, _ completion: Completion<Void>) {
        guard !session.isClosed else { return completion.fail(.released) }
        logins[completion.id] = completion
        session.perform(session.machine.login(completion.id, token: token, now: session.now))
    }

    func completeLogin(_ id: UInt64, _ error: RTMError?) {
        guard let completion = logins.removeValue(forKey: id) else { return }
        if let error { completion.fail(error) } else { completion.succeed() }
    }

    /// A login while connected presents its token on the connection that there is. The session lives on
    /// whatever the answer is (S-7).
    func reauthenticate(_ id: UInt64, token: String) {
        guard let completion = logins.removeValue(forKey: id) else { return }
        renew(token, completion)
    }

    /// Replaces the token of the session. A lost session is taken up at once with it (S-52).
    func renewToken(_ token: String, _ completion: Completion<Void>) {
        if !session.isClosed, session.machine.isLost { return login(token: token, completion) }
        if requests.isReady(for: completion) { renew(token, completion) }
    }

    private func renew(_ token: String, _ completion: Completion<Void>) {
        let request = RenewTokenRequest(calls: self, completion: completion, token: token)
        requests.send(request, id: completion.id) { $0.renewToken.token = token }
    }

    func tokenRenewed(_ token: String) { session.machine.tokenRenewed(token) }

    /// The network changed, or the app wants the next attempt to begin at once (T7, T8, T11).
    func networkChanged() {
        guard !session.isClosed else { return }
        session.perform(session.machine.networkChanged(now: session.now))
    }

    func ping(_ completion: Completion<Duration>) {
        let sentAt = session.now
        requests.call(completion, .heartbeat(Rtm_Client_Heartbeat())) { [session] body in
            guard case .heartbeatAck = body else { return nil }
            return session.now - sentAt
        }
    }

    // MARK: Logout

    func logout(_ completion: Completion<Void>) {
        guard !session.isClosed else { return completion.fail(.released) }
        guard session.state != .idle else { return completion.fail(session.notLoggedIn) }
        logouts.append(completion)
        session.perform(session.machine.logout())
        completeIfClosed()
    }

    func close(_ outbox: Outbox?, _ continuation: CheckedContinuation<Void, Never>?) {
        if let continuation { closings.append(continuation) }
        if !session.isClosed {
            session.isClosed = true
            close(outbox)
            session.perform(session.machine.logout(loginError: .released))
            events.finish()
            rosters.finish()
        }
        completeIfClosed()
    }

    private func close(_ outbox: Outbox?) {
        guard let outbox else { return }
        isClosingOutbox = true
        outbox.close { [self] in
            isClosingOutbox = false
            completeIfClosed()
        }
    }

    func sendLogout(on socket: ServerConnection) {
        requests.sendLogout(on: socket)
        let deadline = session.now + session.configuration.timing.logoutAnswer
        closingConnections.append(ClosingConnection(socket: socket, deadline: deadline))
    }

    /// The server has answered the logout, or has ended the connection.
    func closed(_ socket: ServerConnection) {
        closingConnections.removeAll { $0.socket === socket }
        socket.close()
        completeIfClosed()
    }

    func closeOverdue(now: LinkSession.Instant) {
        for connection in closingConnections where connection.deadline <= now { closed(connection.socket) }
    }

    private func completeIfClosed() {
        guard closingConnections.isEmpty, !isClosingOutbox else { return }
        let logouts = logouts
        let closings = closings
        self.logouts = []
        self.closings = []
        for completion in logouts { completion.succeed() }
        for continuation in closings { continuation.resume() }
    }

    // MARK: Cancellation

    /// The task that waited for this login or logout was cancelled.
    ///
    /// - Returns: whether there was such a call.
    func cancel(_ id: UInt64) -> Bool {
        if let login = logins[id] {
            session.perform(session.machine.cancelLogin(id, error: .cancelled(login.operation)))
        } else if let index = logouts.firstIndex(where: { $0.id == id }) {
            logouts.remove(at: index).fail(.cancelled(.logout))
        } else {
            return false
        }
        return true
    }
}

/// The renewal of a token, also by a login while connected. The completion names the call.
private struct RenewTokenRequest: Request {
    let calls: SessionCalls
    let completion: Completion<Void>
    let token: String

    var operation: Operation { completion.operation }

    func answered(_ body: ServerBody) -> Bool {
        guard case .tokenRenewed = body else { return false }
        calls.tokenRenewed(token)
        completion.succeed()
        return true
    }

    func refused(_ error: RTMError) { completion.fail(error) }

    /// What the server has taken is what counts, even if nobody waits for it any more.
    func givenUp(_ error: RTMError) -> LateAnswer? {
        completion.fail(error)
        return { body in if case .tokenRenewed = body { calls.tokenRenewed(token) } }
    }

    func lost(_ reason: String) {
        completion.fail(.notConnected, "the connection was lost before the token was renewed: \(reason)")
    }
}
