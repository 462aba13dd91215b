import NIOCore
import RTMModel
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// What an edge has to do for locks: it remembers who waits in line, and tells storage what becomes of the
/// sessions that use them (K-6, K-11).
struct SessionLocks {
    /// Limit: acquires of one session without an answer, waiting ones among them.
    static let acquiresMax = 64
    /// Limit: channels in which one session uses locks.
    static let channelsMax = 1_000

    /// Where it has asked for a lock, or come back to: storage is told again after it was away that the
    /// session is there.
    var channels: Set<ChannelKey> = []
    var acquires = 0
    /// Of those that wait.
    var tickets: Set<UInt64> = []
}

/// Who waits for a lock, by ticket; and whose end storage has yet to hear of.
struct LockWaits {
    /// Limit: ends remembered while storage is away. Beyond it storage finds out by itself, because those
    /// sessions are not among the ones that it is told again.
    static let endsMax = 10_000

    var calls: [UInt64: EdgeLoop.ForwardedCall] = [:]
    var ends: [Caller] = []
}

extension EdgeLoop {
    func beginAcquire(_ session: Session, _ call: ClientCall) throws(RTMError) {
        var locks = session.locks ?? SessionLocks()
        guard locks.acquires < SessionLocks.acquiresMax else {
            throw RTMError(
                .lockOperationFailed,
                "\(SessionLocks.acquiresMax) acquires of this session are under way, which is the limit",
                limit: .init(name: "open acquires", value: UInt64(SessionLocks.acquiresMax)))
        }
        let key = ChannelKey(
            appID: session.appID, type: call.channelType ?? .none, name: call.target.string)
        guard locks.channels.contains(key) || locks.channels.count < SessionLocks.channelsMax else {
            throw RTMError(
                .lockOperationFailed,
                "this session uses locks in \(SessionLocks.channelsMax) channels, which is the limit",
                limit: .init(name: "channels with locks", value: UInt64(SessionLocks.channelsMax)))
        }
        locks.channels.insert(key)
        locks.acquires += 1
        session.locks = locks
    }

    // MARK: Waiting in line

    func wait(_ call: ForwardedCall, _ ticket: UInt64) {
        // Storage has heard, or will, that the session is gone, and ends the wait itself.
        guard !call.session.isEnded else { return }
        lockWaits.calls[ticket] = call
        call.session.locks?.tickets.insert(ticket)
        metrics.lockWaitsChanged(by: 1)
    }

    func storageGranted(_ push: LockGrantedPush) {
        guard let call = endWait(push.ticket) else { return }
        if let error = push.error { refuse(call, error) } else { answer(call, push.response) }
    }

    /// The line that they stood in is lost (K-6).
    func endLockWaits() {
        for ticket in Array(lockWaits.calls.keys) {
            guard let call = endWait(ticket) else { continue }
            refuse(
                call,
                RTMError(
                    .lockOperationTimeout, "storage was lost while the session waited for the lock",
                    retryAfter: .seconds(1)))
        }
    }

    private func endWait(_ ticket: UInt64) -> ForwardedCall? {
        guard let call = lockWaits.calls.removeValue(forKey: ticket) else { return nil }
        call.session.locks?.tickets.remove(ticket)
        call.session.locks?.acquires -= 1
        metrics.lockWaitsChanged(by: -1)
        return call
    }

    // MARK: Telling storage

    /// Only of sessions that use locks.
    func tellLocks(of session: Session, _ change: SessionChange, _ key: ChannelKey) {
        guard session.locks != nil else { return }
        switch change {
        case .left: session.locks?.channels.remove(key)
        case .entered:
            if session.locks?.channels.count ?? 0 < SessionLocks.channelsMax {
                session.locks?.channels.insert(key)
            }
        case .ended: break
        }
        storage.session(SessionPush(caller: session.caller, change: change, channel: key))
    }

    func endLocks(of session: Session) {
        guard let locks = session.locks else { return }
        for ticket in locks.tickets { _ = endWait(ticket) }
        let push = SessionPush(caller: session.caller, change: .ended, channel: nil)
        if !storage.session(push), lockWaits.ends.count < LockWaits.endsMax {
            lockWaits.ends.append(session.caller)
        }
    }

    /// After a loss of the link: what became of the sessions meanwhile, and which ones are there.
    func tellLocksAgain() {
        for caller in lockWaits.ends {
            storage.session(SessionPush(caller: caller, change: .ended, channel: nil))
        }
        lockWaits.ends = []
        for session in sessions.values {
            for key in session.locks?.channels ?? [] { tellLocks(of: session, .entered, key) }
        }
    }
}
