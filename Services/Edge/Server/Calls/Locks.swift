import NIOCore
import RTMModel
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// What an edge does for locks: it remembers who waits in line, and tells storage what becomes of the
/// sessions that use them (K-6, K-11).
final class Locks {
    /// Limit: ends of sessions that are remembered while storage is away. Beyond it storage finds out by
    /// itself, because those sessions are not among the ones that it is told again.
    private static let endsMax = 10_000

    private let storage: StorageClient<ServiceEvents>
    private let sessions: Sessions
    private let metrics: EdgeMetrics
    /// The acquires that wait in line, by ticket.
    private var waits: [UInt64: ForwardedCall] = [:]
    /// Sessions whose end storage has yet to hear of.
    private var ends: [Caller] = []

    init(storage: StorageClient<ServiceEvents>, sessions: Sessions, metrics: EdgeMetrics) {
        self.storage = storage
        self.sessions = sessions
        self.metrics = metrics
    }

    // MARK: Calls

    /// - Returns: the lock that an acquire or a release is about; nil for other calls, and for what storage
    ///   will refuse.
    func begin(_ call: ClientCall, of session: Session) throws(RTMError) -> LockName? {
        guard call.kind == .acquireLock || call.kind == .releaseLock else { return nil }
        let lock = Self.name(in: call, of: session)
        guard call.kind == .acquireLock else { return lock }
        var locks = session.locks ?? SessionLocks()
        try locks.beginAcquire(of: lock)
        session.locks = locks
        return lock
    }

    private static func name(in call: ClientCall, of session: Session) -> LockName? {
        guard case .lock(let request) = try? StorageRequest(scanning: call.request.bytes),
            let channelType = request.place.channelType
        else { return nil }
        return LockName(
            channel: ChannelKey(appID: session.appID, type: channelType, name: request.place.channel),
            name: request.name)
    }

    func answered(_ call: ForwardedCall, refusal: RTMError?) {
        if call.kind == .acquireLock { call.session.locks?.endAcquire() }
        note(call, refusal)
    }

    /// The answer says whose the lock is. After an answered release the lock isn't this session's.
    private func note(_ call: ForwardedCall, _ refusal: RTMError?) {
        guard let lock = call.lock else { return }
        switch (call.kind, refusal?.code) {
        case (.acquireLock, nil): call.session.locks?.mayHave(lock)
        case (.releaseLock, nil), (_, .lockNotExist), (_, .lockNotAcquired), (_, .lockAcquireFailed):
            call.session.locks?.hasNot(lock)
        default: break
        }
    }

    // MARK: Waiting in line

    var waitCount: Int { waits.count }

    func wait(_ call: ForwardedCall, _ ticket: UInt64) {
        // Storage has heard, or will hear, that the session is gone, and ends the wait itself.
        guard !call.session.isEnded else { return }
        waits[ticket] = call
        call.session.locks?.tickets.insert(ticket)
        metrics.lockWaitsChanged(by: 1)
    }

    func granted(_ push: LockGrantedPush) {
        guard let call = endWait(push.ticket) else { return }
        if let error = push.error {
            refuse(call, error)
        } else {
            note(call, nil)
            call.answer(push.response, metrics)
        }
    }

    /// A session that doesn't stand in line for a lock any more isn't its owner either.
    private func refuse(_ call: ForwardedCall, _ error: RTMError) {
        if let lock = call.lock { call.session.locks?.hasNot(lock) }
        call.refuse(error, metrics)
    }

    /// The line that they stood in is lost (K-6).
    private func endWaits() {
        for ticket in Array(waits.keys) {
            guard let call = endWait(ticket) else { continue }
            refuse(
                call,
                RTMError(
                    .lockOperationTimeout, "storage was lost while the session waited for the lock",
                    retryAfter: .seconds(1)))
        }
    }

    private func endWait(_ ticket: UInt64) -> ForwardedCall? {
        guard let call = waits.removeValue(forKey: ticket) else { return nil }
        call.session.locks?.tickets.remove(ticket)
        call.session.locks?.endAcquire()
        metrics.lockWaitsChanged(by: -1)
        return call
    }

    // MARK: Telling storage

    /// Storage hears only of sessions that use locks.
    func tell(of session: Session, _ change: SessionChange, _ channel: ChannelKey) {
        guard session.locks != nil else { return }
        switch change {
        case .left: session.locks?.left(channel)
        case .entered: session.locks?.entered(channel)
        case .ended: break
        }
        storage.session(SessionPush(caller: session.caller, change: change, channel: channel))
    }

    func ended(_ session: Session) {
        guard let locks = session.locks else { return }
        for ticket in locks.tickets { _ = endWait(ticket) }
        let push = SessionPush(caller: session.caller, change: .ended, channel: nil)
        if !storage.session(push), ends.count < Self.endsMax { ends.append(session.caller) }
    }

    /// After a loss of the link: storage hears what became of the sessions meanwhile, and which ones are
    /// there.
    func storageIsUp() {
        for caller in ends { storage.session(SessionPush(caller: caller, change: .ended, channel: nil)) }
        ends = []
        for session in sessions.all {
            for channel in session.locks?.channels ?? [] {
                storage.session(SessionPush(caller: session.caller, change: .entered, channel: channel))
            }
        }
    }

    func storageIsDown() { endWaits() }
}
