import RTMModel
import RTMProtocol
import RTMWire

/// Who sends clients' requests to storage.
protocol StorageCalling: Sendable {
    /// Sends a request with its one field, and returns the frame that answers it.
    func call(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, by caller: RTMWire.Caller
    ) async throws -> Rtm_Client_ServerFrame
}

/// The calls of clients, short.
extension StorageCalling {
    @discardableResult
    func write(
        _ kind: Rtm_Client_MetadataWriteKind, _ items: [(String, String)], to channel: String = "lobby",
        type: Rtm_Client_ChannelType = .message, major: Int64 = 0, lock: String = "", token: UInt64 = 0,
        by user: RTMWire.Caller = .user("anna")
    ) async throws -> Int64 {
        var write = Rtm_Client_WriteMetadata()
        write.channelType = type
        write.target = channel
        write.kind = kind
        write.majorRevision = major
        write.lock = lock
        write.fencingToken = token
        write.items = items.map { key, value in
            var item = Rtm_Client_MetadataItem()
            item.key = key
            item.value = value
            return item
        }
        return try await call(.writeMetadata(write), by: user).metadataWritten.majorRevision
    }

    @discardableResult
    func write(
        _ items: [(String, String)], to channel: String = "lobby", type: Rtm_Client_ChannelType = .message,
        lock: String = "", token: UInt64 = 0, by user: RTMWire.Caller = .user("anna")
    ) async throws -> Int64 {
        try await write(.metadataSet, items, to: channel, type: type, lock: lock, token: token, by: user)
    }

    func metadata(of channel: String = "lobby", by user: RTMWire.Caller = .user("anna")) async throws
        -> Rtm_Client_Metadata
    {
        var get = Rtm_Client_GetMetadata()
        get.channelType = .message
        get.target = channel
        return try await call(.getMetadata(get), by: user).metadata
    }

    func setLock(_ name: String = "l", ttl: UInt32 = 10, in channel: String = "lobby") async throws {
        var set = Rtm_Client_SetLock()
        set.channelType = .message
        set.channel = channel
        set.name = name
        set.ttlS = ttl
        _ = try await call(.setLock(set), by: .user("anna"))
    }

    func removeLock(_ name: String = "l", in channel: String = "lobby") async throws {
        var remove = Rtm_Client_RemoveLock()
        remove.channelType = .message
        remove.channel = channel
        remove.name = name
        _ = try await call(.removeLock(remove), by: .user("anna"))
    }

    /// Returns the fencing token.
    @discardableResult
    func acquire(
        _ name: String = "l", retry: Bool = false, held: UInt64 = 0, in channel: String = "lobby",
        by user: RTMWire.Caller
    ) async throws -> UInt64 {
        var acquire = Rtm_Client_AcquireLock()
        acquire.channelType = .message
        acquire.channel = channel
        acquire.name = name
        acquire.retry = retry
        acquire.heldToken = held
        return try await call(.acquireLock(acquire), by: user).lockAcquired.fencingToken
    }

    func release(_ name: String = "l", in channel: String = "lobby", by user: RTMWire.Caller) async throws {
        var release = Rtm_Client_ReleaseLock()
        release.channelType = .message
        release.channel = channel
        release.name = name
        _ = try await call(.releaseLock(release), by: user)
    }

    func locks(in channel: String = "lobby") async throws -> Rtm_Client_Locks {
        var get = Rtm_Client_GetLocks()
        get.channelType = .message
        get.channel = channel
        return try await call(.getLocks(get), by: .user("anna")).locks
    }

    func history(
        _ type: Rtm_Client_ChannelType = .message, _ channel: String = "lobby", count: UInt32 = 100,
        start: UInt64 = 0,
        end: UInt64 = 0, by user: RTMWire.Caller = .user("anna")
    ) async throws -> Rtm_Client_HistoryPage {
        var get = Rtm_Client_GetHistory()
        get.channelType = type
        get.channel = channel
        get.count = count
        get.startMs = start
        get.endMs = end
        return try await call(.getHistory(get), by: user).historyPage
    }
}

/// The error of a call, or nil when it succeeded.
func failure<Success>(_ body: () async throws -> Success) async -> RTMError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RTMError
    }
}
