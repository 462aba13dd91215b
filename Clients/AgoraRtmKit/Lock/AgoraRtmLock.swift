import RTMClient

/// Creates, acquires and releases locks of channels. A lock has one owner at a time.
/// ``AgoraRtmClientKit/getLock()`` returns this object.
public final class AgoraRtmLock: NSObject, Sendable {
    private let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    /// Creates a lock without an owner. It stays until `removeLock` (K-2).
    ///
    /// - Parameters:
    ///   - channelType: `.message` or `.stream`.
    ///   - lockName: 1…64 characters (L-11).
    ///   - ttl: for how many seconds the lock stays with an owner who left the channel or lost the
    ///     connection: 10…300. A value outside becomes the nearest bound (L-40, K-11).
    ///   - completionBlock: gets `.lockAlreadyExist` (-14004), or `.lockOperationFailed` (-14001) if the
    ///     channel has too many locks. All calls about locks may get: `.lockInvalidName` (-14005),
    ///     `.invalidChannelName` (-10008), `.invalidChannelType` (-10019), `.lockOperationPerforming`
    ///     (-14003) if the same call for this lock is under way (K-7), `.notLogin` (-10002), `.notConnected`
    ///     (-10025), `.operationRateExceedLimitation` (-10021), `.lockOperationTimeout` (-14002),
    ///     `.lockNotAvailable` (-14009).
    @preconcurrency
    public func setLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, ttl: Int32,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("setLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.setLock(lockName, in: channelName, type: channelType.kind, ttl: .seconds(ttl))
        }
    }

    /// See ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @discardableResult
    public func setLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, ttl: Int32
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("setLock", needs: .message) { client throws(RTMError) in
            try await client.setLock(lockName, in: channelName, type: channelType.kind, ttl: .seconds(ttl))
        }
    }

    /// Becomes the owner of a lock; an owner keeps it (K-4). The lock survives losses of the link, as long as
    /// its time to live has not ended.
    ///
    /// - Parameters:
    ///   - retry: whether to wait while another user owns the lock, until this user gets it or leaves the
    ///     channel (K-6).
    ///   - completionBlock: gets `.lockAcquireFailed` (-14007) if another user owns the lock, `.lockNotExist`
    ///     (-14008), `.lockOperationFailed` (-14001) if the channel was left while waiting or calls come too
    ///     often, or an error of ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func acquireLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, retry: Bool,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("acquireLock", needs: .message, completionBlock) { client throws(RTMError) in
            _ = try await client.acquireLock(lockName, in: channelName, type: channelType.kind, waits: retry)
        }
    }

    /// See ``acquireLock(channelName:channelType:lockName:retry:completion:)``.
    @discardableResult
    public func acquireLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, retry: Bool
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("acquireLock", needs: .message) { client throws(RTMError) in
            _ = try await client.acquireLock(lockName, in: channelName, type: channelType.kind, waits: retry)
        }
    }

    /// Gives a lock back (K-8). This works even after the channel was left.
    ///
    /// - Parameter completionBlock: gets `.lockNotAcquired` (-14006) if this user doesn't own the lock,
    ///   `.lockNotExist` (-14008) if there is no such lock, or an error of
    ///   ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func releaseLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("releaseLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.releaseLock(lockName, in: channelName, type: channelType.kind)
        }
    }

    /// See ``releaseLock(channelName:channelType:lockName:completion:)``.
    @discardableResult
    public func releaseLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("releaseLock", needs: .message) { client throws(RTMError) in
            try await client.releaseLock(lockName, in: channelName, type: channelType.kind)
        }
    }

    /// Takes a lock from its owner (K-9).
    ///
    /// - Parameters:
    ///   - userId: the owner.
    ///   - completionBlock: gets `.lockNotAcquired` (-14006) if `userId` doesn't own the lock,
    ///     `.lockNotExist` (-14008), `.invalidUserId` (-10006), or an error of
    ///     ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func revokeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, userId: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("revokeLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.revokeLock(lockName, from: userId, in: channelName, type: channelType.kind)
        }
    }

    /// See ``revokeLock(channelName:channelType:lockName:userId:completion:)``.
    @discardableResult
    public func revokeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, userId: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("revokeLock", needs: .message) { client throws(RTMError) in
            try await client.revokeLock(lockName, from: userId, in: channelName, type: channelType.kind)
        }
    }

    /// Deletes a lock, even while somebody owns it (K-3).
    ///
    /// - Parameter completionBlock: gets `.lockNotExist` (-14008) if there is no such lock, or an error of
    ///   ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func removeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("removeLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.removeLock(lockName, in: channelName, type: channelType.kind)
        }
    }

    /// See ``removeLock(channelName:channelType:lockName:completion:)``.
    @discardableResult
    public func removeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("removeLock", needs: .message) { client throws(RTMError) in
            try await client.removeLock(lockName, in: channelName, type: channelType.kind)
        }
    }

    /// Lists all locks of a channel with their owners (K-10). No subscription is needed.
    ///
    /// - Parameter completionBlock: gets the errors of
    ///   ``setLock(channelName:channelType:lockName:ttl:completion:)``, except -14003 to -14005.
    @preconcurrency
    public func getLocks(
        channelName: String, channelType: AgoraRtmChannelType,
        completion completionBlock: AgoraRtmGetLocksBlock? = nil
    ) {
        kit.begin("getLocks", needs: .message, completionBlock) { client throws(RTMError) in
            AgoraRtmGetLocksResponse(try await client.locks(of: channelName, type: channelType.kind))
        }
    }

    /// See ``getLocks(channelName:channelType:completion:)``.
    @discardableResult
    public func getLocks(
        channelName: String, channelType: AgoraRtmChannelType
    ) async -> (AgoraRtmGetLocksResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getLocks", needs: .message) { client throws(RTMError) in
            AgoraRtmGetLocksResponse(try await client.locks(of: channelName, type: channelType.kind))
        }
    }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The locks of a channel.
public final class AgoraRtmGetLocksResponse: NSObject, @unchecked Sendable {
    /// The locks by name (K-10).
    public var lockDetailList: [AgoraRtmLockDetail] = []

    /// The same list, under the name that some samples use.
    public var locks: [AgoraRtmLockDetail] {
        get { lockDetailList }
        set { lockDetailList = newValue }
    }

    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmGetLocksBlock =
    @Sendable (_ response: AgoraRtmGetLocksResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
