import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// One test per arrow of behaviour.md 2.3.
struct LinkStateMachineTests {
    private func expect(
        _ change: LinkChange?, _ previous: LinkState, _ current: LinkState, _ operation: LinkOperation,
        _ reasonCode: LinkStateReason, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(change?.previous == previous, sourceLocation: sourceLocation)
        #expect(change?.current == current, sourceLocation: sourceLocation)
        #expect(change?.operation == operation, sourceLocation: sourceLocation)
        #expect(change?.reasonCode == reasonCode, sourceLocation: sourceLocation)
    }

    @Test func `T1: a login moves from idle to connecting`() {
        var link = VirtualLink { _, _ in .silent }
        link.login()
        expect(link.lastChange, .idle, .connecting, .login, .login)
        #expect(link.lastChange?.listsChannels == false)
    }

    @Test func `T2: an accepted login moves to connected and completes the call`() {
        var link = VirtualLink()
        link.login(7)
        expect(link.lastChange, .connecting, .connected, .login, .loginSuccess)
        #expect(link.lastChange?.isResumed == false)
        #expect(link.completions.map(\.login) == [7])
        #expect(link.completions.first?.code == nil)
    }

    @Test(arguments: [
        (ErrorCode.invalidToken, LinkStateReason.invalidToken), (.tokenExpired, .tokenExpired),
        (.loginInconsistentAppId, .inconsistentAppId), (.invalidUserId, .invalidUserId),
        (.loginNotAuthorized, .loginNotAuthorized), (.loginRejected, .loginRejected),
        (.loginAborted, .sameUidLogin), (.operationRateExceedLimitation, .operationRateExceedLimitation),
        (.serviceNotSupport, .serviceNotSupported), (.invalidAppId, .loginNotAuthorized),
    ])
    func `T3: a fatal refusal moves to failed with its reason`(code: ErrorCode, reason: LinkStateReason) {
        var link = VirtualLink { _, _ in .refused(RTMError(code, "no")) }
        link.login()
        expect(link.lastChange, .connecting, .failed, .serverReject, reason)
        #expect(link.completions.map(\.code) == [code])
        #expect(link.machine.deadline == nil)
    }

    @Test func `T3, R-9: a login that is rejected with a time to wait came too often`() {
        var link = VirtualLink { _, _ in
            .refused(RTMError(.loginRejected, "no", retryAfter: .seconds(1)))
        }
        link.login()
        expect(link.lastChange, .connecting, .failed, .serverReject, .loginTooFrequent)
    }

    private static let drain = LinkLoss.disconnected(
        code: 3000, reason: "bye", retryAfter: .milliseconds(700))

    @Test func `S-14: a drain sends the client to the next address at once`() {
        var link = VirtualLink(.exact(servers: 3))
        link.login()
        link.lose(Self.drain)
        #expect(link.attempts.map(\.server) == [0, 1])
        #expect(link.attempts.map(\.at) == [.zero, .zero])
        #expect(link.states == [.connecting, .connected, .disconnected, .connecting, .connected])
        #expect(link.lastChange?.isResumed == true)
    }

    @Test func `S-14: a drain of the only address is followed as the server advised`() {
        var link = VirtualLink()
        link.login()
        link.lose(Self.drain)
        #expect(link.state == .connecting)
        #expect(link.machine.isComingBack)
        #expect(link.attempts.count == 1)
        link.advance(to: .milliseconds(699))
        #expect(link.attempts.count == 1)
        link.advance(to: .milliseconds(700))
        #expect(link.attempts.map(\.at) == [.zero, .milliseconds(700)])
        #expect(link.state == .connected)
    }

    @Test func `S-14: when the drained address is not back yet, the usual waits follow`() {
        var link = VirtualLink { at, _ in at > .zero && at < .seconds(2) ? .unreachable : .accepted }
        link.login()
        link.lose(Self.drain)
        link.advance(to: .seconds(10))
        #expect(link.attempts.map(\.at) == [.zero, .milliseconds(700), .milliseconds(4700)])
    }

