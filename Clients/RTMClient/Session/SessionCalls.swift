// The app's calls about its session: login, renewal of the token, logout, close, and ping.

import RTMModel
import RTMProtocol

final class SessionCalls {
    /// A connection that has sent Logout. It ends when that is answered, or a moment later.
    private struct Goodbye {
        let socket: ServerConnection
        let deadline: Link.Instant
    }

    private unowned let link: Link
    private(set) var isClosed = false
    private var logins: [UInt64: Completion<Void>] = [:]
    private var goodbyes: [Goodbye] = []
    /// Calls that end when the last goodbye is said.
    private var logouts: [Completion<Void>] = []
    private var closings: [CheckedContinuation<Void, Never>] = []
    private var isClosingOutbox = false

    init(_ link: Link) { self.link = link }

    /// When the oldest goodbye has taken long enough.
    var deadline: Link.Instant? { goodbyes.first?.deadline }

    // MARK: Login

    func login(token: String?, _ completion: Completion<Void>) {
        guard !isClosed else { return completion.fail(.released) }
        logins[completion.id] = completion
        link.perform(link.machine.login(completion.id, token: token, now: link.now))
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

    /// Replaces the token of the session (S-52).
    func renewToken(_ token: String, _ completion: Completion<Void>) {
        if link.requests.isReady(for: completion) { renew(token, completion) }
    }

    private func renew(_ token: String, _ completion: Completion<Void>) {
        let request = RenewTokenRequest(session: self, completion: completion, token: token)
        link.requests.ask(request, id: completion.id) { $0.renewToken.token = token }
    }

    func tokenRenewed(_ token: String) { link.machine.tokenRenewed(token) }

    /// The network changed, or the app wants the next attempt to begin at once (T7, T8, T11).
    func networkChanged() {
        guard !isClosed else { return }
        link.perform(link.machine.networkChanged(now: link.now))
    }

    func ping(_ completion: Completion<Duration>) {
        let sentAt = link.now
        link.requests.call(completion, .heartbeat(Rtm_Client_Heartbeat())) { [unowned link] body in
            guard case .heartbeatAck = body else { return nil }
            return link.now - sentAt
        }
    }

    // MARK: Logout

    func logout(_ completion: Completion<Void>) {
        guard !isClosed else { return completion.fail(.released) }
        guard link.state != .idle else { return completion.fail(link.notLoggedIn) }
        logouts.append(completion)
        link.perform(link.machine.logout())
        completeGoodbyes()
    }

    func close(_ continuation: CheckedContinuation<Void, Never>?) {
        if let continuation { closings.append(continuation) }
        if !isClosed {
            isClosed = true
            closeOutbox()
            link.perform(link.machine.logout(loginError: .released))
            link.events.finish()
            link.rosters.finish()
        }
        completeGoodbyes()
    }

    private func closeOutbox() {
        guard let outbox = link.outbox else { return }
        isClosingOutbox = true
        outbox.close { [self] in
            isClosingOutbox = false
            completeGoodbyes()
        }
    }

    func sayGoodbye(on socket: ServerConnection) {
        link.requests.sayGoodbye(on: socket)
        goodbyes.append(
            Goodbye(socket: socket, deadline: link.now + link.configuration.timing.goodbye))
    }

    func goodbyeSaid(_ socket: ServerConnection) {
        goodbyes.removeAll { $0.socket === socket }
        socket.close()
        completeGoodbyes()
    }

    func endGoodbyes(now: Link.Instant) {
        for goodbye in goodbyes where goodbye.deadline <= now { goodbyeSaid(goodbye.socket) }
    }

    private func completeGoodbyes() {
        guard goodbyes.isEmpty, !isClosingOutbox else { return }
        let logouts = logouts
        let closings = closings
        self.logouts = []
        self.closings = []
        for completion in logouts { completion.succeed() }
        for continuation in closings { continuation.resume() }
    }

    // MARK: Cancellation

    /// The task that waited for this call was cancelled.
    func cancel(_ id: UInt64) {
        if let login = logins[id] {
            link.perform(link.machine.cancelLogin(id, error: .cancelled(login.operation)))
        } else if link.requests.cancel(id) || link.locks.cancelWait(id) || link.waitingCalls.cancel(id)
            || link.outbox?.cancel(id) == true
        {
            return
        } else if let index = logouts.firstIndex(where: { $0.id == id }) {
            logouts.remove(at: index).fail(.cancelled(.logout))
        }
    }
}

/// The renewal of a token, also by a login while connected. Which of the two it is, the completion tells.
private struct RenewTokenRequest: Request {
    let session: SessionCalls
    let completion: Completion<Void>
    let token: String

    var operation: Operation { completion.operation }

    func answered(_ body: ServerBody) -> Bool {
        guard case .tokenRenewed = body else { return false }
        session.tokenRenewed(token)
        completion.succeed()
        return true
    }

    func refused(_ error: RTMError) { completion.fail(error) }

    /// What the server has taken is what counts, even if nobody waits for it any more.
    func givenUp(_ error: RTMError) -> LateAnswer? {
        completion.fail(error)
        return { body in if case .tokenRenewed = body { session.tokenRenewed(token) } }
    }

    func lost(_ reason: String) {
        completion.fail(.notConnected, "the connection was lost before the token was renewed: \(reason)")
    }
}
