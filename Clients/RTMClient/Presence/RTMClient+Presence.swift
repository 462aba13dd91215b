import NIOCore
public import RTMModel
import RTMProtocol
import SwiftProtobuf

// Who is where, and what states they show. The app may ask about channels that it has not subscribed to
// (P-30, P-43).
extension RTMClient {
    /// Reads the users of a channel, a page of at most 100 at a time.
    ///
    /// Users who are there all the time while pages are read are listed exactly once (P-35). Quiet users are
    /// never listed or counted (M-7).
    ///
    /// - Parameters:
    ///   - type: `message` or `stream`.
    ///   - includingUsers: `false` asks only how many users there are (P-32).
    ///   - includingStates: whether the users come with their temporary states.
    ///   - page: `nextPage` of the page before, as it is. `nil` asks for the first page.
    /// - Throws: `.invalidChannelName` (-10008) for a bad name, `.invalidChannelType` (-10019) for a channel
    ///   of another type, `.presenceInvalidArgument` (-13003) if states are asked for without users (P-34) or
    ///   the page doesn't exist, `.notLogin` (-10002) if not logged in, `.presenceNotConnected` (-13001) if
    ///   not connected, `.presenceOperationTimeout` (-13012) without an answer in time,
    ///   `.presenceOperationFailed` (-13013) if presence is not available, `.operationRateExceedLimitation`
    ///   (-10021) if called too often.
    public func whoNow(
        in channel: String, type: ChannelType = .message, includingUsers: Bool = true,
        includingStates: Bool = false, page: String? = nil
    ) async throws(RTMError) -> OnlineUsersPage {
        try check(.whoNow) { () throws(RTMError) in
            try check(channel, type)
            guard includingUsers || !includingStates else {
                throw RTMError(.presenceInvalidArgument, "states can't be listed without their users")
            }
        }
        let request = Rtm_Client_WhoNow.with {
            $0.channelType = .init(type)
            $0.channel = channel
            $0.includeUserID = includingUsers
            $0.includeState = includingStates
            $0.page = page ?? ""
        }
        let id = ChannelID(type: type, name: channel)
        return try await perform(.whoNow) { link, completion in
            link.requests.call(completion, .whoNow(request)) { [unowned link] body in
                guard case .onlineUsers(let answer) = body else { return nil }
                let users = answer.users.map(UserState.init)
                return OnlineUsersPage(
                    users: link.encryption?.open(users, in: id) ?? users,
                    nextPage: answer.nextPage.isEmpty ? nil : answer.nextPage,
                    total: Int(clamping: answer.total))
            }
        }
    }

    /// All users of a channel, over all pages. Each page is fetched when its first user is read.
    ///
    /// - Parameter includingStates: whether the users come with their temporary states.
    public func onlineUsers(
        in channel: String, type: ChannelType = .message, includingStates: Bool = false
    ) -> OnlineUsers {
        OnlineUsers(
            client: self, channel: ChannelID(type: type, name: channel), includingStates: includingStates)
    }

    /// Reads the channels that a user is in, by type and name, except those where the user is quiet. A user
    /// who is offline or unknown is in none (P-36).
    ///
    /// - Throws: `.invalidUserId` (-10006) for a bad user id, `.notLogin` (-10002) if not logged in,
    ///   `.presenceNotConnected` (-13001) if not connected, `.presenceOperationTimeout` (-13012) without an
    ///   answer in time, `.presenceOperationFailed` (-13013) if presence is not available,
    ///   `.operationRateExceedLimitation` (-10021) if called too often.
    public func whereNow(_ userID: String) async throws(RTMError) -> [UserChannel] {
        try check(.whereNow) { () throws(RTMError) in try NameRule.user.check(userID.utf8) }
        return try await call(.whereNow, .whereNow(.with { $0.userID = userID })) { body in
            guard case .userChannels(let answer) = body else { return nil }
            return answer.channels.map { channel in
                UserChannel(
                    type: ChannelType(rawValue: channel.type.rawValue) ?? .none, name: channel.name)
            }
        }
    }