    @Test func `S-14: a wait that the server asks for replaces the first one, but not the later ones`() {
        let slow = LinkLoss.disconnected(code: 3001, reason: "slow", retryAfter: .milliseconds(300))
        var link = VirtualLink { at, _ in at == .milliseconds(300) ? .unreachable : .accepted }
        link.login()
        link.lose(slow)
        #expect(link.state == .disconnected)
        link.advance(to: .seconds(10))
        #expect(link.attempts.map(\.at) == [.zero, .milliseconds(300), .milliseconds(4300)])
    }

    @Test func `S-6, S-22: a logout during the advised wait ends it`() {
        var link = VirtualLink()
        link.login()
        link.lose(Self.drain)
        link.logout()
        link.advance(to: .seconds(10))
        #expect(link.attempts.count == 1)
        #expect(link.state == .idle)
    }

    @Test func `R-9: a session that comes back too often waits as long as the server asks`() {
        let tooEarly = RTMError(.loginRejected, "too often", retryAfter: .seconds(6))
        var link = VirtualLink { at, _ in
            at == .zero || at >= .seconds(7) ? .accepted : .refused(tooEarly)
        }
        link.login()
        link.advance(to: .seconds(1))
        link.networkChanged()
        expect(link.lastChange, .connecting, .disconnected, .autoReconnect, .connectionError)
        link.advance(to: .milliseconds(6_999))
        #expect(link.attempts.count == 2)
        link.advance(to: .seconds(20))
        #expect(link.attempts.map(\.at).prefix(3) == [.zero, .seconds(1), .seconds(7)])
        #expect(link.lastChange?.operation == .reconnected && link.lastChange?.isResumed == true)
    }

    @Test func `T4: a failed first attempt moves to disconnected`() {
        var link = VirtualLink { _, _ in .unreachable }
        link.login()
        expect(link.lastChange, .connecting, .disconnected, .login, .connectionError)
        link.advance(to: .seconds(2))
        expect(link.lastChange, .connecting, .disconnected, .autoReconnect, .connectionError)
    }

    @Test(arguments: [ErrorCode.loginNoServerResources, .notConnected, .loginTimeout])
    func `T4, S-4: a refusal that waiting may mend is retried`(code: ErrorCode) {
        var link = VirtualLink { at, _ in at == .zero ? .refused(RTMError(code, "later")) : .accepted }
        link.login()
        #expect(link.state == .disconnected)
        link.advance(to: .seconds(3))
        #expect(link.state == .connected)
    }

    @Test func `T5: a missing heartbeat answer moves to disconnected`() {
        var link = VirtualLink()
        link.login()
        link.lose(.heartbeatTimeout)
        expect(link.lastChange, .connected, .disconnected, .heartbeatTimeout, .keepAliveTimeout)
        #expect(link.lastChange?.listsChannels == true)
    }

    @Test func `T6: a closed socket moves to disconnected`() {
        var link = VirtualLink()
        link.login()
        link.lose()
        expect(link.lastChange, .connected, .disconnected, .serverTimeout, .connectionError)
        #expect(link.lastChange?.listsChannels == true)
        #expect(link.others.contains(.disconnect(reason: "cut")))
    }

    @Test func `T8, T9: a retry moves over connecting to connected`() {
        var link = VirtualLink()
        link.login()
        link.lose()
        link.advance(to: .seconds(2))
        expect(
            link.changes.dropLast().last?.change, .disconnected, .connecting, .autoReconnect, .autoReconnect)
        expect(link.lastChange, .connecting, .connected, .reconnected, .reconnectSuccess)
        #expect(link.lastChange?.isResumed == true)
        #expect(link.lastChange?.unrestoredChannels == [])
    }

    @Test func `S-18: a gap names its channel after a short loss only`() {
        var link = VirtualLink()
        link.login()
        link.interrupted = ["lobby"]
        link.lose()
        link.advance(to: .seconds(2))
        #expect(link.lastChange?.unrestoredChannels == ["lobby"] && link.lastChange?.isResumed == false)
        link.unrestored = ["hall"]
        link.reach = { _, _ in .unreachable }
        link.lose()
        link.advance(to: .seconds(200))
        #expect(link.state == .suspended)
        link.reach = { _, _ in .accepted }
        link.advance(to: .seconds(300))
        #expect(link.state == .connected)
        #expect(link.lastChange?.unrestoredChannels == ["hall"] && link.lastChange?.isResumed == false)
    }

