package import RTMModel

/// What presence answers to clients: the results of their calls, and snapshots
/// (protocol/schema/client/presence.proto).

/// One temporary state of a user in a channel.
package struct StateItem: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.StateItem
    package var key: String
    package var value: String

    package init(key: String, value: String) {
        self.key = key
        self.value = value
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.key, key)
        sink.field(Fields.value, value)
    }
}

/// A user of a channel with the states that the user shows there, ordered by key.
package struct UserState: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.UserState
    package static var field: SchemaField<Fields> { Schema.ServerFrame.userState }
    package var userID: String
    package var items: [StateItem]

    package init(userID: String, items: [StateItem] = []) {
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
    package var users: [UserState]
    /// Empty on the last page.
    package var nextPage: String
    package var total: UInt64

    package init(users: [UserState], nextPage: String, total: UInt64) {
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
    package var channels: [UserChannel]

    package init(channels: [UserChannel]) { self.channels = channels }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channels, channels)
    }
}

/// A channel that a user is in.
package struct UserChannel: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.UserChannel
    package var type: ChannelType
    package var name: String

    package init(type: ChannelType, name: String) {
        self.type = type
        self.name = name
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.type, type)
        sink.field(Fields.name, name)
    }
}

/// A part of the users who are in a channel at a position of its log.
package struct PresenceSnapshot: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.PresenceSnapshot
    package static var field: SchemaField<Fields> { Schema.ServerFrame.presenceSnapshot }
    package var channel: ChannelKey
    package var position: StreamPosition
    package var users: [UserState]
    /// Whether further parts follow.
    package var more: Bool

    package init(channel: ChannelKey, position: StreamPosition, users: [UserState], more: Bool) {
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
