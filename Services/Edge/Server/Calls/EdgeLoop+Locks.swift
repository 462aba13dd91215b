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
    /// Limit: channels in which one session has locks at one time, or has asked for some.
    static let channelsMax = 1_000

    /// By name what it may have, or wait for. With `entered` these are the channels where, after storage was
    /// away, it is told again that the session is there.
    private var names: [ChannelKey: Set<String>] = [:]
    /// Subscribed since it uses locks: what its user had before may be there.
    private var entered: Set<ChannelKey> = []
    var acquires = 0
    /// Of those that wait.
    var tickets: Set<UInt64> = []

    var channels: Set<ChannelKey> { entered.union(names.keys) }

    mutating func asked(for lock: LockName) throws(RTMError) {
        guard names[lock.channel] != nil || names.count < Self.channelsMax else {
            throw RTMError(
                .lockOperationFailed,
                "this session has locks in \(Self.channelsMax) channels, which is the limit",
                limit: .init(name: "channels with locks", value: UInt64(Self.channelsMax)))
        }
        mayHave(lock)
    }

    /// Also when it was given back just before: an answer that is under way may say otherwise.
    mutating func mayHave(_ lock: LockName) { names[lock.channel, default: []].insert(lock.name) }

    mutating func hasNot(_ lock: LockName) {
        names[lock.channel]?.remove(lock.name)
        if names[lock.channel]?.isEmpty == true { names[lock.channel] = nil }
    }

    mutating func entered(_ channel: ChannelKey) { entered.insert(channel) }

    /// Its locks are no longer held by its being there (K-11).
    mutating func left(_ channel: ChannelKey) {
        entered.remove(channel)
        names[channel] = nil
    }
}

/// A lock by its full name (K-1).
final class LockName {
    let channel: ChannelKey
    let name: String

    init(channel: ChannelKey, name: String) {
        self.channel = channel
        self.name = name
    }
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
    /// Of an acquire or a release; nil for what storage will refuse.
    func lockName(of call: ClientCall, for session: Session) -> LockName? {
        guard case .lock(let request) = try? StorageRequest(scanning: call.request.bytes),
            let channelType = request.place.channelType
        else { return nil }
        return LockName(
            channel: ChannelKey(appID: session.appID, type: channelType, name: request.place.channel),
            name: request.name)
    }

    func beginAcquire(_ session: Session, _ lock: LockName?) throws(RTMError) {
        var locks = session.locks ?? SessionLocks()
        guard locks.acquires < SessionLocks.acquiresMax else {
            throw RTMError(
                .lockOperationFailed,
                "\(SessionLocks.acquiresMax) acquires of this session are under way, which is the limit",
                limit: .init(name: "open acquires", value: UInt64(SessionLocks.acquiresMax)))
        }
        if let lock { try locks.asked(for: lock) }
        locks.acquires += 1
        session.locks = locks
    }

    /// What the answer says about whose the lock is. A release that was answered is one of a lock that isn't
    /// this session's now.
    func noteLock(of call: ForwardedCall, refusal: RTMError?) {
        guard let lock = call.lock else { return }
        switch (call.kind, refusal?.code) {
        case (.acquireLock, nil): call.session.locks?.mayHave(lock)
        case (.releaseLock, nil), (_, .lockNotExist), (_, .lockNotAcquired), (_, .lockAcquireFailed):
            call.session.locks?.hasNot(lock)
        default: break
        }
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
        if let error = push.error {
            call.session.locks.hasNot(call.lock)
            refuse(call, error)
        } else {
            noteLock(of: call, refusal: nil)
            answer(call, push.response)
        }
    }

    /// The line that they stood in is lost (K-6).
    func endLockWaits() {
        for ticket in Array(lockWaits.calls.keys) {
            guard let call = endWait(ticket) else { continue }
            call.session.locks.hasNot(call.lock)
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
        case .left: session.locks?.left(key)
        case .entered: session.locks?.entered(key)
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
            for key in session.locks?.channels ?? [] {
                storage.session(SessionPush(caller: session.caller, change: .entered, channel: key))
            }
        }
    }
}

extension SessionLocks? {
    /// It doesn't stand in line for it any more, so it isn't the owner either.
    fileprivate mutating func hasNot(_ lock: LockName?) { if let lock { self?.hasNot(lock) } }
}
