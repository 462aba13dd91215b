import RTMModel
import RTMProtocol

/// A lock by its full name (K-1).
struct LockKey: Sendable, Hashable {
    var channelType: ChannelType
    var channel: String
    var name: String

    /// - Throws: `.invalidChannelType` (-10019) for a type that has no locks, `.invalidChannelName` (-10008)
    ///   for a bad channel name, `.lockInvalidName` (-14005) for a bad lock name.
    func check() throws(RTMError) {
        try channelType.checkHasStorage()
        try NameRule.channel.check(channel.utf8)
        try NameRule.lock.check(name.utf8)
    }
}

extension LockKey {
    /// A channel by its full name (L-6).
    struct Place: Sendable, Hashable, Comparable {
        var channelType: ChannelType
        var channel: String

        static func < (one: Place, other: Place) -> Bool {
            (one.channelType.rawValue, one.channel) < (other.channelType.rawValue, other.channel)
        }
    }

    var place: Place { Place(channelType: channelType, channel: channel) }
}

extension LockKey: Comparable {
    static func < (one: LockKey, other: LockKey) -> Bool {
        one.place == other.place ? one.name < other.name : one.place < other.place
    }
}

extension LockKey {
    func acquisition(retry: Bool = false, heldToken: UInt64 = 0) -> ClientBody {
        var request = Rtm_Client_AcquireLock()
        (request.channelType, request.channel, request.name) = (wireType, channel, name)
        request.retry = retry
        request.heldToken = heldToken
        return .acquireLock(request)
    }

    var release: ClientBody { release(withdraw: false) }

    /// Gives up whatever this client has of the lock, or waits for.
    var withdrawal: ClientBody { release(withdraw: true) }

    private func release(withdraw: Bool) -> ClientBody {
        var request = Rtm_Client_ReleaseLock()
        (request.channelType, request.channel, request.name) = (wireType, channel, name)
        request.withdraw = withdraw
        return .releaseLock(request)
    }

    func revocation(from owner: String) -> ClientBody {
        var request = Rtm_Client_RevokeLock()
        (request.channelType, request.channel, request.name) = (wireType, channel, name)
        request.owner = owner
        return .revokeLock(request)
    }

    /// The server clamps the time to live (L-40). Here it is clamped to what the wire can carry.
    func creation(ttl: Duration) -> ClientBody {
        var request = Rtm_Client_SetLock()
        (request.channelType, request.channel, request.name) = (wireType, channel, name)
        let seconds = ttl.components.seconds
        request.ttlS = UInt32(Limits.clamp(Int(clamping: seconds), to: Limits.lockTTL))
        return .setLock(request)
    }

    var removal: ClientBody {
        var request = Rtm_Client_RemoveLock()
        (request.channelType, request.channel, request.name) = (wireType, channel, name)
        return .removeLock(request)
    }

    private var wireType: Rtm_Client_ChannelType { Rtm_Client_ChannelType(channelType) }
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
