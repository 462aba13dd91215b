// Decides what the link does and when (behaviour.md 2.3, T1…T17 and S-6, S-13…S-17). The file is longer than
// most because it is the one table of all transitions.
//
// The machine is a value without socket, clock or chance. Every event comes with the time, and its result is
// the list of actions that `Link` performs in order. At any moment it has one deadline, at which its owner
// calls `timerFired`. An event of an earlier attempt carries that attempt's number and is ignored.
//
//     idle ──login──▶ connecting ──accepted, subscriptions restored──▶ connected ──lost──▶ disconnected
//     connecting ──failed──▶ disconnected ──after 2, 4, 8 … s──▶ connecting
//     disconnected ──2 min after the loss──▶ suspended ──every 30 s──▶ connecting
//     from everywhere: logout ──▶ idle; a fatal cause ──▶ failed ──login──▶ connecting

import RTMModel

struct LinkStateMachine: Sendable {
    typealias Instant = ContinuousClock.Instant

    typealias Parameters = LinkParameters
    typealias Action = LinkAction

    private let parameters: Parameters
    private var phase = LinkPhase.idle
    private var lastAttempt: UInt64 = 0
    /// The server of the last attempt. A server that worked is tried first the next time.
    private(set) var server = 0
    /// The login call that waits for its completion (S-13).
    private(set) var pendingLogin: UInt64?
    private var credential = Credential()
    /// The next connection has to wait for a token of the app's provider (S-53).
    private var isTokenNeeded = false

    init(_ parameters: Parameters) { self.parameters = parameters }

    var state: LinkState { phase.state }
    /// The state as the app knows it.
    var shownState: LinkState { phase.shownState }

    /// A session was lost, and an attempt to take it up again is under way.
    var isComingBack: Bool {
        if case .connecting(_, let outage) = phase { outage.wasConnected } else { false }
    }

    /// A session was lost, and has not been taken up again.
    var isLost: Bool {
        switch phase {
        case .connecting(_, let outage), .disconnected(let outage), .suspended(let outage):
            outage.wasConnected
        case .idle, .connected, .failed: false
        }
    }

    /// When `timerFired` is due.
    var deadline: Instant? { phase.deadline(reconnectTimeout: parameters.reconnectTimeout) }

    private func newOutage(wasConnected: Bool, since: Instant) -> Outage {
        Outage(since: since, wasConnected: wasConnected, timing: parameters.timing)
    }

    private func isToGiveUp(_ outage: Outage, now: Instant) -> Bool {
        outage.giveUpAt(after: parameters.reconnectTimeout).map { now >= $0 } ?? false
    }
}

// MARK: - Calls of the app

extension LinkStateMachine {
    /// The app logs in (T1, T11, T15). A login that is pending is replaced (S-6), and while connected the
    /// token is renewed (S-7).
    mutating func login(_ id: UInt64, token: String?, now: Instant) -> [Action] {
        if case .connected = phase {
            guard let token, token != self.token else { return [.completeLogin(id, nil)] }
            return [.reauthenticate(login: id, token: token)]
        }
        var actions = completeLogin(RTMError(.loginCanceled, "a newer login replaced this one"))
        pendingLogin = id
        present(token)
        switch phase {
        case .idle, .connected:
            actions += connect(newOutage(wasConnected: false, since: now), now: now, .login, .login, "login")
        case .failed:
            actions += connect(
                newOutage(wasConnected: false, since: now), now: now, .login, .relogin, "login again")
        case .connecting(_, let outage):
            actions.append(.disconnect(reason: "a newer login replaced this one"))
            actions += connect(renewed(outage, now: now), now: now, nil)
        case .disconnected(let outage), .suspended(let outage):
            actions += connect(renewed(outage, now: now), now: now, .login, .relogin, "login again")
        }
        return actions
    }

    /// A login that never reached a server begins its window anew. A lost session keeps its own.
    private func renewed(_ outage: Outage, now: Instant) -> Outage {
        outage.wasConnected ? outage : newOutage(wasConnected: false, since: now)
    }

    /// What an attempt logs in with. `nil` means the app id.
    var token: String? { credential.token }

