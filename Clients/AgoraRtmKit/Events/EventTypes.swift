/// What a presence event reports.
public enum AgoraRtmPresenceEventType: Int, Sendable {
    case none = 0
    /// All users in the channel; sent after subscribing, and again after a reconnect.
    case snapshot = 1
    /// The changes within one period, in big channels.
    case interval = 2
    case remoteJoinChannel = 3
    case remoteLeaveChannel = 4
    /// A user was lost for longer than its `presenceTimeout`.
    case remoteConnectionTimeout = 5
    case remoteStateChanged = 6
    /// Presence is not available for this subscription.
    case errorOutOfService = 7
}

/// Whose metadata an event is about.
public enum AgoraRtmStorageType: Int, Sendable {
    case none = 0
    case user = 1
    case channel = 2
}

/// What a storage event reports.
public enum AgoraRtmStorageEventType: Int, Sendable {
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
    case none = 0
    case snapshot = 1
    case lockSet = 2
    case lockRemoved = 3
    case lockAcquired = 4
    /// The lock was released or revoked, or its time to live has ended.
    case lockReleased = 5
    /// This client lost the lock while it was away.
    case lockExpired = 6
}

/// What a topic event reports.
public enum AgoraRtmTopicEventType: Int, Sendable {
    case none = 0
    case snapshot = 1
    case remoteJoinTopic = 2
    case remoteLeaveTopic = 3
}

/// What a token event reports.
public enum AgoraRtmTokenEventTokenType: Int, Sendable {
    case willExpire = 1
    /// A token that came with a return to the servers doesn't allow what was subscribed.
    case readPermissionRevoked = 2
}
