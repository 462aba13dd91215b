public import RTMModel
import RTMProtocol

extension RTMClient {
    // MARK: Writing

    /// Creates items or overwrites them; other items of the set stay as they are (D-2). All items are
    /// written, or none (D-7). No subscription is needed (D-15).
    ///
    /// ```swift
    /// let lobby = MetadataTarget.channel("lobby")
    /// let seen = try await client.metadata(of: lobby)
    /// do {
    ///     try await client.setMetadata(
    ///         [MetadataChange("price", "299")], of: lobby, options: .init(majorRevision:
    ///         seen.majorRevision))
    /// } catch where error.conflict != nil {
    ///     // Somebody was faster: the conflict says what there is now.
    /// }
    /// ```
    ///
    /// - Returns: the set's new major revision, which is also the revision of each written item.
    /// - Throws: -12014 a compared revision isn't the present one: `conflict` says which and what it is;
    ///   -12008 the named lock isn't this user's, or its fencing token is not the newest; and for what can't
    ///   be written at all: -10008 or -10006 bad name, -10019 no such channel type, -12003 no items, -12009
    ///   or -12011 bad key, -12012 value over 16 KiB, -12006 set over 16 KiB, -12013 a key twice, -12005 bad
    ///   revision, -12007 bad lock name, or one of a user; -12004 a token without lock. Besides -10002 not
    ///   logged in, -10025 not connected, or lost before the answer, when it isn't known whether it was
    ///   written; -10021 too often, -12018 no answer in time, -12019 no storage, -12020 no permission.
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

    /// Overwrites items that exist; if one doesn't it is an error (-12014), and nothing is written (D-3). See
    /// ``setMetadata(_:of:options:)-([MetadataChange],_,_)``, also for the other errors.
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

    /// Removes items that exist; if one doesn't it is an error (-12014), and nothing is removed (D-4). See
    /// ``setMetadata(_:of:options:)-([MetadataChange],_,_)``, also for the other errors.
    @discardableResult
    public func removeMetadata(
        _ keys: [MetadataKey], of target: MetadataTarget, options: MetadataWriteOptions = .init()
    ) async throws(RTMError) -> Int64 {
        let items = keys.map { MetadataWrite.Item(key: $0.key, revision: $0.revision) }
        return try await write(.remove, items, target, options)
    }

    /// Removes all items. It is an error (-12014) if there are none (D-4).
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
        try check(write.operation, write.check)
        return try await call(write.operation, .writeMetadata(write.request)) { body in
            guard case .metadataWritten(let answer) = body else { return nil }
            return answer.majorRevision
        }
    }

    // MARK: Reading

    /// The whole set, as it is after every write that was answered before (D-17, D-30). No subscription is
    /// needed. A set that was never written is empty.
    ///
    /// - Throws: -10008 or -10006 bad name, -10019 no such channel type, -10002 not logged in, -10025 not
    ///   connected, -10021 too often, -12018 no answer in time, -12019 no storage, -12020 no permission.
    public func metadata(of target: MetadataTarget) async throws(RTMError) -> Metadata {
        let target = target.resolved(for: configuration.userID)
        let operation: Operation = target.channelType == .none ? .getUserMetadata : .getChannelMetadata
        try check(operation, target.check)
        var request = Rtm_Client_GetMetadata()
        request.channelType = Rtm_Client_ChannelType(target.channelType)
        request.target = target.name
        return try await call(operation, .getMetadata(request)) { body in
            guard case .metadata(let metadata) = body else { return nil }
            return Metadata(metadata)
        }
    }

    // MARK: Following a user

    /// From now on ``RTMEvent/storage(_:)`` tells the metadata of this user: at once what there is, then the
    /// set after each write (D-41, D-44). The user need not be online. Doing it again brings another snapshot
    /// (D-46). The subscription survives losses of the link (S-19).
    ///
    /// For the metadata of channels, `subscribe` to the channel with the feature `.metadata`.
    ///
    /// - Parameter userID: empty means the client's own user.
    /// - Throws: -10006 bad user id, -12017 more than 100 users (L-38), -10017 another call for this user is
    ///   under way, -10002 not logged in, -10025 not connected, -10021 too often, -12018 no answer in time,
    ///   -12019 no storage.
    public func subscribeUserMetadata(_ userID: String) async throws(RTMError) {
        let target = MetadataTarget.user(userID).resolved(for: configuration.userID)
        try check(.subscribeUserMetadata, target.check)
        try await perform(.subscribeUserMetadata) { link, completion in
            link.followedUsers.follow(target.name, completion)
        }
    }

    /// Ends what `subscribeUserMetadata` began. Works without a connection too: then the subscription isn't
    /// restored (S-16).
    ///
    /// - Throws: -10006 bad user id, -12015 not subscribed, -10002 not logged in, -12018 no answer in time.
    public func unsubscribeUserMetadata(_ userID: String) async throws(RTMError) {
        let target = MetadataTarget.user(userID).resolved(for: configuration.userID)
        try check(.unsubscribeUserMetadata, target.check)
        try await perform(.unsubscribeUserMetadata) { link, completion in
            link.followedUsers.unfollow(target.name, completion)
        }
    }
}

extension MetadataWrite.Item {
    init(_ change: MetadataChange) {
        self.init(key: change.key, value: change.value, revision: change.revision)
    }
}
