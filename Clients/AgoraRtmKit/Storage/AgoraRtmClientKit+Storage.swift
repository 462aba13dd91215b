// The calls about metadata directly on the client, as earlier versions of the API had them.

extension AgoraRtmClientKit {
    /// See ``AgoraRtmStorage/setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @preconcurrency
    public func setChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).setChannelMetadata(
            channelName: channelName, channelType: channelType, data: data, options: options, lock: lock,
            completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func setChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).setChannelMetadata(
            channelName: channelName, channelType: channelType, data: data, options: options, lock: lock)
    }

    /// See ``AgoraRtmStorage/updateChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @preconcurrency
    public func updateChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).updateChannelMetadata(
            channelName: channelName, channelType: channelType, data: data, options: options, lock: lock,
            completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/updateChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func updateChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).updateChannelMetadata(
            channelName: channelName, channelType: channelType, data: data, options: options, lock: lock)
    }

    /// See ``AgoraRtmStorage/removeChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @preconcurrency
    public func removeChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).removeChannelMetadata(
            channelName: channelName, channelType: channelType, data: data, options: options, lock: lock,
            completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/removeChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func removeChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).removeChannelMetadata(
            channelName: channelName, channelType: channelType, data: data, options: options, lock: lock)
    }

    /// See ``AgoraRtmStorage/getChannelMetadata(channelName:channelType:completion:)``.
    @preconcurrency
    public func getChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType,
        completion completionBlock: AgoraRtmGetMetadataBlock? = nil
    ) {
        AgoraRtmStorage(self).getChannelMetadata(
            channelName: channelName, channelType: channelType, completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/getChannelMetadata(channelName:channelType:completion:)``.
    @discardableResult
    public func getChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType
    ) async -> (AgoraRtmGetMetadataResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).getChannelMetadata(
            channelName: channelName, channelType: channelType)
    }

    /// See ``AgoraRtmStorage/setUserMetadata(userId:data:options:completion:)``.
    @preconcurrency
    public func setUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).setUserMetadata(
            userId: userId, data: data, options: options, completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/setUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func setUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).setUserMetadata(userId: userId, data: data, options: options)
    }

    /// See ``AgoraRtmStorage/updateUserMetadata(userId:data:options:completion:)``.
    @preconcurrency
    public func updateUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).updateUserMetadata(
            userId: userId, data: data, options: options, completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/updateUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func updateUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).updateUserMetadata(userId: userId, data: data, options: options)
    }

    /// See ``AgoraRtmStorage/removeUserMetadata(userId:data:options:completion:)``.
    @preconcurrency
    public func removeUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).removeUserMetadata(
            userId: userId, data: data, options: options, completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/removeUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func removeUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).removeUserMetadata(userId: userId, data: data, options: options)
    }

    /// See ``AgoraRtmStorage/getUserMetadata(userId:completion:)``.
    @preconcurrency
    public func getUserMetadata(
        userId: String, completion completionBlock: AgoraRtmGetMetadataBlock? = nil
    ) {
        AgoraRtmStorage(self).getUserMetadata(
            userId: userId, completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/getUserMetadata(userId:completion:)``.
    @discardableResult
    public func getUserMetadata(
        userId: String
    ) async -> (AgoraRtmGetMetadataResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).getUserMetadata(userId: userId)
    }

    /// See ``AgoraRtmStorage/subscribeUserMetadata(userId:completion:)``.
    @preconcurrency
    public func subscribeUserMetadata(
        userId: String, completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).subscribeUserMetadata(
            userId: userId, completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/subscribeUserMetadata(userId:completion:)``.
    @discardableResult
    public func subscribeUserMetadata(
        userId: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).subscribeUserMetadata(userId: userId)
    }

    /// See ``AgoraRtmStorage/unsubscribeUserMetadata(userId:completion:)``.
    @preconcurrency
    public func unsubscribeUserMetadata(
        userId: String, completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        AgoraRtmStorage(self).unsubscribeUserMetadata(
            userId: userId, completion: completionBlock)
    }

    /// See ``AgoraRtmStorage/unsubscribeUserMetadata(userId:completion:)``.
    @discardableResult
    public func unsubscribeUserMetadata(
        userId: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await AgoraRtmStorage(self).unsubscribeUserMetadata(userId: userId)
    }
}
