public import RTMModel
import RTMProtocol

extension RTMClient {
    /// Creates a lock that nobody owns yet. It stays until `removeLock` (K-2).
    ///
    /// - Parameters:
    ///   - name: 1…64 bytes of printable ASCII (L-11), unique within the channel; a channel has 32 at most
    ///     (L-39).
    ///   - type: `message` or `stream`.
    ///   - ttl: how long the lock stays with an owner who has left the channel or lost the connection:
    ///     clamped to 10…300 s (L-40). While the owner is there it doesn't run (K-11).
    /// - Throws: -14004 it exists, -14001 too many locks, and for all calls about locks: -14005 bad lock
    ///   name, -10008 bad channel name, -10019 no such channel type, -14003 the same call for this lock is
    ///   under way (K-7), -10002 not logged in, -10025 not connected, or lost before the answer, when it
    ///   isn't known what became of it; -10021 too often, -14002 no answer in time, -14009 no lock service.
    public func setLock(
        _ name: String, in channel: String, type: ChannelType = .message, ttl: Duration = .seconds(10)
    ) async throws(RTMError) {
        _ = try await lockCall(.setLock, name, channel, type) { $0.creation(ttl: ttl) }
    }

    /// Deletes a lock, also while somebody has it: the owner loses it, and who waits for it gets -14008
    /// (K-3).
    ///
    /// - Throws: -14008 there is none; for the rest see ``setLock(_:in:type:ttl:)``.
    public func removeLock(
        _ name: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        _ = try await lockCall(.removeLock, name, channel, type) { $0.removal }
    }

    /// Becomes the lock's owner. Who has it already gets it again, with the same token (K-4): the owner is
    /// the user, so within one user a lock excludes nobody.
    ///
    /// The client keeps the lock over losses of the link, as long as its time to live lasts; if it was lost
    /// meanwhile an event says so: ``LockEvent/Kind/expired`` (K-12).
    ///
    /// - Parameter retry: wait while another has it, for as long as that takes, also over losses of the link
    ///   (K-6). Cancel the task to stop waiting.
    /// - Returns: the fencing token of this acquisition: greater than that of every earlier one. Hand it to
    ///   what the lock protects, and let that refuse smaller ones; for metadata see
    ///   ``MetadataWriteOptions/fencingToken``.
    /// - Throws: -14007 another has it, -14008 there is none or it was removed while waiting, -14001 the app
    ///   left the channel or logged out while waiting, or acquires too often, -14002 the link was given up
    ///   while waiting; for the rest see ``setLock(_:in:type:ttl:)``.
    public func acquireLock(
        _ name: String, in channel: String, type: ChannelType = .message, retry: Bool = false
    ) async throws(RTMError) -> UInt64 {
        try await lockCall(.acquireLock, name, channel, type) { $0.acquisition(retry: retry) }
    }

    /// Gives a lock back; the next who waits gets it (K-8). Works also after the channel was left.
    ///
    /// - Throws: -14006 it is not this user's, -14008 there is none; for the rest see
    ///   ``setLock(_:in:type:ttl:)``. Lost before the answer: it is released as soon as the link is back.
    public func releaseLock(
        _ name: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        _ = try await lockCall(.releaseLock, name, channel, type) { $0.release }
    }

    /// Takes a lock from its owner (K-9).
    ///
    /// - Parameter owner: who is to lose it.
    /// - Throws: -14006 `owner` doesn't have it, -14008 there is none, -10006 bad user id; for the rest see
    ///   ``setLock(_:in:type:ttl:)``.
    public func revokeLock(
        _ name: String, from owner: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        try check(.revokeLock) { () throws(RTMError) in try NameRule.user.check(owner.utf8) }
        _ = try await lockCall(.revokeLock, name, channel, type) { $0.revocation(from: owner) }
    }

    /// All locks of a channel, by name, with their owners (K-10). No subscription is needed.
    ///
    /// - Throws: as ``setLock(_:in:type:ttl:)`` does, but for -14003 and -14005.
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
        return try await call(.getLocks, .getLocks(request)) { body in
            guard case .locks(let locks) = body else { return nil }
            return locks.locks.map(LockDetail.init)
        }
    }

    private func lockCall(
        _ operation: Operation, _ name: String, _ channel: String, _ type: ChannelType,
        _ body: (LockKey) -> ClientBody
    ) async throws(RTMError) -> UInt64 {
        let key = LockKey(channelType: type, channel: channel, name: name)
        try check(operation, key.check)
        let body = body(key)
        return try await perform(operation) { link, completion in
            link.locks.perform(LockCall(key: key, body: body, completion: completion))
        }
    }
}
