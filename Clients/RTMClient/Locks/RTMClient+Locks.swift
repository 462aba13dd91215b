public import RTMModel
import RTMProtocol

extension RTMClient {
    /// Creates a lock that nobody owns yet. It stays until `removeLock` (K-2).
    ///
    /// - Parameters:
    ///   - name: 1…64 bytes of printable ASCII (L-11), unique within the channel. A channel has at most 32
    ///     locks (L-39).
    ///   - type: `message` or `stream`.
    ///   - ttl: how long the lock stays with an owner who has left the channel or lost the connection. It is
    ///     clamped to 10…300 s (L-40). While the owner is there the time doesn't run (K-11).
    /// - Throws: `.lockAlreadyExist` (-14004) if the lock exists, `.lockOperationFailed` (-14001) if the
    ///   channel has too many locks. All calls about locks throw: `.lockInvalidName` (-14005) for a bad lock
    ///   name, `.invalidChannelName` (-10008) for a bad channel name, `.invalidChannelType` (-10019) if
    ///   channels of this type have no locks, `.lockOperationPerforming` (-14003) if the same call for this
    ///   lock is under way (K-7), `.notLogin` (-10002) if not logged in, `.notConnected` (-10025) if not
    ///   connected, or if the connection was lost before the answer and nobody knows what became of the call;
    ///   `.operationRateExceedLimitation` (-10021) if called too often, `.lockOperationTimeout` (-14002)
    ///   without an answer in time, `.lockNotAvailable` (-14009) without a lock service.
    public func setLock(
        _ name: String, in channel: String, type: ChannelType = .message, ttl: Duration = .seconds(10)
    ) async throws(RTMError) {
        _ = try await lockCall(.setLock, name, channel, type) { $0.creation(ttl: ttl) }
    }

    /// Deletes a lock, even while somebody has it. The owner loses it, and whoever waits for it gets
    /// `.lockNotExist` (-14008) (K-3).
    ///
    /// - Throws: `.lockNotExist` (-14008) if there is no such lock; for the rest see
    ///   ``setLock(_:in:type:ttl:)``.
    public func removeLock(
        _ name: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        _ = try await lockCall(.removeLock, name, channel, type) { $0.removal }
    }

    /// Becomes the lock's owner. An owner gets it again with the same token (K-4). The owner is the user, so
    /// that a lock excludes nobody within one user.
    ///
    /// The client keeps the lock over losses of the link, as long as its time to live lasts. If it was lost
    /// meanwhile, an event says so: ``LockEvent/Kind/expired`` (K-12).
    ///
    /// - Parameter waits: whether the call waits while another user has the lock, for as long as that takes,
    ///   even over losses of the link (K-6). Cancel the task to stop waiting.
    /// - Returns: the fencing token of this acquisition, which is greater than that of every earlier one.
    ///   Hand it to what the lock protects, and let that refuse smaller tokens. For metadata see
    ///   ``MetadataWriteOptions/fencingToken``.
    /// - Throws: `.lockAcquireFailed` (-14007) if another user has it, `.lockNotExist` (-14008) if there is
    ///   no such lock or it was removed while this call waited, `.lockOperationFailed` (-14001) if the app
    ///   left the channel or logged out while this call waited, or acquires too often,
    ///   `.lockOperationTimeout` (-14002) if the link was given up while this call waited; for the rest see
    ///   ``setLock(_:in:type:ttl:)``.
    public func acquireLock(
        _ name: String, in channel: String, type: ChannelType = .message, waits: Bool = false
    ) async throws(RTMError) -> UInt64 {
        try await lockCall(.acquireLock, name, channel, type) { $0.acquisition(waits: waits) }
    }

    /// Releases a lock. The next user who waits gets it (K-8). This works even after the channel was left.
    ///
    /// - Throws: `.lockNotAcquired` (-14006) if this user doesn't own it, `.lockNotExist` (-14008) if there
    ///   is no such lock; for the rest see ``setLock(_:in:type:ttl:)``. If the connection is lost before the
    ///   answer, the lock is released as soon as the link is back.
    public func releaseLock(
        _ name: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        _ = try await lockCall(.releaseLock, name, channel, type) { $0.release }
    }

