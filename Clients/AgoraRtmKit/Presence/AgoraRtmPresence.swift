import RTMClient
import RTMModel

/// Answers who is in channels and which temporary states users show. ``AgoraRtmClientKit/getPresence()``
/// returns it.
///
/// A channel need not be subscribed to be asked about. Every call has two forms that do the same, see
/// ``AgoraRtmClientKit``.
public final class AgoraRtmPresence: NSObject, Sendable {
    let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    // MARK: Who is in a channel

    /// Lists the users of a channel, a page of at most 100 at a time. A user who stays in the channel is
    /// listed exactly once over all pages (P-35).
    ///
    /// - Parameters:
    ///   - channelType: `.message` or `.stream`.
    ///   - options: nil means users without states, from the first page (P-37).
    ///   - completionBlock: gets `.presenceInvalidArgument` (-13003) if states are asked for without users
    ///     (P-34) or the page is not a bookmark of an earlier response. All calls about presence may get:
    ///     `.invalidChannelName` (-10008), `.invalidUserId` (-10006), `.invalidChannelType` (-10019),
    ///     `.notLogin` (-10002), `.presenceNotConnected` (-13001), `.presenceOperationTimeout` (-13012),
    ///     `.presenceOperationFailed` (-13013) if presence is not available, `.operationRateExceedLimitation`
    ///     (-10021).
    @preconcurrency
    public func whoNow(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmPresenceOptions?,
        completion completionBlock: AgoraRtmWhoNowBlock? = nil
    ) {
        kit.begin(
            "whoNow", needs: .message, completionBlock, Self.whoNow(channelName, channelType, options))
    }

    /// See ``whoNow(channelName:channelType:options:completion:)``.
    @discardableResult
    public func whoNow(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmPresenceOptions?
    ) async -> (AgoraRtmWhoNowResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("whoNow", needs: .message, Self.whoNow(channelName, channelType, options))
    }

    /// The newer name of ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func getOnlineUsers(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmGetOnlineUsersOptions?,
        completion completionBlock: AgoraRtmGetOnlineUsersBlock? = nil
    ) {
        kit.begin(
            "getOnlineUsers", needs: .message, completionBlock,
            Self.onlineUsers(channelName, channelType, options))
    }

    /// See ``getOnlineUsers(channelName:channelType:options:completion:)``.
    @discardableResult
    public func getOnlineUsers(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmGetOnlineUsersOptions?
    ) async -> (AgoraRtmGetOnlineUsersResponse?, AgoraRtmErrorInfo?) {
        await kit.perform(
            "getOnlineUsers", needs: .message, Self.onlineUsers(channelName, channelType, options))
    }

    /// ``getOnlineUsers(channelName:channelType:options:completion:)`` as the vendor's header spells it.
    @preconcurrency
    public func getOnlineUser(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmGetOnlineUsersOptions?,
        completion completionBlock: AgoraRtmGetOnlineUsersBlock? = nil
    ) {
        getOnlineUsers(
            channelName: channelName, channelType: channelType, options: options, completion: completionBlock)
    }

    /// See ``getOnlineUser(channelName:channelType:options:completion:)``.
    @discardableResult
    public func getOnlineUser(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmGetOnlineUsersOptions?
    ) async -> (AgoraRtmGetOnlineUsersResponse?, AgoraRtmErrorInfo?) {
        await getOnlineUsers(channelName: channelName, channelType: channelType, options: options)
    }

    // MARK: Where a user is

    /// Lists the channels that a user is in, except those where it is quiet. The list is empty for a user who
    /// is offline or unknown (P-36).
    ///
    /// - Parameter completionBlock: for the errors see
    ///   ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func whereNow(userId: String, completion completionBlock: AgoraRtmWhereNowBlock? = nil) {
        kit.begin("whereNow", needs: .message, completionBlock, Self.whereNow(userId))
    }

    /// See ``whereNow(userId:completion:)``.
    @discardableResult
    public func whereNow(userId: String) async -> (AgoraRtmWhereNowResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("whereNow", needs: .message, Self.whereNow(userId))
    }

    /// The newer name of ``whereNow(userId:completion:)``.
    @preconcurrency
    public func getUserChannels(
        userId: String, completion completionBlock: AgoraRtmGetUserChannelsBlock? = nil
    ) {
        kit.begin("getUserChannels", needs: .message, completionBlock, Self.userChannels(userId))
    }

    /// See ``getUserChannels(userId:completion:)``.
    @discardableResult
    public func getUserChannels(
        userId: String
    ) async -> (AgoraRtmGetUserChannelsResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getUserChannels", needs: .message, Self.userChannels(userId))
    }

    // The options are read here, in the caller's thread, because the app may change its object as soon as the
    // call returns.

    private static func whoNow(
        _ channelName: String, _ channelType: AgoraRtmChannelType, _ options: AgoraRtmPresenceOptions?
    ) -> AgoraRtmClientKit.Call<AgoraRtmWhoNowResponse> {
        let question = OnlineUsersQuestion(options)
        return { client in
            AgoraRtmWhoNowResponse(try await question.ask(client, channelName, channelType))
        }
    }

    private static func onlineUsers(
        _ channelName: String, _ channelType: AgoraRtmChannelType, _ options: AgoraRtmGetOnlineUsersOptions?
    ) -> AgoraRtmClientKit.Call<AgoraRtmGetOnlineUsersResponse> {
        let question = OnlineUsersQuestion(options)
        return { client in
            AgoraRtmGetOnlineUsersResponse(try await question.ask(client, channelName, channelType))
        }
    }

    private static func whereNow(_ userId: String) -> AgoraRtmClientKit.Call<AgoraRtmWhereNowResponse> {
        { client in AgoraRtmWhereNowResponse(try await client.whereNow(userId)) }
    }

    private static func userChannels(
        _ userId: String
    ) -> AgoraRtmClientKit.Call<AgoraRtmGetUserChannelsResponse> {
        { client in AgoraRtmGetUserChannelsResponse(try await client.whereNow(userId)) }
    }
}

