// What the link does when: behaviour.md 2.3, T1…T17 and S-6, S-13…S-17. Longer than most files because it is
// the one table of all transitions.
//
// A value without socket, clock or chance: every event comes with the time, and its result is the list of
// actions that `Link` performs in order. The one deadline it has at any moment is `deadline`; its owner
// calls `timerFired` then. An event of an earlier attempt carries that attempt's number and is ignored.
//
//     idle ──login──▶ connecting ──accepted, subscriptions restored──▶ connected ──lost──▶ disconnected
//     connecting ──failed──▶ disconnected ──after 2, 4, 8 … s──▶ connecting
//     disconnected ──2 min after the loss──▶ suspended ──every 30 s──▶ connecting
//     from everywhere: logout ──▶ idle; a fatal cause ──▶ failed ──login──▶ connecting

import RTMModel

struct LinkStateMachine: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct Parameters: Sendable {
        var timing = LinkTiming()
        var serverCount = 1
        /// Per server: to connect and log in, and once more to restore the subscriptions.
        var attemptTimeout: Duration = .seconds(10)
        /// T17; nil means never.
        var reconnectTimeout: Duration?
        /// Of a login that brings none; nil means the app id.
        var token: String?
    }

    enum Action: Sendable, Equatable {
        /// Tell the app. After it `state` is the new one.
        case announce(LinkChange)
        /// Open a connection to the server with this index and log in; report with this number.
        case connect(attempt: UInt64, server: Int)
        /// Drop the present connection at once; calls in flight on it fail.
        case disconnect(reason: String)
        /// Send Logout on the present connection and let it end by itself.
        case sayGoodbye
        /// S-7: log in anew on the present connection, for the pending login.
        case reauthenticate(login: UInt64, token: String)
        case completeLogin(UInt64, RTMError?)
        /// S-22: nothing is to be restored any more.
        case forgetSubscriptions
    }

    /// One round over the servers, beginning with the preferred one.
    private struct Attempt {
        var number: UInt64
        var serversTried = 1
        var deadline: Instant
        /// The login was accepted; subscriptions are being re-established.
        var isRestoring = false
    }

    private enum Phase {
        /// Not logged in. Follows: connecting.
        case idle
        /// An attempt runs. Follows: connected, disconnected, suspended, failed, idle.
        case connecting(Attempt, Outage)
        /// Logged in by this attempt. Follows: disconnected, failed, idle.
        case connected(UInt64)
        /// Waits for the next attempt. Follows: connecting, suspended, failed, idle.
        case disconnected(Outage)
        /// Waits longer for the next attempt. Follows: connecting, failed, idle.
        case suspended(Outage)
        /// Gave up. Follows: connecting by a new login, idle.
        case failed
    }

    private let parameters: Parameters
    private var phase = Phase.idle
    private var lastAttempt: UInt64 = 0
    /// Where the last attempt went: the one that worked is tried first the next time.
    private var server = 0
    /// The login call that waits for its completion (S-13).
    private(set) var pendingLogin: UInt64?
    private var credential = Credential()

    init(_ parameters: Parameters) { self.parameters = parameters }

    var state: LinkState {
        switch phase {
        case .idle: .idle
        case .connecting: .connecting
        case .connected: .connected
        case .disconnected: .disconnected
        case .suspended: .suspended
        case .failed: .failed
        }
    }

    /// When `timerFired` is due.
    var deadline: Instant? {
        switch phase {
        case .idle, .connected, .failed: nil
        case .connecting(let attempt, let outage): earliest(attempt.deadline, giveUpAt(outage))
        case .disconnected(let outage): earliest(outage.suspendAt, outage.retryAt, giveUpAt(outage))
        case .suspended(let outage): earliest(outage.retryAt, giveUpAt(outage))
        }
    }

    private func newOutage(wasConnected: Bool, since: Instant) -> Outage {
        Outage(since: since, wasConnected: wasConnected, timing: parameters.timing)
    }

    private func giveUpAt(_ outage: Outage) -> Instant? {
        parameters.reconnectTimeout.map { outage.since + $0 }
    }

    private func earliest(_ instants: Instant?...) -> Instant? { instants.compactMap { $0 }.min() }
}

// MARK: - Calls of the app

extension LinkStateMachine {
    /// T1, T11, T15; S-6 while another login is pending; S-7 while connected.
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

    /// A login that never reached a server begins its window anew; a lost session keeps its own.
    private func renewed(_ outage: Outage, now: Instant) -> Outage {
        outage.wasConnected ? outage : newOutage(wasConnected: false, since: now)
    }

    /// What an attempt logs in with; nil means the app id.
    var token: String? { credential.token }

    /// S-1. A login that brings no token keeps that of a lost session, which may have been renewed; a new
    /// session begins with the configuration's.
    private mutating func present(_ token: String?) {
        switch phase {
        case .connecting(_, let outage), .disconnected(let outage), .suspended(let outage):
            if outage.wasConnected { return credential.replace(with: token ?? credential.token) }
        case .idle, .connected, .failed: break
        }
        credential = Credential(token ?? parameters.token)
    }

