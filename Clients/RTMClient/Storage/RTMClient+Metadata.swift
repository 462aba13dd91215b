public import RTMModel
import RTMProtocol

extension RTMClient {
    // MARK: Writing

    /// Creates items or overwrites them. Other items of the set stay as they are (D-2). All items are
    /// written, or none (D-7). No subscription is needed (D-15).
    ///
    /// ```swift
    /// let lobby = MetadataTarget.channel("lobby")
    /// let seen = try await client.metadata(of: lobby)
    /// do {
    ///     try await client.setMetadata(
    ///         [MetadataChange("price", "299")], of: lobby, options: .init(majorRevision:
    ///         seen.majorRevision))
    /// } catch RTMError.code(.storageOutdatedRevision) {
    ///     // Somebody was faster. Read again what there is now.
    /// } catch {
    ///     throw error
    /// }
    /// ```
    ///
    /// - Returns: the set's new major revision, which is also the revision of each written item.
    /// - Throws: `.storageOutdatedRevision` (-12014) if a compared revision isn't the present one, and then
    ///   `conflict` says which one and what it is; `.storageLockNotAcquired` (-12008) if this user doesn't
    ///   own the named lock, or the fencing token is not the newest. What can't be written at all throws:
    ///   `.invalidChannelName` (-10008) or `.invalidUserId` (-10006) for a bad name, `.invalidChannelType`
    ///   (-10019) if channels of this type have no metadata, `.storageInvalidMetadataItem` (-12003) without
    ///   items, `.storageInvalidKey` (-12009) or `.storageKeyLengthOverflow` (-12011) for a bad key,
    ///   `.storageValueLengthOverflow` (-12012) for a value over 16 KiB, `.storageMetadataLengthOverflow`
    ///   (-12006) for a set over 16 KiB, `.storageDuplicateKey` (-12013) if a key occurs twice,
    ///   `.storageInvalidRevision` (-12005) for a bad revision, `.storageInvalidLockName` (-12007) for a bad
    ///   lock name or the lock of a user, `.storageInvalidArgument` (-12004) for a fencing token without a
    ///   lock. Every write may throw: `.notLogin` (-10002) if not logged in, `.notConnected` (-10025) if not
    ///   connected, or if the connection was lost before the answer and nobody knows whether the items were
    ///   written; `.operationRateExceedLimitation` (-10021) if called too often, `.storageOperationTimeout`
    ///   (-12018) without an answer in time, `.storageNotAvailable` (-12019) without storage,
    ///   `.storagePermissionDenied` (-12020) without permission.
    @discardableResult
    public func setMetadata(
        _ items: [MetadataChange], of target: MetadataTarget, options: MetadataWriteOptions = .init()
    ) async throws(RTMError) -> Int64 {
        try await write(.set, items.map(MetadataWrite.Item.init), target, options)
    }

    /// Creates items or overwrites them. See ``setMetadata(_:of:options:)-([MetadataChange],_,_)``.
    @discardableResult
    public func setMetadata(
        _ items: KeyValuePairs<String, String>, of target: MetadataTarget,
        options: MetadataWriteOptions = .init()
    ) async throws(RTMError) -> Int64 {
        try await setMetadata(items.map { MetadataChange($0.key, $0.value) }, of: target, options: options)
    }

    /// Overwrites items that exist. If one doesn't exist, the call throws `.storageOutdatedRevision` (-12014)
    /// and writes nothing (D-3). See ``setMetadata(_:of:options:)-([MetadataChange],_,_)``, also for the
    /// other errors.
    @discardableResult
    public func updateMetadata(
        _ items: [MetadataChange], of target: MetadataTarget, options: MetadataWriteOptions = .init()
    ) async throws(RTMError) -> Int64 {
        try await write(.update, items.map(MetadataWrite.Item.init), target, options)
    }

    /// Overwrites items that exist. See ``updateMetadata(_:of:options:)-([MetadataChange],_,_)``.
    @discardableResult
    public func updateMetadata(
        _ items: KeyValuePairs<String, String>, of target: MetadataTarget,
        options: MetadataWriteOptions = .init()
    ) async throws(RTMError) -> Int64 {
        try await updateMetadata(items.map { MetadataChange($0.key, $0.value) }, of: target, options: options)
    }

    /// Removes items that exist. If one doesn't exist, the call throws `.storageOutdatedRevision` (-12014)
    /// and removes nothing (D-4). See ``setMetadata(_:of:options:)-([MetadataChange],_,_)``, also for the
    /// other errors.
    @discardableResult
    public func removeMetadata(
        _ keys: [MetadataKey], of target: MetadataTarget, options: MetadataWriteOptions = .init()
    ) async throws(RTMError) -> Int64 {
        let items = keys.map { MetadataWrite.Item(key: $0.key, revision: $0.revision) }
        return try await write(.remove, items, target, options)
    }

