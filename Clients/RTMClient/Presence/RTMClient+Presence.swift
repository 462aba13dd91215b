import NIOCore
public import RTMModel
import RTMProtocol
import SwiftProtobuf

// Who is where, and what they show. A channel need not be subscribed to be asked about (P-30, P-43).
extension RTMClient {
    /// The users of a channel, a page of at most 100 at a time.
    ///
    /// Users who are there all the time while pages are read are listed exactly once (P-35). Quiet users are
    /// never listed or counted (M-7).
    ///
    /// - Parameters:
    ///   - type: `message` or `stream`.
    ///   - includeUserID: false asks only how many users there are (P-32).
    ///   - includeState: with their temporary states.
    ///   - page: `nextPage` of the page before; empty = the first.
    /// - Throws: -10008 bad name, -10019 a channel of another type, -13003 states without users (P-34) or a
    ///   page that isn't one, -10002 not logged in, -13001 not connected, -13012 no answer in time, -13013
    ///   presence is not available, -10021 too often.
    public func whoNow(
        in channel: String, type: ChannelType = .message, includeUserID: Bool = true,
        includeState: Bool = false, page: String = ""
    ) async throws(RTMError) -> OnlineUsersPage {
        try check(.whoNow) { () throws(RTMError) in
            try check(channel, type)
            guard includeUserID || !includeState else {
                throw RTMError(.presenceInvalidArgument, "states can't be listed without their users")
            }
        }
        let request = Rtm_Client_WhoNow.with {
            $0.channelType = .init(type)
            $0.channel = channel
            $0.includeUserID = includeUserID
            $0.includeState = includeState
            $0.page = page
        }
        return try await call(.whoNow, .whoNow(request)) { body in
            guard case .onlineUsers(let answer) = body else { return nil }
            return OnlineUsersPage(
                users: answer.users.map(UserState.init),
                nextPage: answer.nextPage.isEmpty ? nil : answer.nextPage, total: Int(clamping: answer.total))
        }
    }

    /// All users of a channel, over all pages; each page is fetched when its first user is wanted.
    ///
    /// - Parameter includingStates: with their temporary states.
    public func onlineUsers(
        in channel: String, type: ChannelType = .message, includingStates: Bool = false
    ) -> OnlineUsers {
        OnlineUsers(
            client: self, channel: UserChannel(type: type, name: channel), includingStates: includingStates)
    }

    /// The channels that a user is in, by type and name, except those where it is quiet. Empty for a user who
    /// is offline or unknown (P-36).
    ///
    /// - Throws: -10006 bad user id, -10002 not logged in, -13001 not connected, -13012 no answer in time,
    ///   -13013 presence is not available, -10021 too often.
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

    /// Shows temporary states of this user to the channel; states with other keys keep their values (P-40).
    ///
    /// They last as long as the user is in the channel (P-42), and others hear of each call (P-6). Before the
    /// channel is subscribed they wait in this client, and are shown then (P-41). After a lost connection the
    /// client sets again what the server has forgotten (S-19).
    ///
    /// - Parameter items: keys of 1…32 bytes and values of at most 1,024 bytes (L-14), at least one.
    /// - Throws: -13003 no items, -13006 empty key, -13008 or -13009 key or value too long, -13005 more than
    ///   32 states (L-31), -13004 more than 100 wait for their channels (L-32), -10008 bad name, -10019 a
    ///   channel of another type, -10002 not logged in, -13001 not connected, or the connection was lost:
    ///   then it is not known whether they were set; -13012 no answer in time, -13013 presence is not
    ///   available, -10021 too often.
    public func setState(
        _ items: [String: String], in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        try check(.setState) { () throws(RTMError) in
            try check(channel, type)
            guard !items.isEmpty else { throw RTMError(.presenceInvalidArgument, "there is no state to set") }
            guard items[""] == nil else { throw RTMError(.presenceInvalidStateKey, "a state key is empty") }
        }
        try await perform(.setState) { link, completion in
            link.ownStates.set(items, in: UserChannel(type: type, name: channel), completion)
        }
    }

    /// The temporary states of a user in a channel. Of this user, and before the channel is subscribed, those
    /// that wait for it (P-41).
    ///
    /// - Throws: -13011 the user isn't in the channel, -10006 or -10008 bad name, -10019 a channel of another
    ///   type, -10002 not logged in, -13001 not connected, -13012 no answer in time, -13013 presence is not
    ///   available, -10021 too often.
    public func state(
        of userID: String, in channel: String, type: ChannelType = .message
    ) async throws(RTMError) -> [String: String] {
        try check(.getState) { () throws(RTMError) in
            try check(channel, type)
            try NameRule.user.check(userID.utf8)
        }
        return try await perform(.getState) { link, completion in
            link.ownStates.get(userID, in: UserChannel(type: type, name: channel), completion)
        }
    }

    /// Takes back temporary states of this user. Others hear of it; unknown keys are passed over (P-44).
    ///
    /// - Parameter keys: empty = all.
    /// - Throws: as `setState` does.
    public func removeState(
        _ keys: [String] = [], in channel: String, type: ChannelType = .message
    ) async throws(RTMError) {
        try check(.removeState) { () throws(RTMError) in try check(channel, type) }
        try await perform(.removeState) { link, completion in
            link.ownStates.remove(keys, in: UserChannel(type: type, name: channel), completion)
        }
    }

    /// Who is in a message channel, now and with each change, for one consumer. Own states are in it.
    ///
    /// The channel has to be subscribed with presence, before or afterwards; then the first update gives
    /// everybody. A consumer that is slow misses no member: what it hasn't read is merged into one update.
    /// While the connection is lost nothing is heard; a new roster comes with its return. The sequence ends
    /// after `close()`, and when the client is released; not when the subscription ends (`cleared`).
    ///
    /// ```swift
    /// for await roster in client.roster(of: "lobby") { show(roster.members) }
    /// ```
    public func roster(of channel: String) -> RosterUpdates {
        let watcher = RosterWatcher()
        eventLoop.execute { [link] in link.value.rosters.watch(channel, watcher) }
        return RosterUpdates(watcher: watcher)
    }

    private func check(_ channel: String, _ type: ChannelType) throws(RTMError) {
        // M-35.
        guard type == .message || type == .stream else {
            throw RTMError(.invalidChannelType, "channels of type \(type) have no presence")
        }
        try NameRule.channel.check(channel.utf8)
    }
}