    /// S-7, S-52: the server took the new token.
    mutating func tokenRenewed(_ token: String) { credential.replace(with: token) }

    /// S-50: whether the server's notice is news to the app.
    mutating func announceTokenExpiry() -> Bool { credential.announceExpiry() }

    /// T16, S-6. In `idle` there is nothing to do.
    mutating func logout(loginError: RTMError? = nil) -> [Action] {
        let error = loginError ?? RTMError(.loginCanceled, "a logout replaced this login")
        let previous = state
        guard previous != .idle else { return [] }
        var actions: [Action] = []
        switch phase {
        case .connected: actions.append(.sayGoodbye)
        case .connecting(let attempt, _) where attempt.isRestoring: actions.append(.sayGoodbye)
        case .connecting: actions.append(.disconnect(reason: "logged out"))
        case .idle, .disconnected, .suspended, .failed: break
        }
        // The state comes before the completion: who waited for the call sees what it led to.
        actions.append(move(to: .idle, .logout, .logout, "logout"))
        actions.append(.forgetSubscriptions)
        return actions + completeLogin(error)
    }

    /// T7, and T8 or T11 at once: what a connection or an attempt runs over may be gone, and nothing is known
    /// against a new one.
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

    /// The task that waited for this login was cancelled: a link that was never up isn't wanted any more.
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
    /// The server accepted the login; restoring may take as long again.
    mutating func loginAccepted(attempt number: UInt64, now: Instant) {
        guard case .connecting(var attempt, let outage) = phase, attempt.number == number else { return }
        attempt.isRestoring = true
        attempt.deadline = now + parameters.attemptTimeout
        phase = .connecting(attempt, outage)
    }

    /// T2 or T9: every subscription has been answered for.
    ///
    /// - Parameters:
    ///   - unrestoredChannels: those that were refused, or go on behind a gap.
    ///   - isIncomplete: something beside the channels is lost: messages to the user, or a followed user.
    mutating func restored(
        attempt number: UInt64, unrestoredChannels: [String], isIncomplete: Bool = false, now: Instant
    ) -> [Action] {
        guard case .connecting(let attempt, let outage) = phase, attempt.number == number else { return [] }
        let change: Action
        if outage.wasConnected || pendingLogin == nil {
            // S-17: back within the window, however long the last attempt took, and with everything.
            let isInTime = outage.wasConnected && !outage.isSuspended && now <= outage.suspendAt
            let isResumed = isInTime && unrestoredChannels.isEmpty && !isIncomplete
            change = move(
                to: .connected(number), .reconnected, .reconnectSuccess, "connected again",
                isResumed: isResumed,
                listsChannels: true, unrestoredChannels: unrestoredChannels)
        } else {
            change = move(to: .connected(number), .login, .loginSuccess, "logged in")
        }
        return [change] + completeLogin(nil)
    }

    /// The attempt failed, or the connection that came of it ended: T3…T6, T12…T14.
    mutating func connectionEnded(
        attempt number: UInt64, _ loss: LinkLoss, now: Instant, random: inout some RandomNumberGenerator
    ) -> [Action] {
        switch phase {
        case .connected(number):
            return connectedEnded(loss, now: now, random: &random)
        case .connecting(let attempt, let outage) where attempt.number == number:
            return attemptEnded(attempt, outage, loss, now: now, random: &random)
        default:
            return []
        }
    }

    private mutating func connectedEnded(
        _ loss: LinkLoss, now: Instant, random: inout some RandomNumberGenerator
    ) -> [Action] {
        if loss.isFatal { return fail(.serverReject, loss.reasonCode, loss.loginError, text: loss.text) }
        var outage = newOutage(wasConnected: true, since: now)
        outage.scheduleRetry(after: loss, now: now, random: &random)
        let operation: LinkOperation = loss == .heartbeatTimeout ? .heartbeatTimeout : .serverTimeout
        return [
            .disconnect(reason: loss.text),
            move(to: .disconnected(outage), operation, loss.reasonCode, loss.text, listsChannels: true),
        ]
    }

    private mutating func attemptEnded(
        _ attempt: Attempt, _ outage: Outage, _ loss: LinkLoss, now: Instant,
        random: inout some RandomNumberGenerator
    ) -> [Action] {
        let isReturn = outage.wasConnected || pendingLogin == nil
        if loss.isFatal, !(isReturn && loss.mayPassLater) {
            return fail(.serverReject, loss.reasonCode, loss.loginError, text: loss.text)
        }
        var actions: [Action] = [.disconnect(reason: loss.text)]
        if attempt.serversTried < parameters.serverCount {
            server = (server + 1) % parameters.serverCount
            actions.append(begin(outage, serversTried: attempt.serversTried + 1, now: now))
            return actions
        }
        server = 0
        var outage = outage
        let operation: LinkOperation =
            outage.failures == 0 && !outage.wasConnected ? .login : .autoReconnect
        outage.attemptFailed(loss, now: now, random: &random)
        if outage.isSuspended {
            actions.append(
                move(to: .suspended(outage), .autoReconnect, .connectionError, loss.text, listsChannels: true)
            )
            return actions + loginTimedOut(outage)
        }
        actions.append(move(to: .disconnected(outage), operation, .connectionError, loss.text))
        if now >= outage.suspendAt { actions += suspend(outage, now: now, random: &random) }
        return actions
    }
}

