import RTMClient
import RTMModel

/// Reads and writes the metadata of channels and users. ``AgoraRtmClientKit/getStorage()`` returns it.
public final class AgoraRtmStorage: NSObject, Sendable {
    private let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    /// Creates items or overwrites them; other items of the set stay as they are (D-2). All items are
    /// written, or none (D-7). Subscribers of the channel with the feature `.metadata` get a storage event,
    /// including the writer.
    ///
    /// - Parameters:
    ///   - channelType: `.message` or `.stream`.
    ///   - data: `majorRevision` and the `revision` of each item are compared unless they are -1; the set's
    ///     revision is compared first (D-5, D-6). 0 is the revision of what was never written (D-9).
    ///   - options: what is recorded with each item; nil means nothing.
    ///   - lock: the write needs this user to own this lock of the channel; nil or empty means that no lock
    ///     is checked (D-20).
    ///   - completionBlock: gets `.storageOutdatedRevision` (-12014), `.storageLockNotAcquired` (-12008) if
    ///     this user doesn't own the lock, `.storageInvalidMetadataInstance` (-12016) for a metadata object
    ///     that was destroyed, `.storageInvalidMetadataItem` (-12003) without items, `.storageInvalidKey`
    ///     (-12009), `.storageKeyLengthOverflow` (-12011), `.storageInvalidValue` (-12010) for an item
    ///     without a value, `.storageNotSubscribe` (-12015) for a stream channel that isn't joined (D-15),
    ///     `.storageValueLengthOverflow` (-12012) for more than 16 KB, `.storageMetadataLengthOverflow`
    ///     (-12006) if the set would have more than 16 KB, `.storageDuplicateKey` (-12013),
    ///     `.storageInvalidRevision` (-12005), `.storageInvalidLockName` (-12007), `.invalidChannelName`
    ///     (-10008), `.invalidChannelType` (-10019), `.notLogin` (-10002), `.notConnected` (-10025),
    ///     `.operationRateExceedLimitation` (-10021), `.storageOperationTimeout` (-12018),
    ///     `.storageNotAvailable` (-12019).
    @preconcurrency
    public func setChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "setChannelMetadata", needs: .message, completionBlock,
            Self.write(.set, .channel(channelName, type: channelType.kind), data, options, lock: lock))
    }

    /// See ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func setChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "setChannelMetadata", needs: .message,
            Self.write(.set, .channel(channelName, type: channelType.kind), data, options, lock: lock))
    }

    /// Overwrites items that exist. If one doesn't exist, the call fails with `.storageOutdatedRevision`
    /// (-12014) and nothing is written (D-3). See
    /// ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @preconcurrency
    public func updateChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "updateChannelMetadata", needs: .message, completionBlock,
            Self.write(.update, .channel(channelName, type: channelType.kind), data, options, lock: lock))
    }

    /// See ``updateChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func updateChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "updateChannelMetadata", needs: .message,
            Self.write(.update, .channel(channelName, type: channelType.kind), data, options, lock: lock))
    }

    /// Removes items, whatever their `value` says, or the whole set if no items are given. If an item doesn't
    /// exist, the call fails with `.storageOutdatedRevision` (-12014) and nothing is removed (D-4). See
    /// ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @preconcurrency
    public func removeChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "removeChannelMetadata", needs: .message, completionBlock,
            Self.write(.remove, .channel(channelName, type: channelType.kind), data, options, lock: lock))
    }

    /// See ``removeChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func removeChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "removeChannelMetadata", needs: .message,
            Self.write(.remove, .channel(channelName, type: channelType.kind), data, options, lock: lock))
    }

    /// Reads the whole set of a channel (D-30). No subscription is needed.
    ///
    /// - Parameter completionBlock: gets `.invalidChannelName` (-10008), `.invalidChannelType` (-10019),
    ///   `.notLogin` (-10002), `.notConnected` (-10025), `.operationRateExceedLimitation` (-10021),
    ///   `.storageOperationTimeout` (-12018), `.storageNotAvailable` (-12019).
    @preconcurrency
    public func getChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType,
        completion completionBlock: AgoraRtmGetMetadataBlock? = nil
    ) {
        kit.begin(
            "getChannelMetadata", needs: .message, completionBlock,
            Self.read(.channel(channelName, type: channelType.kind)))
    }

    /// See ``getChannelMetadata(channelName:channelType:completion:)``.
    @discardableResult
    public func getChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType
    ) async -> (AgoraRtmGetMetadataResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "getChannelMetadata", needs: .message, Self.read(.channel(channelName, type: channelType.kind)))
    }

    /// Creates items of a user's set or overwrites them. Every user may write every set (D-16), and
    /// subscribers of the user's metadata get a storage event. See
    /// ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``; metadata of users have
    /// no locks.
    ///
    /// - Parameter userId: the user; empty means this user.
    @preconcurrency
    public func setUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "setUserMetadata", needs: .message, completionBlock,
            Self.write(.set, .user(userId), data, options))
    }

    /// See ``setUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func setUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "setUserMetadata", needs: .message, Self.write(.set, .user(userId), data, options))
    }

    /// Overwrites items that exist. If one doesn't exist, the call fails with `.storageOutdatedRevision`
    /// (-12014) and nothing is written (D-3). See ``setUserMetadata(userId:data:options:completion:)``.
    @preconcurrency
    public func updateUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "updateUserMetadata", needs: .message, completionBlock,
            Self.write(.update, .user(userId), data, options))
    }

    /// See ``updateUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func updateUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "updateUserMetadata", needs: .message, Self.write(.update, .user(userId), data, options))
    }

    /// Removes items, or the whole set if no items are given. If an item doesn't exist, the call fails with
    /// `.storageOutdatedRevision` (-12014) and nothing is removed (D-4). See
    /// ``setUserMetadata(userId:data:options:completion:)``.
    @preconcurrency
    public func removeUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "removeUserMetadata", needs: .message, completionBlock,
            Self.write(.remove, .user(userId), data, options))
    }

    /// See ``removeUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func removeUserMetadata(
        userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "removeUserMetadata", needs: .message, Self.write(.remove, .user(userId), data, options))
    }

    /// Reads the whole set of a user (D-30).
    ///
    /// - Parameters:
    ///   - userId: the user; empty means this user.
    ///   - completionBlock: gets the errors of ``getChannelMetadata(channelName:channelType:completion:)``,
    ///     and `.invalidUserId` (-10006).
    @preconcurrency
    public func getUserMetadata(
        userId: String, completion completionBlock: AgoraRtmGetMetadataBlock? = nil
    ) {
        kit.begin("getUserMetadata", needs: .message, completionBlock, Self.read(.user(userId)))
    }

    /// See ``getUserMetadata(userId:completion:)``.
    @discardableResult
    public func getUserMetadata(
        userId: String
    ) async -> (AgoraRtmGetMetadataResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getUserMetadata", needs: .message, Self.read(.user(userId)))
    }

    /// Subscribes to the metadata of a user: storage events of type `.user` carry the present set at once,
    /// and the whole set after each write (D-41, D-44). The user need not be online.
    ///
    /// - Parameters:
    ///   - userId: the user; empty means this user.
    ///   - completionBlock: gets `.storageSubscribeUserExceedLimitation` (-12017) for more than 100 users
    ///     (L-38), `.invalidUserId` (-10006), `.duplicateOperation` (-10017) if another call for this user is
    ///     under way, `.notLogin` (-10002), `.notConnected` (-10025), `.storageOperationTimeout` (-12018),
    ///     `.storageNotAvailable` (-12019).
    @preconcurrency
    public func subscribeUserMetadata(
        userId: String, completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "subscribeUserMetadata", needs: .message, completionBlock,
            { client throws(RTMError) in try await client.subscribeUserMetadata(userId) })
    }

    /// See ``subscribeUserMetadata(userId:completion:)``.
    @discardableResult
    public func subscribeUserMetadata(
        userId: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "subscribeUserMetadata", needs: .message,
            { client throws(RTMError) in try await client.subscribeUserMetadata(userId) })
    }

    /// Ends what `subscribeUserMetadata` began. This works without a connection, too (S-16).
    ///
    /// - Parameter completionBlock: gets `.storageNotSubscribe` (-12015) if the user's metadata are not
    ///   subscribed, `.invalidUserId` (-10006), `.notLogin` (-10002) or `.storageOperationTimeout` (-12018).
    @preconcurrency
    public func unsubscribeUserMetadata(
        userId: String, completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "unsubscribeUserMetadata", needs: .message, completionBlock,
            { client throws(RTMError) in try await client.unsubscribeUserMetadata(userId) })
    }

    /// See ``unsubscribeUserMetadata(userId:completion:)``.
    @discardableResult
    public func unsubscribeUserMetadata(
        userId: String
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "unsubscribeUserMetadata", needs: .message,
            { client throws(RTMError) in try await client.unsubscribeUserMetadata(userId) })
    }

    // The objects are read here, in the caller's thread, because the app may change them as soon as the call
    // returns.

    private static func write(
        _ action: MetadataDraft.Action, _ target: MetadataTarget, _ data: AgoraRtmMetadata,
        _ options: AgoraRtmMetadataOptions?, lock: String? = nil
    ) -> AgoraRtmClientKit.Call<Void> {
        let draft = Result { () throws(RTMError) in try MetadataDraft(action, data, options, lock: lock)
        }
        return { client in try await draft.get().perform(action, of: target, by: client) }
    }

    private static func read(
        _ target: MetadataTarget
    ) -> AgoraRtmClientKit.Call<AgoraRtmGetMetadataResponse> {
        { client in AgoraRtmGetMetadataResponse(try await client.metadata(of: target)) }
    }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The metadata of a channel or a user.
public final class AgoraRtmGetMetadataResponse: NSObject, @unchecked Sendable {
    /// The whole set; it has no items if nothing was ever written (D-30).
    public var data: AgoraRtmMetadata?

    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmGetMetadataBlock =
    @Sendable (_ response: AgoraRtmGetMetadataResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void

/// What a write of metadata records with each item (D-11). The call copies the object.
public final class AgoraRtmMetadataOptions: NSObject {
    /// Whether the time of the write is recorded in `updateTs`.
    public var recordTs = false
    /// Whether the writer's user id is recorded in `authorUserId`.
    public var recordUserId = false

    override public init() { super.init() }
}