    /// Removes all items. If there are none, the call throws `.storageOutdatedRevision` (-12014) (D-4).
    @discardableResult
    public func removeAllMetadata(
        of target: MetadataTarget, options: MetadataWriteOptions = .init()
    ) async throws(RTMError) -> Int64 {
        try await write(.removeAll, [], target, options)
    }

    private func write(
        _ kind: MetadataWrite.Kind, _ items: [MetadataWrite.Item], _ target: MetadataTarget,
        _ options: MetadataWriteOptions
    ) async throws(RTMError) -> Int64 {
        let target = target.resolved(for: configuration.userID)
        let write = MetadataWrite(kind: kind, target: target, items: items, options: options)
        let size = configuration.contentSize
        try check(write.operation) { () throws(RTMError) in
            try write.check(size, author: configuration.userID)
        }
        return try await perform(write.operation) { link, completion in
            let sealed: MetadataWrite
            do throws(RTMError) {
                sealed = try link.encryption?.seal(write) ?? write
            } catch {
                return completion.fail(error)
            }
            link.requests.call(completion, .writeMetadata(sealed.request)) { body in
                guard case .metadataWritten(let answer) = body else { return nil }
                return answer.majorRevision
            }
        }
    }

    // MARK: Reading

    /// Reads the whole set, as it is after every write that was answered before (D-17, D-30). No subscription
    /// is needed. A set that was never written is empty.
    ///
    /// - Throws: `.invalidChannelName` (-10008) or `.invalidUserId` (-10006) for a bad name,
    ///   `.invalidChannelType` (-10019) if channels of this type have no metadata, `.notLogin` (-10002) if
    ///   not logged in, `.notConnected` (-10025) if not connected, `.operationRateExceedLimitation` (-10021)
    ///   if called too often, `.storageOperationTimeout` (-12018) without an answer in time,
    ///   `.storageNotAvailable` (-12019) without storage, `.storagePermissionDenied` (-12020) without
    ///   permission.
    public func metadata(of target: MetadataTarget) async throws(RTMError) -> RTMMetadata {
        let target = target.resolved(for: configuration.userID)
        let operation: Operation = target.channelType == .none ? .getUserMetadata : .getChannelMetadata
        try check(operation, target.check)
        var request = Rtm_Client_GetMetadata()
        request.channelType = Rtm_Client_ChannelType(target.channelType)
        request.target = target.name
        return try await perform(operation) { [request] link, completion in
            link.requests.call(completion, .getMetadata(request)) { [unowned link] body in
                guard case .metadata(let answer) = body else { return nil }
                let metadata = RTMMetadata(answer)
                return link.encryption?.open(metadata, of: target) ?? metadata
            }
        }
    }

    // MARK: Following a user

    /// Follows the metadata of a user. From now on ``RTMEvent/metadata(_:)`` shows them: at once as they are,
    /// then after each write (D-41, D-44). The user need not be online. Subscribing again brings another
    /// snapshot (D-46). The subscription survives losses of the link (S-19).
    ///
    /// For the metadata of channels, `subscribe` to the channel with the feature `.metadata`.
    ///
    /// - Parameter userID: an empty id means the client's own user.
    /// - Throws: `.invalidUserId` (-10006) for a bad user id, `.storageSubscribeUserExceedLimitation`
    ///   (-12017) for more than 100 users (L-38), `.duplicateOperation` (-10017) if another call for this
    ///   user is under way, `.notLogin` (-10002) if not logged in, `.notConnected` (-10025) if not connected,
    ///   `.operationRateExceedLimitation` (-10021) if called too often, `.storageOperationTimeout` (-12018)
    ///   without an answer in time, `.storageNotAvailable` (-12019) without storage.
    public func subscribeUserMetadata(_ userID: String) async throws(RTMError) {
        let target = MetadataTarget.user(userID).resolved(for: configuration.userID)
        try check(.subscribeUserMetadata, target.check)
        try await perform(.subscribeUserMetadata, of: .userMetadata(target.name)) { link, completion in
            link.followedUsers.follow(target.name, completion)
        }
    }

    /// Ends what `subscribeUserMetadata` began. This works without a connection too: then the subscription
    /// isn't restored (S-16).
    ///
    /// - Throws: `.invalidUserId` (-10006) for a bad user id, `.storageNotSubscribe` (-12015) if not
    ///   subscribed, `.notLogin` (-10002) if not logged in, `.storageOperationTimeout` (-12018) without an
    ///   answer in time.
    public func unsubscribeUserMetadata(_ userID: String) async throws(RTMError) {
        let target = MetadataTarget.user(userID).resolved(for: configuration.userID)
        try check(.unsubscribeUserMetadata, target.check)
        try await perform(.unsubscribeUserMetadata, of: .userMetadata(target.name)) { link, completion in
            link.followedUsers.unfollow(target.name, completion)
        }
    }
}

extension MetadataWrite.Item {
    init(_ change: MetadataChange) {
        self.init(key: change.key, value: change.value, revision: change.revision)
    }
}