    @Test func `S-17, S-18: what wasn't restored is named, and the link isn't resumed`() {
        var link = VirtualLink()
        link.login()
        link.unrestored = ["lobby"]
        link.lose()
        link.advance(to: .seconds(2))
        expect(link.lastChange, .connecting, .connected, .reconnected, .reconnectSuccess)
        #expect(link.lastChange?.isResumed == false)
        #expect(link.lastChange?.unrestoredChannels == ["lobby"])
        link.unrestored = []
        link.isIncomplete = true
        link.lose()
        link.advance(to: .seconds(10))
        #expect(link.state == .connected)
        #expect(link.lastChange?.isResumed == false)
    }

    @Test
    func `T7, T8: a changed network moves from connected over disconnected to an attempt at once`() {
        var link = VirtualLink()
        link.login()
        link.networkChanged()
        let changes = link.changes.suffix(3).map(\.change)
        expect(changes.first, .connected, .disconnected, .networkChange, .networkChange)
        #expect(changes.first?.listsChannels == true)
        expect(changes.dropFirst().first, .disconnected, .connecting, .autoReconnect, .autoReconnect)
        expect(changes.last, .connecting, .connected, .reconnected, .reconnectSuccess)
        #expect(changes.last?.isResumed == true)
        #expect(link.attempts.map(\.at) == [.zero, .zero])
    }

    @Test(arguments: [LinkState.disconnected, .suspended])
    func `T8, T11: a changed network cuts the waiting short, and the back-off begins anew`(
        from: LinkState
    ) {
        var link = VirtualLink.inState(from)
        link.reach = { _, _ in .unreachable }
        if from == .disconnected { link.advance(to: .seconds(40)) }
        let attempts = link.attempts.count
        #expect(link.state == from)
        link.networkChanged()
        #expect(link.attempts.count == attempts + 1)
        expect(link.changes.dropLast().last?.change, from, .connecting, .autoReconnect, .autoReconnect)
        #expect(link.state == from)
        link.reach = { _, _ in .accepted }
        link.networkChanged()
        #expect(link.state == .connected)
        #expect(link.lastChange?.isResumed == (from == .disconnected))
    }

    @Test func `A changed network begins an attempt anew without a change of state`() {
        var link = VirtualLink { _, _ in .silent }
        link.login()
        let changes = link.changes.count
        link.reach = { _, _ in .accepted }
        link.networkChanged()
        #expect(link.attempts.count == 2)
        #expect(link.changes.count == changes + 1)
        expect(link.lastChange, .connecting, .connected, .login, .loginSuccess)
        #expect(link.completions.map(\.code) == [nil])
    }

    @Test(arguments: [LinkState.idle, .failed])
    func `A changed network means nothing to a client that isn't logged in`(state: LinkState) {
        var link = VirtualLink.inState(state)
        let changes = link.changes.count
        link.networkChanged()
        #expect(link.changes.count == changes)
        #expect(link.state == state)
    }

    @Test func `T10: two minutes after the loss the link is suspended`() {
        var link = VirtualLink { at, _ in at == .zero ? .accepted : .unreachable }
        link.login()
        link.lose()
        link.advance(to: .seconds(119))
        #expect(link.state == .disconnected)
        link.advance(to: .seconds(120))
        expect(link.lastChange, .disconnected, .suspended, .autoReconnect, .reconnectTimeout)
        #expect(link.lastChange?.listsChannels == true)
    }

    @Test func `T11, T12: a suspended link tries every 30 s`() {
        var link = VirtualLink { at, _ in at == .zero ? .accepted : .unreachable }
        link.login()
        link.lose()
        link.advance(to: .seconds(150))
        expect(link.changes.dropLast().last?.change, .suspended, .connecting, .autoReconnect, .autoReconnect)
        expect(link.lastChange, .connecting, .suspended, .autoReconnect, .connectionError)
        #expect(link.attempts.last?.at == .seconds(150))
        link.advance(to: .seconds(180))
        #expect(link.attempts.last?.at == .seconds(180))
    }

