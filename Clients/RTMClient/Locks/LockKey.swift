import RTMModel
import RTMProtocol

/// A lock by its full name (K-1).
struct LockKey: Sendable, Hashable {
    var channel: ChannelID
    var name: String

    /// - Throws: `.invalidChannelType` (-10019) for a type that has no locks, `.invalidChannelName` (-10008)
    ///   for a bad channel name, `.lockInvalidName` (-14005) for a bad lock name.
    func check() throws(RTMError) {
        try channel.type.checkHasStorage()
        try NameRule.channel.check(channel.name.utf8)
        try NameRule.lock.check(name.utf8)
    }
}

extension LockKey: Comparable {
    static func < (one: LockKey, other: LockKey) -> Bool {
        one.channel == other.channel ? one.name < other.name : one.channel < other.channel
    }
}

extension LockKey {
    func acquisition(waits: Bool = false, heldToken: UInt64 = 0) -> ClientBody {
        var request = Rtm_Client_AcquireLock()
        (request.channelType, request.channel, request.name) = (wireType, channel.name, name)
        request.retry = waits
        request.heldToken = heldToken
        return .acquireLock(request)
    }

    var release: ClientBody { release(withdraw: false) }

    /// Gives up whatever this client has of the lock, or waits for.
    var withdrawal: ClientBody { release(withdraw: true) }

    private func release(withdraw: Bool) -> ClientBody {
        var request = Rtm_Client_ReleaseLock()
        (request.channelType, request.channel, request.name) = (wireType, channel.name, name)
        request.withdraw = withdraw
        return .releaseLock(request)
    }

    func revocation(from owner: String) -> ClientBody {
        var request = Rtm_Client_RevokeLock()
        (request.channelType, request.channel, request.name) = (wireType, channel.name, name)
        request.owner = owner
        return .revokeLock(request)
    }

    /// The server clamps the time to live (L-40). Here it is clamped to what the wire can carry.
    func creation(ttl: Duration) -> ClientBody {
        var request = Rtm_Client_SetLock()
        (request.channelType, request.channel, request.name) = (wireType, channel.name, name)
        let seconds = ttl.components.seconds
        request.ttlS = UInt32(Limits.clamp(Int(clamping: seconds), to: Limits.lockTTL))
        return .setLock(request)
    }

    var removal: ClientBody {
        var request = Rtm_Client_RemoveLock()
        (request.channelType, request.channel, request.name) = (wireType, channel.name, name)
        return .removeLock(request)
    }

    private var wireType: Rtm_Client_ChannelType { Rtm_Client_ChannelType(channel.type) }
}

extension LockDetail {
    init(_ lock: Rtm_Client_LockDetail, at timestampMilliseconds: UInt64) {
        self.init(
            name: lock.name, owner: lock.owner.isEmpty ? nil : lock.owner, ttl: .seconds(Int64(lock.ttlS)),
            fencingToken: lock.fencingToken, timestampMilliseconds: timestampMilliseconds)
    }
}

extension LockEvent.Kind {
    /// `nil` for a kind that this version doesn't know.
    init?(_ type: Rtm_Client_LockEventType) {
        switch type {
        case .lockEventSet: self = .set
        case .lockEventRemoved: self = .removed
        case .lockEventAcquired: self = .acquired
        case .lockEventReleased: self = .released
        case .lockEventNone, .UNRECOGNIZED: return nil
        }
    }
}
