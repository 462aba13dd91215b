import NIOCore
import RTMModel
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// What an edge does for locks: it remembers who waits in a queue, and reports to storage what becomes of the
/// sessions that use them (K-6, K-11).
final class LockRequests {
    /// Limit: ends of sessions that are remembered while storage is away. Beyond it storage finds out by
    /// itself, because those sessions are not among the ones that are reported again.
    private static let endsMax = 10_000

    private let storage: StorageClient
    private let sessions: Sessions
    private let metrics: EdgeMetrics
    /// The acquires that wait in a queue, by ticket.
    private var waits: [LockTicket: ForwardedCall] = [:]
    /// Sessions whose end has yet to be reported to a shard of storage.
    private var ends: [(shard: Int, caller: Caller)] = []

    init(storage: StorageClient, sessions: Sessions, metrics: EdgeMetrics) {
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

    // MARK: Waiting in a queue

    var waitCount: Int { waits.count }

    func wait(_ call: ForwardedCall, _ ticket: LockTicket) {
        // The end of the session is reported to storage, which ends the wait itself.
        guard !call.session.isEnded else { return }
        waits[ticket] = call
        call.session.locks?.tickets.insert(ticket)
        metrics.lockWaitsChanged(by: 1)
    }

    func granted(_ push: LockGrantedPush, in shard: Int) {
        guard let call = endWait(LockTicket(shard: shard, number: push.ticket)) else { return }
        if let error = push.error {
            refuse(call, error)
        } else {
            note(call, nil)
            call.answer(push.response, metrics)
        }
    }

    /// A session that has left the queue of a lock isn't its owner either.
    private func refuse(_ call: ForwardedCall, _ error: RTMError) {
        if let lock = call.lock { call.session.locks?.hasNot(lock) }
        call.refuse(error, metrics)
    }

    /// The queues that they were in are lost (K-6).
    private func endWaits(in shard: Int) {
        for ticket in waits.keys.filter({ $0.shard == shard }) {
            guard let call = endWait(ticket) else { continue }
            refuse(
                call,
                RTMError(
                    .lockOperationTimeout, "storage was lost while the session waited for the lock",
                    retryAfter: .seconds(1)))
        }
    }

    private func endWait(_ ticket: LockTicket) -> ForwardedCall? {
        guard let call = waits.removeValue(forKey: ticket) else { return nil }
        call.session.locks?.tickets.remove(ticket)
        call.session.locks?.endAcquire()
        metrics.lockWaitsChanged(by: -1)
        return call
    }

    // MARK: Reports to storage

    /// Only sessions that use locks are reported to storage.
    func report(of session: Session, _ change: SessionChange, _ channel: ChannelKey) {
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
        for shard in storage.session(push) where ends.count < Self.endsMax {
            ends.append((shard, session.caller))
        }
    }

    /// The shard has a leader that knows nothing: reports what became of the sessions meanwhile, and which
    /// ones are there.
    func storageIsUp(_ shard: Int) {
        for end in ends where end.shard == shard {
            storage.session(SessionPush(caller: end.caller, change: .ended, channel: nil), to: shard)
        }
        ends.removeAll { $0.shard == shard }
        for session in sessions.all {
            for channel in session.locks?.channels ?? [] where storage.shard(of: channel) == shard {
                let push = SessionPush(caller: session.caller, change: .entered, channel: channel)
                storage.session(push, to: shard)
            }
        }
    }

    func storageIsDown(_ shard: Int) { endWaits(in: shard) }
}

/// Names a wait for a lock. Each shard of storage counts its tickets by itself.
struct LockTicket: Hashable {
    let shard: Int
    let number: UInt64
}

/// A lock by its full name (K-1).
struct LockName: Hashable {
    let channel: ChannelKey
    let name: String
}

/// What an edge has to know of a session that uses locks, so that it can report to storage what becomes of it
/// (K-6, K-11).
struct SessionLocks {
    /// Limit: acquires of one session without an answer, waiting ones among them.
    static let acquiresMax = 64
    /// Limit: channels in which one session has locks at one time, or has asked for some.
    static let channelsMax = 1_000

    /// The names of locks that the session may own, or waits for. These channels and those of `entered` are
    /// the ones where storage, after it was away, has to learn again that the session is there.
    private var names: [ChannelKey: Set<String>] = [:]
    /// Channels that the session has subscribed to since it uses locks: locks that its user had before may be
    /// there.
    private var entered: Set<ChannelKey> = []
    /// Acquires without an answer.
    private(set) var acquires = 0
    /// The tickets of those acquires that wait in queue.
    var tickets: Set<LockTicket> = []

    var channels: Set<ChannelKey> { entered.union(names.keys) }

    mutating func beginAcquire(of lock: LockName?) throws(RTMError) {
        guard acquires < Self.acquiresMax else {
            throw RTMError(
                .lockOperationFailed,
                "\(Self.acquiresMax) acquires of this session are under way, which is the limit",
                limit: .init(name: "open acquires", value: UInt64(Self.acquiresMax)))
        }
        if let lock { try asked(for: lock) }
        acquires += 1
    }

    mutating func endAcquire() { acquires -= 1 }

    private mutating func asked(for lock: LockName) throws(RTMError) {
        guard names[lock.channel] != nil || names.count < Self.channelsMax else {
            throw RTMError(
                .lockOperationFailed,
                "this session has locks in \(Self.channelsMax) channels, which is the limit",
                limit: .init(name: "channels with locks", value: UInt64(Self.channelsMax)))
        }
        mayHave(lock)
    }

    /// Also when the session has just given the lock back: an answer that is under way may say otherwise.
    mutating func mayHave(_ lock: LockName) { names[lock.channel, default: []].insert(lock.name) }

    mutating func hasNot(_ lock: LockName) {
        names[lock.channel]?.remove(lock.name)
        if names[lock.channel]?.isEmpty == true { names[lock.channel] = nil }
    }

    mutating func entered(_ channel: ChannelKey) { entered.insert(channel) }

    /// The session doesn't hold its locks there any more by being there (K-11).
    mutating func left(_ channel: ChannelKey) {
        entered.remove(channel)
        names[channel] = nil
    }
}