    @Test func `T11: a login retries a suspended link at once`() {
        var link = VirtualLink { at, _ in at == .zero ? .accepted : .unreachable }
        link.login()
        link.lose()
        link.advance(to: .seconds(130))
        link.reach = { _, _ in .accepted }
        link.login(2)
        expect(link.changes.dropLast().last?.change, .suspended, .connecting, .login, .relogin)
        #expect(link.state == .connected)
        #expect(link.lastChange?.isResumed == false)
        #expect(link.completions.last?.login == 2)
    }

    @Test func `T13, S-51: an expired token moves from connected to failed, for its own reason`() {
        var link = VirtualLink()
        link.login(token: "short")
        link.lose(.disconnected(code: 3506, reason: "the token has expired", retryAfter: nil))
        expect(link.lastChange, .connected, .failed, .serverReject, .tokenExpired)
        #expect(link.lastChange?.listsChannels == true)
        #expect(link.machine.deadline == nil)
        #expect(link.others.last == .forgetSubscriptions)
    }

    @Test func `S-51: a token that expires before the subscriptions are restored completes the login`() {
        var link = VirtualLink { _, _ in .silent }
        link.login(token: "short")
        guard let attempt = link.attempts.last?.number else { return }
        link.machine.loginAccepted(attempt: attempt, now: link.now)
        link.lose(.disconnected(code: 3506, reason: "the token has expired", retryAfter: nil))
        expect(link.lastChange, .connecting, .failed, .serverReject, .tokenExpired)
        #expect(link.completions.map(\.code) == [.tokenExpired])
    }

    @Test(arguments: [
        (3500, LinkStateReason.kickedOutByServer), (3501, .kickedOutByServer), (3502, .kickedOutByServer),
        (3504, .serviceNotSupported), (3505, .loginRejected), (3506, .tokenExpired), (3507, .sameUidLogin),
        (3999, .kickedOutByServer),
    ])
    func `T13, T14: a terminal disconnect moves from connected to failed, for its reason`(
        code: Int, reason: LinkStateReason
    ) {
        var link = VirtualLink()
        link.login()
        link.lose(.disconnected(code: code, reason: "no", retryAfter: nil))
        expect(link.lastChange, .connected, .failed, .serverReject, reason)
        #expect(link.lastChange?.listsChannels == true)
        #expect(link.machine.deadline == nil)
        #expect(link.others.last == .forgetSubscriptions)
    }

    @Test(arguments: [
        (3504, ErrorCode.serviceNotSupport), (3505, .loginRejected), (3506, .tokenExpired),
        (3507, .loginAborted),
    ])
    func `T3: a login that ends with a disconnect names the reason`(code: Int, error: ErrorCode) {
        var link = VirtualLink { _, _ in .silent }
        link.login()
        link.lose(.disconnected(code: code, reason: "no", retryAfter: nil))
        #expect(link.state == .failed)
        #expect(link.completions.map(\.code) == [error])
    }

    @Test func `A disconnect code of the lower band is retried, not before the time that the server sent`() {
        var link = VirtualLink()
        link.login()
        link.lose(.disconnected(code: 3003, reason: "too many", retryAfter: .seconds(7)))
        #expect(link.state == .disconnected)
        link.advance(to: .milliseconds(6999))
        #expect(link.attempts.count == 1)
        link.advance(to: .seconds(7))
        #expect(link.state == .connected)
    }

    @Test func `T15: a login moves from failed to connecting`() {
        var link = VirtualLink { _, _ in .refused(RTMError(.invalidToken, "no")) }
        link.login()
        link.reach = { _, _ in .silent }
        link.login(2, token: "better")
        expect(link.lastChange, .failed, .connecting, .login, .relogin)
        #expect(link.machine.token == "better")
    }

    @Test(arguments: [LinkState.connecting, .connected, .disconnected, .suspended, .failed])
    func `T16: a logout moves to idle from everywhere`(from: LinkState) {
        var link = VirtualLink.inState(from)
        #expect(link.state == from)
        link.logout()
        expect(link.lastChange, from, .idle, .logout, .logout)
        #expect(link.lastChange?.listsChannels == false)
        #expect(link.machine.deadline == nil)
        #expect(link.others.contains(.forgetSubscriptions))
        #expect(link.others.contains(.sendLogout) == (from == .connected))
    }

