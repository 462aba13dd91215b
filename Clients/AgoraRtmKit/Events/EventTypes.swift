/// What a presence event reports.
public enum AgoraRtmPresenceEventType: Int, Sendable {
    /// The default; no event has it.
    case none = 0
    /// All users in the channel; sent after subscribing, and again after a reconnect.
    case snapshot = 1
    /// The changes within one period, in big channels.
    case interval = 2
    /// A user joined.
    case remoteJoinChannel = 3
    /// A user left.
    case remoteLeaveChannel = 4
    /// A user was lost for longer than its `presenceTimeout`.
    case remoteConnectionTimeout = 5
    /// A user's states changed, one event for each call (P-9).
    case remoteStateChanged = 6
    /// Presence is not available for this subscription.
    case errorOutOfService = 7
}

/// Whose metadata an event is about.
public enum AgoraRtmStorageType: Int, Sendable {
    /// The default; no event has it.
    case none = 0
    /// Metadata of a user.
    case user = 1
    /// Metadata of a channel.
    case channel = 2
}

/// What a storage event reports.
public enum AgoraRtmStorageEventType: Int, Sendable {
    /// The default; no event has it.
    case none = 0
    /// The set as it is when a subscription begins.
    case snapshot = 1
    /// Reserved; never sent.
    case set = 2
    /// The set after any change.
    case update = 3
    /// Reserved; never sent.
    case remove = 4
}

/// What a lock event reports.
public enum AgoraRtmLockEventType: Int, Sendable {
    /// The default; no event has it.
    case none = 0
    /// All locks, when a subscription begins or is restored.
    case snapshot = 1
    /// A lock was created.
    case lockSet = 2
    /// A lock was removed.
    case lockRemoved = 3
    /// A lock has an owner.
    case lockAcquired = 4
    /// The lock was released or revoked, or its time to live has ended.
    case lockReleased = 5
    /// This client lost the lock while it was away.
    case lockExpired = 6
}

/// What a topic event reports.
public enum AgoraRtmTopicEventType: Int, Sendable {
    /// The default; no event has it.
    case none = 0
    /// All topics, after a join.
    case snapshot = 1
    /// Somebody else publishes a topic.
    case remoteJoinTopic = 2
    /// Somebody else publishes it no more.
    case remoteLeaveTopic = 3
}

/// What a token event reports.
public enum AgoraRtmTokenEventTokenType: Int, Sendable {
    /// A token expires within 30 seconds (S-50).
    case willExpire = 1
    /// A token that came with a return to the servers doesn't allow what was subscribed.
    case readPermissionRevoked = 2
}