    /// Shows temporary states of this user to the channel. States with other keys keep their values (P-40).
    ///
    /// The states last as long as the user is in the channel (P-42), and others get an event for each call
    /// (P-6). Before the channel is subscribed the states wait in this client, and are shown then (P-41).
    /// After a lost connection the client sets again what the server has forgotten (S-19).
    ///
    /// - Parameter items: keys of 1…32 bytes and values of at most 1,024 bytes (L-14), at least one.
    /// - Throws: `.presenceInvalidArgument` (-13003) without items, `.presenceInvalidStateKey` (-13006) for
    ///   an empty key, `.presenceStateKeySizeOverflow` (-13008) or `.presenceStateValueSizeOverflow` (-13009)
    ///   if a key or value is too long, `.presenceStateCountOverflow` (-13005) for more than 32 states
    ///   (L-31), `.presenceCacheTooManyStates` (-13004) if more than 100 wait for their channels (L-32),
    ///   `.invalidChannelName` (-10008) for a bad name, `.invalidChannelType` (-10019) for a channel of
    ///   another type, `.notLogin` (-10002) if not logged in, `.presenceNotConnected` (-13001) if not
    ///   connected, or if the connection was lost and nobody knows whether the states were set;
    ///   `.presenceOperationTimeout` (-13012) without an answer in time, `.presenceOperationFailed` (-13013)
    ///   if presence is not available, `.operationRateExceedLimitation` (-10021) if called too often.
    public func setState(
        _ items: [String: String], in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        try check(.setState) { () throws(RTMError) in
            try check(channel, type)
            guard !items.isEmpty else { throw RTMError(.presenceInvalidArgument, "there is no state to set") }
            guard items[""] == nil else { throw RTMError(.presenceInvalidStateKey, "a state key is empty") }
        }
        try await perform(.setState) { link, completion in
            link.ownStates.set(items, in: ChannelID(type: type, name: channel), completion)
        }
    }

    /// Reads the temporary states of a user in a channel. For this user, before the channel is subscribed,
    /// they are the states that wait for it (P-41).
    ///
    /// - Throws: `.presenceUserNotExist` (-13011) if the user isn't in the channel, `.invalidUserId` (-10006)
    ///   or `.invalidChannelName` (-10008) for a bad name, `.invalidChannelType` (-10019) for a channel of
    ///   another type, `.notLogin` (-10002) if not logged in, `.presenceNotConnected` (-13001) if not
    ///   connected, `.presenceOperationTimeout` (-13012) without an answer in time,
    ///   `.presenceOperationFailed` (-13013) if presence is not available, `.operationRateExceedLimitation`
    ///   (-10021) if called too often.
    public func state(
        of userID: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) -> [String: String] {
        try check(.getState) { () throws(RTMError) in
            try check(channel, type)
            try NameRule.user.check(userID.utf8)
        }
        return try await perform(.getState) { link, completion in
            link.ownStates.get(userID, in: ChannelID(type: type, name: channel), completion)
        }
    }

    /// Removes temporary states of this user. Others get an event. Unknown keys are ignored (P-44).
    ///
    /// - Parameter keys: the keys of the states. No key means all of them.
    /// - Throws: as `setState` does.
    public func removeState(
        _ keys: [String] = [], in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        try check(.removeState) { () throws(RTMError) in try check(channel, type) }
        try await perform(.removeState) { link, completion in
            link.ownStates.remove(keys, in: ChannelID(type: type, name: channel), completion)
        }
    }

    /// Who is in a message channel, now and with each change, for one consumer. Own states are in it.
    ///
    /// The channel has to be subscribed with presence, before or afterwards. The first update then names
    /// everybody. A slow consumer misses no member, because what it hasn't read is merged into one update.
    /// While the connection is lost no update comes, and a new roster comes with its return. The sequence
    /// ends after `close()` and when the client is released. When the subscription ends the update says
    /// `cleared`, and the sequence continues.
    ///
    /// ```swift
    /// for await roster in client.roster(of: "lobby") { show(roster.members) }
    /// ```
    public func roster(of channel: String) -> RosterUpdates {
        let watcher = RosterWatcher()
        eventLoop.execute { [link] in link.value.rosters.watch(.message(channel), watcher) }
        return RosterUpdates(watcher: watcher)
    }

    private func check(_ channel: String, _ type: ChannelType) throws(RTMError) {
        // Other types of channels have no presence (M-35).
        guard type == .message || type == .stream else {
            throw RTMError(.invalidChannelType, "channels of type \(type) have no presence")
        }
        try NameRule.channel.check(channel.utf8)
    }
}