    /// A login that brings no token keeps the token of a lost session, which may have been renewed. A new
    /// session begins with the token of the configuration (S-1).
    private mutating func present(_ token: String?) {
        isTokenNeeded = token == nil && parameters.hasTokenProvider
        switch phase {
        case .connecting(_, let outage), .disconnected(let outage), .suspended(let outage):
            if outage.wasConnected { return credential.replace(with: token ?? credential.token) }
        case .idle, .connected, .failed: break
        }
        credential = Credential(token ?? parameters.token)
    }

    /// The app's provider has answered the attempt that waits for it (S-53). Connecting and logging in may
    /// take as long again.
    mutating func tokenProvided(
        _ token: String, attempt number: UInt64, now: Instant, random: inout some RandomNumberGenerator
    ) -> [Action] {
        guard isTokenNeeded, case .connecting(var attempt, let outage) = phase, attempt.number == number
        else { return [] }
        isTokenNeeded = false
        credential.replace(with: token)
        attempt.isTokenFresh = true
        attempt.deadline = now + parameters.attemptTimeout
        phase = .connecting(attempt, outage)
        guard !credential.hasExpired(at: now) else {
            let error = RTMError(.tokenExpired, "the app's token provider brought the token that has expired")
            return attemptEnded(attempt, outage, .loginRefused(error), now: now, random: &random)
        }
        return firstStep(now: now)
    }

    /// With a provider an expired token is a reason to ask for another one, and none to give up (S-53).
    private mutating func replacesToken(after loss: LinkLoss, now: Instant) -> Bool {
        guard loss.reasonCode == .tokenExpired else { return false }
        credential.expires(at: now)
        isTokenNeeded = parameters.hasTokenProvider
        return isTokenNeeded
    }

    /// The server took the new token (S-7, S-52).
    mutating func tokenRenewed(_ token: String) { credential.replace(with: token) }

    /// The server has sent a notice of how long the token lives.
    ///
    /// - Returns: whether this is news to the app (S-50).
    mutating func tokenExpires(in remaining: Duration, now: Instant) -> Bool {
        credential.expires(at: now + remaining)
        return credential.announceExpiry()
    }

    /// The app logs out (T16), which replaces a pending login (S-6). In `idle` there is nothing to do.
    mutating func logout(loginError: RTMError? = nil) -> [Action] {
        let error = loginError ?? RTMError(.loginCanceled, "a logout replaced this login")
        let previous = state
        guard previous != .idle else { return [] }
        var actions: [Action] = []
        switch phase {
        case .connected: actions.append(.sendLogout)
        case .connecting(let attempt, _) where attempt.isRestoring: actions.append(.sendLogout)
        case .connecting: actions.append(.disconnect(reason: "logged out"))
        case .idle, .disconnected, .suspended, .failed: break
        }
        // The state comes before the completion, so that whoever waited for the call sees what it led to.
        actions.append(move(to: .idle, .logout, .logout, "logout"))
        actions.append(.forgetSubscriptions)
        return actions + completeLogin(error)
    }

    /// What a connection or an attempt runs over may be gone (T7), and nothing is known against a new one, so
    /// that the next attempt begins at once (T8, T11).
    mutating func networkChanged(now: Instant) -> [Action] {
        let text = "the network changed"
        switch phase {
        case .idle, .failed:
            return []
        case .connected:
            let outage = newOutage(wasConnected: true, since: now)
            let change = move(
                to: .disconnected(outage), .networkChange, .networkChange, text, listsChannels: true)
            return [.disconnect(reason: text), change] + connectAgain(outage, now: now)
        case .connecting(_, let outage):
            return [.disconnect(reason: text)] + connect(outage, now: now, nil)
        case .disconnected(var outage), .suspended(var outage):
            outage.forgetFailures()
            return connectAgain(outage, now: now)
        }
    }

    /// The task that waited for this login was cancelled. A link that was never up isn't wanted any more.
    mutating func cancelLogin(_ id: UInt64, error: RTMError) -> [Action] {
        guard pendingLogin == id else { return [] }
        switch phase {
        case .connecting(_, let outage), .disconnected(let outage), .suspended(let outage):
            return outage.wasConnected ? completeLogin(error) : logout(loginError: error)
        case .idle, .connected, .failed:
            return completeLogin(error)
        }
    }
}

// MARK: - What the connection reports

extension LinkStateMachine {
    /// The server accepted the login. Restoring may take as long again.
    mutating func loginAccepted(attempt number: UInt64, now: Instant) {
        guard case .connecting(var attempt, let outage) = phase, attempt.number == number else { return }
        attempt.isRestoring = true
        attempt.deadline = now + parameters.attemptTimeout
        phase = .connecting(attempt, outage)
    }

