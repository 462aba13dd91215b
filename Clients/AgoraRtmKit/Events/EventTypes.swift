/// What a presence event tells.
public enum AgoraRtmPresenceEventType: Int, Sendable {
    case none = 0
    /// Everybody who is there; after subscribing, and again after a reconnect.
    case snapshot = 1
    /// What changed within one period; in big channels.
    case interval = 2
    case remoteJoinChannel = 3
    case remoteLeaveChannel = 4
    /// Somebody was lost for longer than its `presenceTimeout`.
    case remoteConnectionTimeout = 5
    case remoteStateChanged = 6
    /// Presence is not available for this subscription.
    case errorOutOfService = 7
}

/// Whose metadata an event tells of.
public enum AgoraRtmStorageType: Int, Sendable {
    case none = 0
    case user = 1
    case channel = 2
}

/// What a storage event tells.
public enum AgoraRtmStorageEventType: Int, Sendable {
    case none = 0
    /// The set as it is when a subscription begins.
    case snapshot = 1
    /// Reserved.
    case set = 2
    /// The set after any change.
    case update = 3
    /// Reserved.
    case remove = 4
}

/// What a lock event tells.
public enum AgoraRtmLockEventType: Int, Sendable {
    case none = 0
    case snapshot = 1
    case lockSet = 2
    case lockRemoved = 3
    case lockAcquired = 4
    /// Released, revoked, or its time to live ran out.
    case lockReleased = 5
    /// This client lost the lock while it was away.
    case lockExpired = 6
}

/// What a topic event tells.
public enum AgoraRtmTopicEventType: Int, Sendable {
    case none = 0
    case snapshot = 1
    case remoteJoinTopic = 2
    case remoteLeaveTopic = 3
}

/// What a token event tells.
public enum AgoraRtmTokenEventTokenType: Int, Sendable {
    case willExpire = 1
    case readPermissionRevoked = 2
}