    /// Takes a lock from its owner (K-9).
    ///
    /// - Parameter owner: the user who is to lose it.
    /// - Throws: `.lockNotAcquired` (-14006) if `owner` doesn't have it, `.lockNotExist` (-14008) if there is
    ///   no such lock, `.invalidUserId` (-10006) for a bad user id; for the rest see
    ///   ``setLock(_:in:type:ttl:)``.
    public func revokeLock(
        _ name: String, from owner: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        try check(.revokeLock) { () throws(RTMError) in try NameRule.user.check(owner.utf8) }
        _ = try await lockCall(.revokeLock, name, channel, type) { $0.revocation(from: owner) }
    }

    /// Reads all locks of a channel, by name, with their owners (K-10). No subscription is needed.
    ///
    /// - Throws: as ``setLock(_:in:type:ttl:)`` does, except `.lockOperationPerforming` (-14003) and
    ///   `.lockInvalidName` (-14005).
    public func locks(
        of channel: String, type: ChannelType = .message
    ) async throws(RTMError) -> [LockDetail] {
        try check(.getLocks) { () throws(RTMError) in
            try type.checkHasStorage()
            try NameRule.channel.check(channel.utf8)
        }
        var request = Rtm_Client_GetLocks()
        request.channelType = Rtm_Client_ChannelType(type)
        request.channel = channel
        let body = ClientBody.getLocks(request)
        return try await perform(.getLocks) { link, completion in
            link.requests.call(completion, body) { [unowned link] body in
                guard case .locks(let locks) = body else { return nil }
                return locks.locks.map { LockDetail($0, at: link.clock.milliseconds) }
            }
        }
    }

    private func lockCall(
        _ operation: Operation, _ name: String, _ channel: String, _ type: ChannelType,
        _ body: (LockKey) -> ClientBody
    ) async throws(RTMError) -> UInt64 {
        let key = LockKey(channel: ChannelID(type: type, name: channel), name: name)
        try check(operation, key.check)
        let body = body(key)
        return try await perform(operation, of: .lock(key)) { link, completion in
            link.locks.perform(LockCall(key: key, body: body, completion: completion))
        }
    }
}

extension RTMClient {
    /// Works while this user owns a lock, and releases it on every path, even when the work throws or its
    /// task is cancelled. If there is no connection then, the lock is released as soon as the link is back.
    ///
    /// ```swift
    /// try await client.withLock("manage", in: "lobby") { token in
    ///     try await client.setMetadata(
    ///         ["topic": "Swift"], of: .channel("lobby"), options: .init(lock: "manage", fencingToken:
    ///         token))
    /// }
    /// ```
    ///
    /// A lock can be lost while the work runs: it may be revoked or removed, or the link may be down for
    /// longer than the lock's time to live. The fencing token is what makes the late writes of such work
    /// fail.
    ///
    /// - Parameters:
    ///   - waits: whether to wait while another user has it. See ``acquireLock(_:in:type:waits:)``.
    ///   - work: what to do. It gets the fencing token.
    /// - Throws: what ``acquireLock(_:in:type:waits:)`` and `work` throw.
    public func withLock<Value>(
        _ name: String, in channel: String, type: ChannelType = .message, waits: Bool = true,
        _ work: (UInt64) async throws -> Value
    ) async throws -> Value {
        let token = try await acquireLock(name, in: channel, type: type, waits: waits)
        do {
            let value = try await work(token)
            await release(LockKey(channel: ChannelID(type: type, name: channel), name: name))
            return value
        } catch {
            await release(LockKey(channel: ChannelID(type: type, name: channel), name: name))
            throw error
        }
    }

    private func release(_ key: LockKey) async {
        // Unstructured: a release must not be cancelled together with the work that it ends.
        let release = Task {
            try? await self.perform(.releaseLock, of: .lock(key)) { link, completion in
                link.locks.release(key, completion)
            }
        }
        await release.value
    }
}