    /// Every subscription has been answered for (T2, T9).
    ///
    /// - Parameters:
    ///   - unrestoredChannels: those that were refused.
    ///   - interruptedChannels: those that continue behind a gap. Within the resume window they are shown as
    ///     unrestored; after a longer loss `isResumed` says enough (S-18).
    ///   - isIncomplete: whether messages to the user were lost, or a user isn't followed any more.
    mutating func restored(
        attempt number: UInt64, unrestoredChannels: [String], interruptedChannels: [String] = [],
        isIncomplete: Bool = false, now: Instant
    ) -> [Action] {
        guard case .connecting(let attempt, let outage) = phase, attempt.number == number else { return [] }
        if outage.isPathChange, unrestoredChannels.isEmpty {
            phase = .connected(number)
            return [.pathChanged] + completeLogin(nil)
        }
        let change: Action
        if outage.wasConnected || pendingLogin == nil {
            // The link is resumed if it is back within the window, however long the last attempt took, and
            // nothing is missing (S-17).
            let isInTime = outage.wasConnected && !outage.isSuspended && now <= outage.suspendAt
            let unrestored = (isInTime ? unrestoredChannels + interruptedChannels : unrestoredChannels)
                .sorted()
            let isResumed = isInTime && unrestored.isEmpty && !isIncomplete
            change = move(
                to: .connected(number), .reconnected, .reconnectSuccess, "connected again",
                isResumed: isResumed,
                listsChannels: true, unrestoredChannels: unrestored)
        } else {
            change = move(to: .connected(number), .login, .loginSuccess, "logged in")
        }
        return [change] + completeLogin(nil)
    }

    /// The attempt failed, or the connection that it opened ended (T3…T6, T12…T14).
    mutating func connectionEnded(
        attempt number: UInt64, _ loss: LinkLoss, now: Instant, random: inout some RandomNumberGenerator
    ) -> [Action] {
        switch phase {
        case .connected(number):
            return connectedEnded(loss, now: now, random: &random)
        case .connecting(let attempt, let outage) where attempt.number == number && outage.isPathChange:
            return connectedEnded(loss, now: now, random: &random)
        case .connecting(let attempt, let outage) where attempt.number == number:
            return attemptEnded(attempt, outage, loss, now: now, random: &random)
        default:
            return []
        }
    }

    /// The session continues over a connection to this server that is open already (N-5).
    mutating func changePath(to server: Int, reason: String, now: Instant) -> [Action] {
        guard case .connected = phase else { return [] }
        // The other path would refuse the token, too.
        guard !credential.hasExpired(at: now) else { return networkChanged(now: now) }
        self.server = server
        var outage = newOutage(wasConnected: true, since: now)
        outage.isPathChange = true
        begin(outage, now: now)
        return [.takeOver(attempt: lastAttempt, reason: reason)]
    }

    private mutating func connectedEnded(
        _ loss: LinkLoss, now: Instant, random: inout some RandomNumberGenerator
    ) -> [Action] {
        let isTokenReplaced = replacesToken(after: loss, now: now)
        if loss.isFatal, !isTokenReplaced { return fail(loss) }
        var outage = newOutage(wasConnected: true, since: now)
        outage.scheduleRetry(after: loss, now: now, random: &random)
        let operation: LinkOperation = loss == .heartbeatTimeout ? .heartbeatTimeout : .serverTimeout
        let actions = [
            Action.disconnect(reason: loss.text),
            move(to: .disconnected(outage), operation, loss.reasonCode, loss.text, listsChannels: true),
        ]
        if isTokenReplaced { return actions + connectAgain(outage, now: now) }
        guard loss.isDrain else { return actions }
        // Another server needs no time to get ready. The same one says when its successor may be asked.
        let isElsewhere = parameters.serverCount > 1
        if isElsewhere { server = (server + 1) % parameters.serverCount }
        return actions + connectAgain(outage, now: now, after: isElsewhere ? .zero : loss.advice ?? .zero)
    }

