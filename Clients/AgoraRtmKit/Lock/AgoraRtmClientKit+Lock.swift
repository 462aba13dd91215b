// The calls about locks directly on the client, as earlier versions of the API had them.

extension AgoraRtmClientKit {
    /// See ``AgoraRtmLock/setLock(channelName:channelType:lockName:ttl:completion:)``.
    @preconcurrency
    public func setLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, ttl: Int32,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmLock(self).setLock(
            channelName: channelName, channelType: channelType, lockName: lockName, ttl: ttl,
            completion: completionBlock)
    }

    /// See ``AgoraRtmLock/setLock(channelName:channelType:lockName:ttl:completion:)``.
    @discardableResult
    public func setLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, ttl: Int32
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmLock(self).setLock(
            channelName: channelName, channelType: channelType, lockName: lockName, ttl: ttl)
    }

    /// See ``AgoraRtmLock/acquireLock(channelName:channelType:lockName:retry:completion:)``.
    @preconcurrency
    public func acquireLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, retry: Bool,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmLock(self).acquireLock(
            channelName: channelName, channelType: channelType, lockName: lockName, retry: retry,
            completion: completionBlock)
    }

    /// See ``AgoraRtmLock/acquireLock(channelName:channelType:lockName:retry:completion:)``.
    @discardableResult
    public func acquireLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, retry: Bool
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmLock(self).acquireLock(
            channelName: channelName, channelType: channelType, lockName: lockName, retry: retry)
    }

    /// See ``AgoraRtmLock/releaseLock(channelName:channelType:lockName:completion:)``.
    @preconcurrency
    public func releaseLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmLock(self).releaseLock(
            channelName: channelName, channelType: channelType, lockName: lockName,
            completion: completionBlock)
    }

    /// See ``AgoraRtmLock/releaseLock(channelName:channelType:lockName:completion:)``.
    @discardableResult
    public func releaseLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmLock(self).releaseLock(
            channelName: channelName, channelType: channelType, lockName: lockName)
    }

    /// See ``AgoraRtmLock/revokeLock(channelName:channelType:lockName:userId:completion:)``.
    @preconcurrency
    public func revokeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, userId: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmLock(self).revokeLock(
            channelName: channelName, channelType: channelType, lockName: lockName, userId: userId,
            completion: completionBlock)
    }

    /// See ``AgoraRtmLock/revokeLock(channelName:channelType:lockName:userId:completion:)``.
    @discardableResult
    public func revokeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String, userId: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmLock(self).revokeLock(
            channelName: channelName, channelType: channelType, lockName: lockName, userId: userId)
    }

    /// See ``AgoraRtmLock/removeLock(channelName:channelType:lockName:completion:)``.
    @preconcurrency
    public func removeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmLock(self).removeLock(
            channelName: channelName, channelType: channelType, lockName: lockName,
            completion: completionBlock)
    }

    /// See ``AgoraRtmLock/removeLock(channelName:channelType:lockName:completion:)``.
    @discardableResult
    public func removeLock(
        channelName: String, channelType: AgoraRtmChannelType, lockName: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmLock(self).removeLock(
            channelName: channelName, channelType: channelType, lockName: lockName)
    }

    /// See ``AgoraRtmLock/getLocks(channelName:channelType:completion:)``.
    @preconcurrency
    public func getLocks(
        channelName: String, channelType: AgoraRtmChannelType,
        completion completionBlock: AgoraRtmGetLocksBlock? = nil
    ) {
        AgoraRtmLock(self).getLocks(
            channelName: channelName, channelType: channelType, completion: completionBlock)
    }

    /// See ``AgoraRtmLock/getLocks(channelName:channelType:completion:)``.
    @discardableResult
    public func getLocks(
        channelName: String, channelType: AgoraRtmChannelType
    ) async -> (AgoraRtmGetLocksResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmLock(self).getLocks(channelName: channelName, channelType: channelType)
    }
}