// MARK: - Time

extension LinkStateMachine {
    /// Does what is due. Call it when `deadline` has come; earlier it does nothing.
    mutating func timerFired(now: Instant, random: inout some RandomNumberGenerator) -> [Action] {
        switch phase {
        case .idle, .connected, .failed:
            return []
        case .connecting(let attempt, let outage):
            if let end = giveUpAt(outage), now >= end { return giveUp(outage) }
            guard now >= attempt.deadline else { return [] }
            let what = attempt.isRestoring ? "restoring the subscriptions" : "connecting and logging in"
            let loss = LinkLoss.connectionError("\(what) took more than \(parameters.attemptTimeout)")
            return attemptEnded(attempt, outage, loss, now: now, random: &random)
        case .disconnected(let outage):
            if let end = giveUpAt(outage), now >= end { return giveUp(outage) }
            if now >= outage.suspendAt { return suspend(outage, now: now, random: &random) }
            return retryIfDue(outage, now: now)
        case .suspended(let outage):
            if let end = giveUpAt(outage), now >= end { return giveUp(outage) }
            return retryIfDue(outage, now: now)
        }
    }

    /// T8, T11.
    private mutating func retryIfDue(_ outage: Outage, now: Instant) -> [Action] {
        guard let retryAt = outage.retryAt, now >= retryAt else { return [] }
        return connectAgain(outage, now: now)
    }

    private mutating func connectAgain(_ outage: Outage, now: Instant) -> [Action] {
        connect(outage, now: now, .autoReconnect, .autoReconnect, "connecting again")
    }

    /// T10.
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

    /// S-13: without a reconnectTimeout the first window decides about the call, while attempts go on.
    private mutating func loginTimedOut(_ outage: Outage) -> [Action] {
        guard parameters.reconnectTimeout == nil else { return [] }
        let text = "no login has succeeded so far, attempts go on" + outage.cause
        return completeLogin(RTMError(.loginTimeout, text))
    }

    /// T17.
    private mutating func giveUp(_ outage: Outage) -> [Action] {
        let text = "no connection within the reconnect timeout" + outage.cause
        let reasonCode: LinkStateReason = pendingLogin == nil ? .reconnectTimeout : .loginTimeout
        return fail(.autoReconnect, reasonCode, RTMError(.loginTimeout, text), text: text)
    }
}

// MARK: - Transitions

extension LinkStateMachine {
    /// Begins a round over the servers; without an operation it is no change of state.
    private mutating func connect(
        _ outage: Outage, now: Instant, _ operation: LinkOperation?, _ reasonCode: LinkStateReason = .unknown,
        _ reason: String = ""
    ) -> [Action] {
        let previous = state
        let connect = begin(outage, serversTried: 1, now: now)
        guard let operation else { return [connect] }
        let change = LinkChange(
            current: .connecting, previous: previous, operation: operation, reasonCode: reasonCode,
            reason: reason)
        return [.announce(change), connect]
    }

    private mutating func begin(_ outage: Outage, serversTried: Int, now: Instant) -> Action {
        lastAttempt += 1
        var outage = outage
        outage.attemptBegins()
        let attempt = Attempt(
            number: lastAttempt, serversTried: serversTried, deadline: now + parameters.attemptTimeout)
        phase = .connecting(attempt, outage)
        return .connect(attempt: lastAttempt, server: server)
    }

    /// T3, T13, T14, T17: the session is over, and with it what a reconnect would restore.
    private mutating func fail(
        _ operation: LinkOperation, _ reasonCode: LinkStateReason, _ error: RTMError, text: String
    ) -> [Action] {
        let change = move(to: .failed, operation, reasonCode, text, listsChannels: true)
        return [.disconnect(reason: text), change] + completeLogin(error) + [.forgetSubscriptions]
    }

    private mutating func completeLogin(_ error: RTMError?) -> [Action] {
        guard let id = pendingLogin else { return [] }
        pendingLogin = nil
        return [.completeLogin(id, error)]
    }

    private mutating func move(
        to next: Phase, _ operation: LinkOperation, _ reasonCode: LinkStateReason, _ reason: String,
        isResumed: Bool = false, listsChannels: Bool = false, unrestoredChannels: [String] = []
    ) -> Action {
        let previous = state
        phase = next
        return .announce(
            LinkChange(
                current: state, previous: previous, operation: operation, reasonCode: reasonCode,
                reason: reason,
                isResumed: isResumed, listsChannels: listsChannels, unrestoredChannels: unrestoredChannels))
    }
}