    private mutating func attemptEnded(
        _ attempt: LinkAttempt, _ outage: Outage, _ loss: LinkLoss, now: Instant,
        random: inout some RandomNumberGenerator
    ) -> [Action] {
        let isReturn = outage.wasConnected || pendingLogin == nil
        // Without a token no server has been tried.
        let hasOtherServer = attempt.serversTried < parameters.serverCount && !isTokenNeeded
        let isTokenReplaced = replacesToken(after: loss, now: now)
        // The clock of whoever makes the tokens may be behind, so a lost session asks once more.
        let isLastToken = attempt.isTokenFresh && (!outage.wasConnected || outage.hasRefusedNewToken)
        if loss.isFatal, !(isReturn && loss.mayPassLater), !(hasOtherServer && loss.isRefusalOfProxy),
            !isTokenReplaced || isLastToken
        {
            return fail(loss)
        }
        var actions: [Action] = [.disconnect(reason: loss.text)]
        if isTokenReplaced, !attempt.isTokenFresh {
            begin(outage, now: now)
            return actions + firstStep(now: now)
        }
        if hasOtherServer, !isTokenReplaced {
            server = (server + 1) % parameters.serverCount
            begin(
                outage, serversTried: attempt.serversTried + 1, isTokenFresh: attempt.isTokenFresh, now: now)
            return actions + firstStep(now: now)
        }
        server = 0
        var outage = outage
        if isTokenReplaced { outage.hasRefusedNewToken = true }
        let operation: LinkOperation =
            outage.failures == 0 && !outage.wasConnected ? .login : .autoReconnect
        outage.attemptFailed(loss, now: now, random: &random)
        if outage.isSuspended {
            actions.append(
                move(to: .suspended(outage), .autoReconnect, .connectionError, loss.text, listsChannels: true)
            )
            return actions + loginTimedOut(outage)
        }
        actions.append(
            move(to: .disconnected(outage), operation, .connectionError, loss.text, loss.connectionFailure))
        if now >= outage.suspendAt { actions += suspend(outage, now: now, random: &random) }
        return actions
    }
}

// MARK: - Time

extension LinkStateMachine {
    /// Does what is due. It is called when `deadline` has come, and does nothing before.
    mutating func timerFired(now: Instant, random: inout some RandomNumberGenerator) -> [Action] {
        switch phase {
        case .idle, .connected, .failed:
            return []
        case .connecting(let attempt, let outage):
            if isToGiveUp(outage, now: now) { return giveUp(outage) }
            if let beginsAt = attempt.beginsAt, now >= beginsAt { return dial(attempt, outage, now: now) }
            guard now >= attempt.deadline else { return [] }
            let what =
                isTokenNeeded
                ? "asking the app's token provider"
                : attempt.isRestoring ? "restoring the subscriptions" : "connecting and logging in"
            let loss = LinkLoss.connectionError("\(what) took more than \(parameters.attemptTimeout)")
            return connectionEnded(attempt: attempt.number, loss, now: now, random: &random)
        case .disconnected(let outage):
            if isToGiveUp(outage, now: now) { return giveUp(outage) }
            if now >= outage.suspendAt { return suspend(outage, now: now, random: &random) }
            return retryIfDue(outage, now: now)
        case .suspended(let outage):
            if isToGiveUp(outage, now: now) { return giveUp(outage) }
            return retryIfDue(outage, now: now)
        }
    }

    /// Begins the next attempt (T8, T11).
    private mutating func retryIfDue(_ outage: Outage, now: Instant) -> [Action] {
        guard let retryAt = outage.retryAt, now >= retryAt else { return [] }
        return connectAgain(outage, now: now)
    }

    /// - Parameter pause: how long until the connection is opened.
    private mutating func connectAgain(
        _ outage: Outage, now: Instant, after pause: Duration = .zero
    ) -> [Action] {
        connect(outage, now: now, .autoReconnect, .autoReconnect, "connecting again", after: pause)
    }

    private mutating func dial(_ attempt: LinkAttempt, _ outage: Outage, now: Instant) -> [Action] {
        var attempt = attempt
        attempt.beginsAt = nil
        phase = .connecting(attempt, outage)
        return firstStep(now: now)
    }

    /// The link has been down for the whole window (T10).
    private mutating func suspend(
        _ outage: Outage, now: Instant, random: inout some RandomNumberGenerator
    ) -> [Action] {
        var outage = outage
        outage.suspend(random: &random)
        let text = "no connection for \(parameters.timing.resumeWindow)"
        let change = move(
            to: .suspended(outage), .autoReconnect, .reconnectTimeout, text, listsChannels: true)
        return [change] + loginTimedOut(outage)
    }

