public import RTMModel

/// A lock of a channel.
public struct LockDetail: Sendable, Hashable {
    /// The name of the lock.
    public var name: String
    /// The user id of the owner, or `nil` if the lock is free.
    public var owner: String?
    /// How long the lock outlives its owner's presence: 10…300 s (L-40, K-11).
    public var ttl: Duration
    /// The fencing token of the latest acquisition. It grows with each acquisition and is 0 before the first.
    public var fencingToken: UInt64
    /// When this was so, in milliseconds since 1970 by the server's clock: the time of the event, or of the
    /// answer that listed the lock.
    public var timestampMilliseconds: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        name: String, owner: String? = nil, ttl: Duration = .seconds(10), fencingToken: UInt64 = 0,
        timestampMilliseconds: UInt64 = 0
    ) {
        self.name = name
        self.owner = owner
        self.ttl = ttl
        self.fencingToken = fencingToken
        self.timestampMilliseconds = timestampMilliseconds
    }
}

/// What became of locks of a channel (K-13…K-17).
public struct LockEvent: Sendable, Hashable {
    /// What happened to locks.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// All locks of the channel, when a subscription begins or is taken up again.
        case snapshot
        /// A lock was created.
        case set
        /// A lock was deleted.
        case removed
        /// A lock has a new owner, whom the detail names.
        case acquired
        /// A lock was released or revoked, or its time to live ran out. The detail names the former
        /// owner.
        case released
        /// Locks that this client had when it lost its connection belong to it no more (K-12). Other clients
        /// don't get this event.
        case expired
    }

    /// What happened.
    public var kind: Kind
    /// The type of the channel that has the locks.
    public var channelType: ChannelType
    /// The name of the channel that has the locks.
    public var channelName: String
    /// The locks that the event is about.
    public var locks: [LockDetail]
    /// Milliseconds since 1970 by the server's clock.
    public var timestampMilliseconds: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        kind: Kind, channelType: ChannelType, channelName: String, locks: [LockDetail],
        timestampMilliseconds: UInt64
    ) {
        self.kind = kind
        self.channelType = channelType
        self.channelName = channelName
        self.locks = locks
        self.timestampMilliseconds = timestampMilliseconds
    }
}
