import RTMClient
import RTMModel

/// The metadata of channels and users. Got by ``AgoraRtmClientKit/getStorage()``.
public final class AgoraRtmStorage: NSObject, Sendable {
    private let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    /// Creates items or overwrites them; other items of the set stay as they are (D-2). All items are
    /// written, or none (D-7). Subscribers of the channel with the feature `.metadata` hear of it, the writer
    /// too.
    ///
    /// - Parameters:
    ///   - channelType: `.message` or `.stream`.
    ///   - data: `majorRevision` and the items' `revision`s are compared if they are positive; the set's
    ///     first (D-5, D-6).
    ///   - options: what is recorded with each item; nil means nothing.
    ///   - lock: write only while this user holds this lock of the channel; nil or empty doesn't look (D-20).
    ///   - completionBlock: errors are -12014 a revision isn't the present one, -12008 the lock isn't held by
    ///     this user, -12016 no metadata object, -12003 no items, -12009 or -12011 bad key, -12010 no value,
    ///     -12012 value over 16 KB, -12006 set over 16 KB, -12013 a key twice, -12005 bad revision, -12007
    ///     bad lock name, -10008 bad channel name, -10019 bad channel type, -10002 not logged in, -10025 not
    ///     connected, -10021 too often, -12018 no answer in time, -12019 no storage service.
    @preconcurrency
    public func setChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata?,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "setChannelMetadata", needs: .message, completionBlock,
            Self.write(.set, .channel(channelName, type: channelType), data, options, lock: lock))
    }

    /// See ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func setChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata?,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "setChannelMetadata", needs: .message,
            Self.write(.set, .channel(channelName, type: channelType), data, options, lock: lock))
    }

    /// Overwrites items that exist; if one doesn't the error is -12014, and nothing is written (D-3). See
    /// ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @preconcurrency
    public func updateChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata?,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "updateChannelMetadata", needs: .message, completionBlock,
            Self.write(.update, .channel(channelName, type: channelType), data, options, lock: lock))
    }

    /// See ``updateChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func updateChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata?,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "updateChannelMetadata", needs: .message,
            Self.write(.update, .channel(channelName, type: channelType), data, options, lock: lock))
    }

    /// Removes items, whatever their `value` says; without items the whole set. What isn't there is an error,
    /// -12014, and nothing is removed (D-4). See
    /// ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @preconcurrency
    public func removeChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata?,
        options: AgoraRtmMetadataOptions?, lock: String?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "removeChannelMetadata", needs: .message, completionBlock,
            Self.write(.remove, .channel(channelName, type: channelType), data, options, lock: lock))
    }

    /// See ``removeChannelMetadata(channelName:channelType:data:options:lock:completion:)``.
    @discardableResult
    public func removeChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata?,
        options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "removeChannelMetadata", needs: .message,
            Self.write(.remove, .channel(channelName, type: channelType), data, options, lock: lock))
    }

    /// The whole set of a channel (D-30). No subscription is needed.
    ///
    /// - Parameter completionBlock: errors are -10008 bad channel name, -10019 bad channel type, -10002 not
    ///   logged in, -10025 not connected, -10021 too often, -12018 no answer in time, -12019 no storage
    ///   service.
    @preconcurrency
    public func getChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType,
        completion completionBlock: AgoraRtmGetMetadataBlock? = nil
    ) {
        kit.begin(
            "getChannelMetadata", needs: .message, completionBlock,
            Self.read(.channel(channelName, type: channelType)))
    }

    /// See ``getChannelMetadata(channelName:channelType:completion:)``.
    @discardableResult
    public func getChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType
    ) async -> (AgoraRtmGetMetadataResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "getChannelMetadata", needs: .message, Self.read(.channel(channelName, type: channelType)))
    }

    /// Creates items of a user's set or overwrites them. Everybody may write everybody's (D-16), and who
    /// subscribed the user's metadata hears of it. See
    /// ``setChannelMetadata(channelName:channelType:data:options:lock:completion:)``;
    /// users' metadata have no locks.
    ///
    /// - Parameter userId: empty means this user.
    @preconcurrency
    public func setUserMetadata(
        userId: String, data: AgoraRtmMetadata?, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "setUserMetadata", needs: .message, completionBlock,
            Self.write(.set, .user(userId), data, options))
    }

    /// See ``setUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func setUserMetadata(
        userId: String, data: AgoraRtmMetadata?, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "setUserMetadata", needs: .message, Self.write(.set, .user(userId), data, options))
    }

    /// Overwrites items that exist; if one doesn't the error is -12014, and nothing is written (D-3). See
    /// ``setUserMetadata(userId:data:options:completion:)``.
    @preconcurrency
    public func updateUserMetadata(
        userId: String, data: AgoraRtmMetadata?, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "updateUserMetadata", needs: .message, completionBlock,
            Self.write(.update, .user(userId), data, options))
    }

    /// See ``updateUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func updateUserMetadata(
        userId: String, data: AgoraRtmMetadata?, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "updateUserMetadata", needs: .message, Self.write(.update, .user(userId), data, options))
    }

    /// Removes items; without items the whole set. What isn't there is an error, -12014, and nothing is
    /// removed (D-4). See ``setUserMetadata(userId:data:options:completion:)``.
    @preconcurrency
    public func removeUserMetadata(
        userId: String, data: AgoraRtmMetadata?, options: AgoraRtmMetadataOptions?,
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "removeUserMetadata", needs: .message, completionBlock,
            Self.write(.remove, .user(userId), data, options))
    }

    /// See ``removeUserMetadata(userId:data:options:completion:)``.
    @discardableResult
    public func removeUserMetadata(
        userId: String, data: AgoraRtmMetadata?, options: AgoraRtmMetadataOptions?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "removeUserMetadata", needs: .message, Self.write(.remove, .user(userId), data, options))
    }

    /// The whole set of a user (D-30).
    ///
    /// - Parameters:
    ///   - userId: empty means this user.
    ///   - completionBlock: errors as for ``getChannelMetadata(channelName:channelType:completion:)``, and
    ///     -10006 bad user id.
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

    /// From now on storage events of type `.user` tell the metadata of this user: at once what there is, then
    /// the set after each write (D-41, D-44). The user need not be online.
    ///
    /// - Parameters:
    ///   - userId: empty means this user.
    ///   - completionBlock: errors are -12017 more than 100 users (L-38), -10006 bad user id, -10017 another
    ///     call for this user is under way, -10002 not logged in, -10025 not connected, -12018 no answer in
    ///     time, -12019 no storage service.
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

    /// Ends what `subscribeUserMetadata` began. Works without a connection too (S-16).
    ///
    /// - Parameter completionBlock: errors are -12015 not subscribed, -10006 bad user id, -10002 not logged
    ///   in, -12018 no answer in time.
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

    // The objects are read here, in the caller's thread: the app may change them as soon as the call returns.

    private static func write(
        _ action: MetadataDraft.Action, _ target: MetadataTarget, _ data: AgoraRtmMetadata?,
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
