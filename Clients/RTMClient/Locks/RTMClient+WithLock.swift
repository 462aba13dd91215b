public import RTMModel

extension RTMClient {
    /// Works while this user owns a lock, and gives it back on every path, even when the work throws or its
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
    /// A lock can be lost while the work goes on: it may be revoked or removed, or the link may be down for
    /// longer than the lock's time to live. The fencing token is what makes the late writes of such work
    /// fail.
    ///
    /// - Parameters:
    ///   - retry: wait while another user has it. See ``acquireLock(_:in:type:retry:)``.
    ///   - work: what to do. It gets the fencing token.
    /// - Throws: what ``acquireLock(_:in:type:retry:)`` and `work` throw.
    public func withLock<Value>(
        _ name: String, in channel: String, type: ChannelType = .message, retry: Bool = true,
        _ work: (UInt64) async throws -> Value
    ) async throws -> Value {
        let token = try await acquireLock(name, in: channel, type: type, retry: retry)
        do {
            let value = try await work(token)
            await letGo(LockKey(channelType: type, channel: channel, name: name))
            return value
        } catch {
            await letGo(LockKey(channelType: type, channel: channel, name: name))
            throw error
        }
    }

    private func letGo(_ key: LockKey) async {
        // Unstructured: a release must not be cancelled together with the work that it ends.
        let release = Task {
            try? await self.perform(.releaseLock, of: .lock(key)) { link, completion in
                link.locks.letGo(key, completion)
            }
        }
        await release.value
    }
}
