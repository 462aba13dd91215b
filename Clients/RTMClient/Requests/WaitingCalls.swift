import DequeModule
import RTMModel

/// Calls that were made while a lost session is being taken up again. They begin when the link is connected,
/// in their order. When the attempt fails, or after the request timeout, they begin nevertheless, and fail as
/// calls without a connection do (S-8, S-26).
final class WaitingCalls {
    /// Limit: calls that wait, beside those that give up again what others wait for. Beyond it a call fails
    /// at once as without a connection (S-8).
    static let callsMax = 1024

    /// What a call takes or gives up.
    enum Subject: Hashable {
        case channel(ChannelID)
        case userMetadata(String)
        case lock(LockKey)
    }

    private struct Call {
        let id: UInt64
        let subject: Subject?
        let deadline: LinkSession.Instant
        let start: () -> Void
        let cancel: () -> Void
    }

    private let session: LinkSession
    private var calls: Deque<Call> = []

    init(session: LinkSession) { self.session = session }

    /// When the oldest call has waited long enough.
    var deadline: LinkSession.Instant? { calls.first?.deadline }

    /// Begins the call now, or when the link is back.
    func start<Value>(_ completion: Completion<Value>, _ subject: Subject?, _ start: @escaping () -> Void) {
        guard session.machine.isComingBack, waits(completion.operation, subject) else { return start() }
        let deadline = session.now + session.configuration.requestTimeout
        calls.append(
            Call(
                id: completion.id, subject: subject, deadline: deadline, start: start,
                cancel: { completion.fail(.cancelled(completion.operation, outcome: .notDone)) }))
        session.wake(by: deadline)
    }

    /// Whether a call has to wait for the link. Those about the session itself and the outbox don't need it
    /// to be connected, and what is given up is given up without a connection, too (S-16). But an unsubscribe
    /// must not overtake the subscribe before it. While the path changes, nothing may overtake what is sent
    /// again.
    private func waits(_ operation: Operation, _ subject: Subject?) -> Bool {
        switch operation {
        case _ where session.isChangingPath:
            operation != .login && operation != .logout && operation != .outbox
                && calls.count < Self.callsMax
        case .login, .logout, .renewToken, .ping, .outbox: false
        case .unsubscribe, .leave, .unsubscribeUserMetadata, .releaseLock:
            calls.count < 2 * Self.callsMax && calls.contains { $0.subject == subject }
        default: calls.count < Self.callsMax
        }
    }

    /// The link is connected again, or the attempt has failed.
    func releaseAll() {
        let calls = calls
        self.calls = []
        for call in calls { call.start() }
    }

    func expire(now: LinkSession.Instant) {
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
