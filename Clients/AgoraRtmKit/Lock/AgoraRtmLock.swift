import RTMClient

/// The locks of channels: each has one holder at a time. Got by ``AgoraRtmClientKit/getLock()``.
public final class AgoraRtmLock: NSObject, Sendable {
    private let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    /// Creates a lock that nobody has yet. It stays until `removeLock` (K-2).
    ///
    /// - Parameters:
    ///   - channelType: `.message` or `.stream`.
    ///   - lockName: 1…64 characters (L-11).
    ///   - ttl: for how many seconds the lock stays with a holder who left the channel or lost the
    ///     connection: 10…300, clamped (L-40, K-11).
    ///   - completionBlock: errors are -14004 the lock exists, -14001 too many locks in the channel, and for
    ///     all calls about locks: -14005 bad lock name, -10008 bad channel name, -10019 bad channel type,
    ///     -14003 the same call for this lock is under way (K-7), -10002 not logged in, -10025 not connected,
    ///     -10021 too often, -14002 no answer in time, -14009 no lock service.
    @preconcurrency
    public func setLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, ttl: Int32,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("setLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.setLock(lockName, in: channelName, type: channelType, ttl: .seconds(ttl))
        }
    }

    /// See ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @discardableResult
    public func setLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, ttl: Int32
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("setLock", needs: .message) { client throws(RTMError) in
            try await client.setLock(lockName, in: channelName, type: channelType, ttl: .seconds(ttl))
        }
    }

    /// Becomes the holder of a lock; who has it already keeps it (K-4). It stays over losses of the link, for
    /// as long as its time to live lasts.
    ///
    /// - Parameters:
    ///   - retry: wait while another has it, until it is got or the channel is left (K-6).
    ///   - completionBlock: errors are -14007 another has it, -14008 there is no such lock, -14001 the
    ///     channel was left while waiting, or called too often; for the rest see
    ///     ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func acquireLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, retry: Bool,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("acquireLock", needs: .message, completionBlock) { client throws(RTMError) in
            _ = try await client.acquireLock(lockName, in: channelName, type: channelType, retry: retry)
        }
    }

    /// See ``acquireLock(channelName:channelType:lockName:retry:completion:)``.
    @discardableResult
    public func acquireLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, retry: Bool
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("acquireLock", needs: .message) { client throws(RTMError) in
            _ = try await client.acquireLock(lockName, in: channelName, type: channelType, retry: retry)
        }
    }

    /// Gives a lock back (K-8). Works also after the channel was left.
    ///
    /// - Parameter completionBlock: errors are -14006 this user doesn't hold it, -14008 there is no such
    ///   lock; for the rest see ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func releaseLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("releaseLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.releaseLock(lockName, in: channelName, type: channelType)
        }
    }

    /// See ``releaseLock(channelName:channelType:lockName:completion:)``.
    @discardableResult
    public func releaseLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("releaseLock", needs: .message) { client throws(RTMError) in
            try await client.releaseLock(lockName, in: channelName, type: channelType)
        }
    }

    /// Takes a lock from its holder (K-9).
    ///
    /// - Parameters:
    ///   - userId: the holder.
    ///   - completionBlock: errors are -14006 `userId` doesn't hold it, -14008 there is no such lock, -10006
    ///     bad user id; for the rest see ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func revokeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, userId: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("revokeLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.revokeLock(lockName, from: userId, in: channelName, type: channelType)
        }
    }

    /// See ``revokeLock(channelName:channelType:lockName:userId:completion:)``.
    @discardableResult
    public func revokeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, userId: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("revokeLock", needs: .message) { client throws(RTMError) in
            try await client.revokeLock(lockName, from: userId, in: channelName, type: channelType)
        }
    }

    /// Deletes a lock, also while somebody holds it (K-3).
    ///
    /// - Parameter completionBlock: errors are -14008 there is no such lock; for the rest see
    ///   ``setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func removeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("removeLock", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.removeLock(lockName, in: channelName, type: channelType)
        }
    }

    /// See ``removeLock(channelName:channelType:lockName:completion:)``.
    @discardableResult
    public func removeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("removeLock", needs: .message) { client throws(RTMError) in
            try await client.removeLock(lockName, in: channelName, type: channelType)
        }
    }

    /// All locks of a channel with their holders (K-10). No subscription is needed.
    ///
    /// - Parameter completionBlock: errors as for
    ///   ``setLock(channelName:channelType:lockName:ttl:completion:)``, but for -14003 to -14005.
    @preconcurrency
    public func getLocks(
        channelName: String, channelType: AgoraRtmChannelType,
        completion completionBlock: AgoraRtmGetLocksBlock? = nil
    ) {
        kit.begin("getLocks", needs: .message, completionBlock) { client throws(RTMError) in
            AgoraRtmGetLocksResponse(try await client.locks(of: channelName, type: channelType))
        }
    }

    /// See ``getLocks(channelName:channelType:completion:)``.
    @discardableResult
    public func getLocks(
        channelName: String, channelType: AgoraRtmChannelType
    ) async -> (AgoraRtmGetLocksResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getLocks", needs: .message) { client throws(RTMError) in
            AgoraRtmGetLocksResponse(try await client.locks(of: channelName, type: channelType))
        }
    }
}
