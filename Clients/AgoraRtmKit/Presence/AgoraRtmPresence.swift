import RTMClient
import RTMModel

/// Who is in channels, and which temporary states they show. Got by ``AgoraRtmClientKit/getPresence()``.
///
/// Channels need not be subscribed to be asked about. Every call has two forms that do the same, see
/// ``AgoraRtmClientKit``.
public final class AgoraRtmPresence: NSObject, Sendable {
    private let kit: AgoraRtmClientKit

    init(_ kit: AgoraRtmClientKit) { self.kit = kit }

    // MARK: Who is in a channel

    /// The users of a channel, a page of at most 100 at a time. Users who stay are listed exactly once over
    /// all pages (P-35).
    ///
    /// - Parameters:
    ///   - channelType: `.message` or `.stream`.
    ///   - options: nil means users without states, from the first page (P-37).
    ///   - completionBlock: errors are -13003 states without users (P-34) or a page that isn't one, and for
    ///     all calls about presence: -10008 or -10006 bad name, -10019 bad channel type, -10002 not logged
    ///     in, -13001 not connected, -13012 no answer in time, -13013 presence is not available, -10021 too
    ///     often.
    @preconcurrency
    public func whoNow(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmPresenceOptions?,
        completion completionBlock: AgoraRtmWhoNowBlock? = nil
    ) {
        kit.begin("whoNow", needs: .message, completionBlock, Self.users(channelName, channelType, options))
    }

    /// See ``whoNow(channelName:channelType:options:completion:)``.
    @discardableResult
    public func whoNow(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmPresenceOptions?
    ) async -> (AgoraRtmWhoNowResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("whoNow", needs: .message, Self.users(channelName, channelType, options))
    }

    /// The newer name of ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func getOnlineUsers(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmGetOnlineUsersOptions?,
        completion completionBlock: AgoraRtmGetOnlineUsersBlock? = nil
    ) {
        kit.begin(
            "getOnlineUsers", needs: .message, completionBlock, Self.users(channelName, channelType, options))
    }

    /// See ``getOnlineUsers(channelName:channelType:options:completion:)``.
    @discardableResult
    public func getOnlineUsers(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmGetOnlineUsersOptions?
    ) async -> (AgoraRtmGetOnlineUsersResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getOnlineUsers", needs: .message, Self.users(channelName, channelType, options))
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

    /// The channels that a user is in, except those where it is quiet. Empty for a user who is offline or
    /// unknown (P-36).
    ///
    /// - Parameter completionBlock: for errors see ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func whereNow(userId: String, completion completionBlock: AgoraRtmWhereNowBlock? = nil) {
        kit.begin("whereNow", needs: .message, completionBlock, Self.channels(userId))
    }

    /// See ``whereNow(userId:completion:)``.
    @discardableResult
    public func whereNow(userId: String) async -> (AgoraRtmWhereNowResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("whereNow", needs: .message, Self.channels(userId))
    }

    /// The newer name of ``whereNow(userId:completion:)``.
    @preconcurrency
    public func getUserChannels(
        userId: String, completion completionBlock: AgoraRtmGetUserChannelsBlock? = nil
    ) {
        kit.begin("getUserChannels", needs: .message, completionBlock, Self.channels(userId))
    }

    /// See ``getUserChannels(userId:completion:)``.
    @discardableResult
    public func getUserChannels(
        userId: String
    ) async -> (AgoraRtmGetUserChannelsResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("getUserChannels", needs: .message, Self.channels(userId))
    }

    // The options are read here, in the caller's thread: the app may change its object as soon as the call
    // returns.

    private static func users<Response: AgoraRtmWhoNowResponse>(
        _ channelName: String, _ channelType: AgoraRtmChannelType, _ options: AgoraRtmPresenceOptions?
    ) -> AgoraRtmClientKit.Call<Response> {
        let includeUserID = options?.includeUserId ?? true
        let includeState = options?.includeState ?? false
        let page = options?.page ?? ""
        return { client in
            let response = Response()
            try await response.fill(
                client.whoNow(
                    in: channelName, type: channelType, includeUserID: includeUserID,
                    includeState: includeState, page: page))
            return response
        }
    }

    private static func channels<Response: AgoraRtmWhereNowResponse>(
        _ userId: String
    ) -> AgoraRtmClientKit.Call<Response> {
        { client in
            let response = Response()
            try await response.fill(client.whereNow(userId))
            return response
        }
    }
}

extension AgoraRtmPresence {
    /// Shows temporary states of this user to a channel; states with other keys keep their values (P-40).
    /// They last as long as the user is in the channel (P-42). Before the channel is subscribed they wait,
    /// and are shown then (P-41).
    ///
    /// - Parameters:
    ///   - items: keys of 1…32 bytes, values of at most 1,024 bytes (L-14).
    ///   - completionBlock: errors are -13003 no items, -13006 empty key, -13008 or -13009 key or value too
    ///     long, -13005 more than 32 states, -13004 more than 100 wait for their channels; for the rest see
    ///     ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func setState(
        channelName: String, channelType: AgoraRtmChannelType, items: [String: String],
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("setState", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.setState(items, in: channelName, type: channelType)
        }
    }

    /// See ``setState(channelName:channelType:items:completion:)``.
    @discardableResult
    public func setState(
        channelName: String, channelType: AgoraRtmChannelType, items: [String: String]
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("setState", needs: .message) { client throws(RTMError) in
            try await client.setState(items, in: channelName, type: channelType)
        }
    }

    /// Takes back temporary states of this user; unknown keys are passed over (P-44).
    ///
    /// - Parameters:
    ///   - keys: empty = all.
    ///   - completionBlock: for errors see ``whoNow(channelName:channelType:options:completion:)``.
    @preconcurrency
    public func removeState(
        channelName: String, channelType: AgoraRtmChannelType, keys: [String],
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("removeState", needs: .message, completionBlock) { client throws(RTMError) in
            try await client.removeState(keys, in: channelName, type: channelType)
        }
    }

    /// See ``removeState(channelName:channelType:keys:completion:)``.
    @discardableResult
    public func removeState(
        channelName: String, channelType: AgoraRtmChannelType, keys: [String]
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("removeState", needs: .message) { client throws(RTMError) in
            try await client.removeState(keys, in: channelName, type: channelType)
        }
    }

    /// The temporary states of a user in a channel.
    ///
    /// - Parameter completionBlock: errors are -13011 the user isn't in the channel; for the rest see
    ///   ``whoNow(channelName:channelType:options:completion:)``.
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
            let states = try await client.state(of: userId, in: channelName, type: channelType)
            return AgoraRtmPresenceGetStateResponse(userId: userId, states)
        }
    }
}
