import RTMModel

/// A lock by its full name (K-1).
struct LockName: Hashable {
    let channel: ChannelKey
    let name: String
}

/// What an edge has to know of a session that uses locks, so that storage hears what becomes of it (K-6,
/// K-11).
struct SessionLocks {
    /// Limit: acquires of one session without an answer, waiting ones among them.
    static let acquiresMax = 64
    /// Limit: channels in which one session has locks at one time, or has asked for some.
    static let channelsMax = 1_000

    /// The names of locks that the session may own, or waits for. These channels and those of `entered` are
    /// the ones where storage, after it was away, is told again that the session is there.
    private var names: [ChannelKey: Set<String>] = [:]
    /// Channels that the session has subscribed to since it uses locks: locks that its user had before may be
    /// there.
    private var entered: Set<ChannelKey> = []
    /// Acquires without an answer.
    private(set) var acquires = 0
    /// The tickets of those acquires that wait in line.
    var tickets: Set<UInt64> = []

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
