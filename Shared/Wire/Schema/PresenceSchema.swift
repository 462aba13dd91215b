// Written by protocol/generate_wire.py from client/presence.proto: `make generate`.
// swift-format-ignore-file

package import RTMModel

extension Schema {
    /// rtm.client.UserState
    package enum UserState {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var items: SchemaField<[StateItem]> { SchemaField(2) }
    }

    /// rtm.client.WhoNow
    package enum WhoNow {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var includeUserId: SchemaField<Bool> { SchemaField(3) }
        package static var includeState: SchemaField<Bool> { SchemaField(4) }
        package static var page: SchemaField<String> { SchemaField(5) }
    }

    /// rtm.client.OnlineUsers
    package enum OnlineUsers {
        package static var users: SchemaField<[UserState]> { SchemaField(1) }
        package static var nextPage: SchemaField<String> { SchemaField(2) }
        package static var total: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.client.WhereNow
    package enum WhereNow {
        package static var userId: SchemaField<String> { SchemaField(1) }
    }

    /// rtm.client.UserChannels
    package enum UserChannels {
        package static var channels: SchemaField<[UserChannel]> { SchemaField(1) }
    }

    /// rtm.client.UserChannel
    package enum UserChannel {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var name: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.SetState
    package enum SetState {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var items: SchemaField<[StateItem]> { SchemaField(3) }
    }

    /// rtm.client.GetState
    package enum GetState {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var userId: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.client.RemoveState
    package enum RemoveState {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var keys: SchemaField<[String]> { SchemaField(3) }
    }

    /// rtm.client.PresenceSnapshot
    package enum PresenceSnapshot {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var position: SchemaField<StreamPosition> { SchemaField(3) }
        package static var users: SchemaField<[UserState]> { SchemaField(4) }
        package static var more: SchemaField<Bool> { SchemaField(5) }
    }

    /// rtm.client.StateChange
    package enum StateChange {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var items: SchemaField<[StateItem]> { SchemaField(2) }
        package static var removed: SchemaField<[String]> { SchemaField(3) }
        package static var whole: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.client.PresenceEvent
    package enum PresenceEvent {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var interval: SchemaField<PresenceInterval> { SchemaField(3) }
        package static var states: SchemaField<StateChange> { SchemaField(4) }
    }

    /// rtm.client.PresenceInterval
    package enum PresenceInterval {
        package static var joined: SchemaField<[String]> { SchemaField(1) }
        package static var left: SchemaField<[String]> { SchemaField(2) }
        package static var timedOut: SchemaField<[String]> { SchemaField(3) }
        package static var states: SchemaField<[StateChange]> { SchemaField(5) }
    }
}

package struct UserState: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.UserState
    package static var field: SchemaField<Fields> { Schema.ServerFrame.userState }
    package var userID: String
    /// By key.
    package var items: [StateItem]

    package init(userID: String = "", items: [StateItem] = []) {
        self.userID = userID
        self.items = items
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.userId, userID)
        sink.field(Fields.items, items)
    }
}

package struct OnlineUsers: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.OnlineUsers
    package static var field: SchemaField<Fields> { Schema.ServerFrame.onlineUsers }
    /// By user id; at most 100.
    package var users: [UserState]
    /// Empty = this is the last page.
    package var nextPage: String
    /// Users on this page; of the channel when none were asked for (P-33).
    package var total: UInt64

    package init(users: [UserState] = [], nextPage: String = "", total: UInt64 = 0) {
        self.users = users
        self.nextPage = nextPage
        self.total = total
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.users, users)
        sink.field(Fields.nextPage, nextPage)
        sink.field(Fields.total, total)
    }
}

package struct UserChannels: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.UserChannels
    package static var field: SchemaField<Fields> { Schema.ServerFrame.userChannels }
    /// By type and name.
    package var channels: [UserChannel]

    package init(channels: [UserChannel] = []) {
        self.channels = channels
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channels, channels)
    }
}

package struct UserChannel: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.UserChannel
    package var type: ChannelType
    package var name: String

    package init(type: ChannelType, name: String = "") {
        self.type = type
        self.name = name
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.type, type)
        sink.field(Fields.name, name)
    }
}

/// Sent after Subscribed to who asked for presence, in as many frames as it takes, before any presence event
/// that isn't contained in it.
package struct PresenceSnapshot: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.PresenceSnapshot
    package static var field: SchemaField<Fields> { Schema.ServerFrame.presenceSnapshot }
    package var channel: ChannelKey
    /// Presence events up to here are in it: pass them over when they come.
    package var position: StreamPosition
    /// By user id, the receiver among them unless quiet.
    package var users: [UserState]
    /// Further frames of this snapshot follow.
    package var more: Bool

    package init(channel: ChannelKey, position: StreamPosition, users: [UserState] = [], more: Bool = false) {
        self.channel = channel
        self.position = position
        self.users = users
        self.more = more
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channel.type)
        sink.field(Fields.channel, channel.name)
        sink.field(Fields.position, position)
        sink.field(Fields.users, users)
        sink.field(Fields.more, more)
    }
}

/// What has changed of a user's states since the event before; the states that it doesn't name are as they
/// were.
package struct StateChange: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.StateChange
    /// Empty in a PresenceEvent: Publication.publisher names the user.
    package var userID: String
    /// States that the user has set, with their values now; by key.
    package var items: [StateItem]
    /// Keys of states that the user doesn't have any more.
    package var removed: [String]
    /// The user has the items and no other states.
    package var isWhole: Bool

    package init(
        userID: String = "", items: [StateItem] = [], removed: [String] = [], isWhole: Bool = false
    ) {
        self.userID = userID
        self.items = items
        self.removed = removed
        self.isWhole = isWhole
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.userId, userID)
        sink.field(Fields.items, items)
        sink.field(Fields.removed, removed)
        sink.field(Fields.whole, isWhole)
    }
}

/// What happened in a big channel in one period; the log of a small channel has the same as single events.
/// Who is in left or timed_out is gone at its end, whoever else is in joined is there then. A user in joined
/// may have been there before.
package struct PresenceInterval: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PresenceInterval
    package var joined: [String]
    package var left: [String]
    package var timedOut: [String]
    /// Each user at most once in a period.
    package var states: [StateChange]

    package init(
        joined: [String] = [], left: [String] = [], timedOut: [String] = [], states: [StateChange] = []
    ) {
        self.joined = joined
        self.left = left
        self.timedOut = timedOut
        self.states = states
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.joined, joined)
        sink.field(Fields.left, left)
        sink.field(Fields.timedOut, timedOut)
        sink.field(Fields.states, states)
    }
}