extension AgoraRtmPresence {
    /// Shows temporary states of this user to a channel; states with other keys keep their values (P-40).
    /// States last as long as the user is in the channel (P-42). Before the channel is subscribed they wait,
    /// and are shown after the subscribe (P-41).
    ///
    /// - Parameters:
    ///   - items: keys of 1…32 bytes, values of at most 1,024 bytes (L-14).
    ///   - completionBlock: gets `.presenceInvalidArgument` (-13003) without items,
    ///     `.presenceInvalidStateKey` (-13006) for an empty key, `.presenceStateKeySizeOverflow` (-13008) or
    ///     `.presenceStateValueSizeOverflow` (-13009) if a key or value is too long,
    ///     `.presenceStateCountOverflow` (-13005) for more than 32 states, `.presenceCacheTooManyStates`
    ///     (-13004) if more than 100 states wait for their channels, or an error of
    ///     ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func setState(
        channelName: String, channelType: AgoraRtmChannelType, items: [String: String],
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("setState", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.setState(items, in: channelName, type: channelType.kind)
        }
    }

    /// See ``setState(channelName:channelType:items:completion:)``.
    @discardableResult
    public func setState(
        channelName: String, channelType: AgoraRtmChannelType, items: [String: String]
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("setState", needs: .message) { client throws(RTMError) in
            try await client.setState(items, in: channelName, type: channelType.kind)
        }
    }

    /// Removes temporary states of this user. Unknown keys are ignored (P-44).
    ///
    /// - Parameters:
    ///   - keys: the keys of the states; empty means all states.
    ///   - completionBlock: for the errors see ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func removeState(
        channelName: String, channelType: AgoraRtmChannelType, keys: [String],
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("removeState", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.removeState(keys, in: channelName, type: channelType.kind)
        }
    }

    /// See ``removeState(channelName:channelType:keys:completion:)``.
    @discardableResult
    public func removeState(
        channelName: String, channelType: AgoraRtmChannelType, keys: [String]
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("removeState", needs: .message) { client throws(RTMError) in
            try await client.removeState(keys, in: channelName, type: channelType.kind)
        }
    }

    /// Reads the temporary states of a user in a channel.
    ///
    /// - Parameter completionBlock: gets `.presenceUserNotExist` (-13011) if the user isn't in the channel,
    ///   or an error of ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func getState(
        channelName: String, channelType: AgoraRtmChannelType, userId: String,
        completion completionBlock: AgoraRtmPresenceGetStateBlock? = nil
    ) {
        kit.begin("getState", needs: .message, completionBlock, Self.state(channelName, channelType, userId))
    }

    /// See ``getState(channelName:channelType:userId:completion:)``.
    @discardableResult
    public func getState(
        channelName: String, channelType: AgoraRtmChannelType, userId: String
    ) async -> (AgoraRtmPresenceGetStateResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getState", needs: .message, Self.state(channelName, channelType, userId))
    }

    private static func state(
        _ channelName: String, _ channelType: AgoraRtmChannelType, _ userId: String
    ) -> AgoraRtmClientKit.Call<AgoraRtmPresenceGetStateResponse> {
        { client in
            let states = try await client.state(of: userId, in: channelName, type: channelType.kind)
            return AgoraRtmPresenceGetStateResponse(userId: userId, states)
        }
    }
}

extension AgoraRtmClientKit {
    /// Returns the calls about who is in channels and which states users show.
    ///
    /// The object keeps this client alive. After `destroy` its calls fail with `.instanceAlreadyReleased`
    /// (-10018).
    public func getPresence() -> AgoraRtmPresence? { AgoraRtmPresence(self) }
}