    @Test func `T17: reconnectTimeout moves to failed`() {
        var link = VirtualLink(.exact(reconnectTimeout: .seconds(15))) { at, _ in
            at == .zero ? .accepted : .unreachable
        }
        link.login()
        link.lose()
        link.advance(to: .seconds(15))
        expect(link.lastChange, .disconnected, .failed, .autoReconnect, .reconnectTimeout)
    }

    @Test func `T17: reconnectTimeout during the first login completes it`() {
        var link = VirtualLink(.exact(reconnectTimeout: .seconds(300))) { _, _ in .unreachable }
        link.login()
        link.advance(to: .seconds(299))
        #expect(link.state == .suspended)
        #expect(link.completions.isEmpty)
        link.advance(to: .seconds(300))
        #expect(link.lastChange?.current == .failed)
        #expect(link.lastChange?.reasonCode == .loginTimeout)
        #expect(link.completions.map(\.code) == [.loginTimeout])
    }

    @Test func `S-6: a second login completes the first with loginCanceled`() {
        var link = VirtualLink { _, _ in .silent }
        link.login(1)
        link.reach = { _, _ in .accepted }
        link.login(2)
        #expect(link.completions.map(\.login) == [1, 2])
        #expect(link.completions.map(\.code) == [.loginCanceled, nil])
        #expect(link.states == [.connecting, .connected])
    }

    @Test func `S-6: a logout completes a pending login with loginCanceled`() {
        var link = VirtualLink { _, _ in .silent }
        link.login()
        link.logout()
        #expect(link.completions.map(\.code) == [.loginCanceled])
    }

    @Test func `S-7: a login while connected re-authenticates without a link event`() {
        var link = VirtualLink()
        link.login(1, token: "old")
        let changes = link.changes.count
        link.login(2, token: "old")
        #expect(link.completions.map(\.login) == [1, 2])
        link.login(3, token: "new")
        #expect(link.others.last == .reauthenticate(login: 3, token: "new"))
        #expect(link.changes.count == changes)
    }

    @Test func `Reports of an earlier attempt change nothing`() {
        var link = VirtualLink { _, _ in .silent }
        link.login(1)
        link.login(2)
        let changes = link.changes.count
        var random = SeededGenerator(seed: 1)
        let late = link.machine.connectionEnded(
            attempt: 1, .connectionError("late"), now: link.now, random: &random)
        #expect(late.isEmpty)
        #expect(link.machine.restored(attempt: 1, unrestoredChannels: [], now: link.now).isEmpty)
        #expect(link.changes.count == changes)
    }

    @Test func `A cancelled first login leaves nothing running`() {
        var link = VirtualLink { _, _ in .unreachable }
        link.login(1)
        link.cancelLogin(1)
        #expect(link.state == .idle)
        #expect(link.completions.map(\.code) == [.cancelled])
        #expect(link.machine.deadline == nil)
    }

    @Test func `A cancelled login of a lost session leaves the session to its retries`() {
        var link = VirtualLink { at, _ in at == .zero ? .accepted : .unreachable }
        link.login(1)
        link.lose()
        link.advance(to: .seconds(1))
        link.login(2)
        link.cancelLogin(2)
        #expect(link.state == .disconnected)
        #expect(link.completions.map(\.code) == [nil, .cancelled])
    }
}

extension VirtualLink {
    /// A link that reached this state in the ordinary way.
    static func inState(_ state: LinkState) -> VirtualLink {
        var link = VirtualLink { at, _ in at == .zero && state != .connecting ? .accepted : .silent }
        if state == .idle { return link }
        link.login()
        switch state {
        case .disconnected: link.lose()
        case .suspended:
            link.lose()
            link.advance(to: .seconds(125))
        case .failed: link.lose(.disconnected(code: 3501, reason: "no", retryAfter: nil))
        default: break
        }
        return link
    }
}