    /// Without a `reconnectTimeout` the call fails at the end of the first window, while attempts
    /// continue (S-13).
    private mutating func loginTimedOut(_ outage: Outage) -> [Action] {
        guard parameters.reconnectTimeout == nil else { return [] }
        let text = "no login has succeeded so far, and the client keeps trying" + outage.cause
        return completeLogin(RTMError(.loginTimeout, text))
    }

    /// The link has been down for the `reconnectTimeout` (T17).
    private mutating func giveUp(_ outage: Outage) -> [Action] {
        let text = "no connection within the reconnect timeout" + outage.cause
        let reasonCode: LinkStateReason = pendingLogin == nil ? .reconnectTimeout : .loginTimeout
        return fail(.autoReconnect, reasonCode, RTMError(.loginTimeout, text), text: text)
    }
}

// MARK: - Transitions

extension LinkStateMachine {
    /// Begins a round over the servers. Without an operation it is no change of state.
    private mutating func connect(
        _ outage: Outage, now: Instant, _ operation: LinkOperation?, _ reasonCode: LinkStateReason = .unknown,
        _ reason: String = "", after pause: Duration = .zero
    ) -> [Action] {
        let previous = state
        begin(outage, after: pause, now: now)
        let step = pause > .zero ? [] : firstStep(now: now)
        guard let operation else { return step }
        let change = LinkChange(
            current: .connecting, previous: previous, operation: operation, reasonCode: reasonCode,
            reason: reason)
        return [.announce(change)] + step
    }

    private mutating func begin(
        _ outage: Outage, serversTried: Int = 1, isTokenFresh: Bool = false, after pause: Duration = .zero,
        now: Instant
    ) {
        lastAttempt += 1
        var outage = outage
        outage.attemptBegins()
        let attempt = LinkAttempt(
            number: lastAttempt, serversTried: serversTried,
            deadline: now + pause + parameters.attemptTimeout,
            beginsAt: pause > .zero ? now + pause : nil, isTokenFresh: isTokenFresh)
        phase = .connecting(attempt, outage)
    }

    /// Asks for a token or opens the connection. A token that is known to have expired isn't presented: with
    /// a provider it is replaced first, and otherwise the link fails (S-54).
    private mutating func firstStep(now: Instant) -> [Action] {
        if credential.hasExpired(at: now) {
            guard parameters.hasTokenProvider else {
                let error = RTMError(.tokenExpired, "the token has expired; log in with a new one")
                return fail(.loginRefused(error))
            }
            isTokenNeeded = true
        }
        return [
            isTokenNeeded
                ? .askForToken(attempt: lastAttempt) : .connect(attempt: lastAttempt, server: server)
        ]
    }

    private mutating func fail(_ loss: LinkLoss) -> [Action] {
        fail(.serverReject, loss.reasonCode, loss.loginError, text: loss.text, loss.connectionFailure)
    }

    /// The session is over, and with it what a reconnect would restore (T3, T13, T14, T17).
    private mutating func fail(
        _ operation: LinkOperation, _ reasonCode: LinkStateReason, _ error: RTMError, text: String,
        _ connectionFailure: ConnectionFailure? = nil
    ) -> [Action] {
        let change = move(to: .failed, operation, reasonCode, text, connectionFailure, listsChannels: true)
        return [.disconnect(reason: text), change] + completeLogin(error) + [.forgetSubscriptions]
    }

    private mutating func completeLogin(_ error: RTMError?) -> [Action] {
        guard let id = pendingLogin else { return [] }
        pendingLogin = nil
        return [.completeLogin(id, error)]
    }

    private mutating func move(
        to next: LinkPhase, _ operation: LinkOperation, _ reasonCode: LinkStateReason, _ reason: String,
        _ connectionFailure: ConnectionFailure? = nil,
        isResumed: Bool = false, listsChannels: Bool = false, unrestoredChannels: [String] = []
    ) -> Action {
        let previous = phase.shownState
        phase = next
        return .announce(
            LinkChange(
                current: state, previous: previous, operation: operation, reasonCode: reasonCode,
                reason: reason,
                isResumed: isResumed, listsChannels: listsChannels, unrestoredChannels: unrestoredChannels,
                connectionFailure: connectionFailure))
    }
}
