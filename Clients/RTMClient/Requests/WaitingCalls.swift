import DequeModule
import RTMModel

/// Calls that were made while a lost session is being taken up again. They begin when the link is connected,
/// in their order. When the attempt fails, or after the request timeout, they begin nevertheless, and fail as
/// calls without a connection do (S-8, S-26).
final class WaitingCalls {
    /// Limit: calls that wait. Beyond it a call fails at once as without a connection (S-8).
    static let callsMax = 1024

    private struct Call {
        let id: UInt64
        let deadline: Link.Instant
        let start: () -> Void
        let cancel: () -> Void
    }

    private unowned let link: Link
    private var calls: Deque<Call> = []

    init(_ link: Link) { self.link = link }

    /// When the oldest call has waited long enough.
    var deadline: Link.Instant? { calls.first?.deadline }

    /// Begins the call now, or when the link is back.
    func start<Value>(_ completion: Completion<Value>, _ start: @escaping () -> Void) {
        guard link.machine.isComingBack, completion.operation.waitsForLink(behindOthers: !calls.isEmpty),
            calls.count < Self.callsMax
        else { return start() }
        let deadline = link.now + link.configuration.requestTimeout
        calls.append(
            Call(
                id: completion.id, deadline: deadline, start: start,
                cancel: { completion.fail(.cancelled(completion.operation)) }))
        link.armTimer(by: deadline)
    }

    /// The link is connected again, or the attempt has failed.
    func releaseAll() {
        let calls = calls
        self.calls = []
        for call in calls { call.start() }
    }

    func expire(now: Link.Instant) {
        while let call = calls.first, call.deadline <= now { calls.removeFirst().start() }
    }

    /// The task that waited for this call was cancelled.
    ///
    /// - Returns: whether there was such a call.
    func cancel(_ id: UInt64) -> Bool {
        guard let index = calls.firstIndex(where: { $0.id == id }) else { return false }
        calls.remove(at: index).cancel()
        return true
    }
}

extension Operation {
    /// Whether a call may wait for the link. Those about the session itself don't need it to be connected,
    /// and what is given up is given up without a connection, too (S-16). It must not overtake the call by
    /// which the app got it, though, so it waits behind calls that wait already.
    fileprivate func waitsForLink(behindOthers: Bool) -> Bool {
        switch self {
        case .login, .logout, .renewToken, .ping: false
        case .unsubscribe, .unsubscribeUserMetadata, .releaseLock: behindOthers
        default: true
        }
    }
}
