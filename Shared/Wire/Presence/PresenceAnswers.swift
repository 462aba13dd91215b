package import NIOCore
package import RTMModel

/// What presence tells clients (protocol/schema/client/presence.proto): answers to their calls, snapshots,
/// and the events that become entries of channel logs.

/// One temporary state of a user in a channel.
package struct StateItem: WireMessage, Sendable, Hashable {
    package var key: String
    package var value: String

    package init(key: String, value: String) {
        self.key = key
        self.value = value
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, key)
        sink.field(2, value)
    }
}

/// A user of a channel with the states that he shows there, by key.
package struct UserState: ServerFrameBody, Sendable, Hashable {
    package static let field: UInt32 = 23
    package var userID: String
    package var items: [StateItem]

    package init(userID: String, items: [StateItem] = []) {
        self.userID = userID
        self.items = items
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, userID)
        for item in items { sink.field(2, item) }
    }
}

package struct OnlineUsers: ServerFrameBody, Sendable, Hashable {
    package static let field: UInt32 = 20
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
        for user in users { sink.field(1, user) }
        sink.field(2, nextPage)
        sink.field(3, total)
    }
}

package struct UserChannels: ServerFrameBody, Sendable, Hashable {
    package static let field: UInt32 = 21
    package var channels: [Channel]

    package init(channels: [Channel]) { self.channels = channels }

    package struct Channel: WireMessage, Sendable, Hashable {
        package var type: ChannelType
        package var name: String

        package init(type: ChannelType, name: String) {
            self.type = type
            self.name = name
        }

        package func write(to sink: inout some FieldSink) {
            sink.field(1, UInt64(type.rawValue))
            sink.field(2, name)
        }
    }

    package func write(to sink: inout some FieldSink) {
        for channel in channels { sink.field(1, channel) }
    }
}

/// A part of who is in a channel at a position of its log.
package struct PresenceSnapshot: ServerFrameBody, Sendable, Hashable {
    package static let field: UInt32 = 25
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
        sink.field(1, UInt64(channel.type.rawValue))
        sink.field(2, channel.name)
        sink.field(3, position)
        for user in users { sink.field(4, user) }
        sink.field(5, more)
    }
}

// MARK: - Events

/// What happened in a channel, as its subscribers hear it (P-2 to P-6).
package enum PresenceEvent: WireMessage, Sendable, Hashable {
    case joined
    case left
    case timedOut
    /// All states that the user has now (P-6).
    case statesChanged([StateItem])
    case interval(PresenceInterval)

    private var type: UInt64 {
        switch self {
        case .interval: 2
        case .joined: 3
        case .left: 4
        case .timedOut: 5
        case .statesChanged: 6
        }
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, type)
        switch self {
        case .statesChanged(let items): for item in items { sink.field(2, item) }
        case .interval(let interval): sink.field(3, interval)
        case .joined, .left, .timedOut: break
        }
    }

    /// The event as the one field of Publication.event, with its key: what an AppendRequest carries.
    package var field: ByteBuffer {
        let field = PublicationField(event: self)
        var buffer = ByteBuffer()
        field.encode(into: &buffer, length: field.encodedLength)
        return buffer
    }

    private struct PublicationField: WireMessage {
        let event: PresenceEvent
        func write(to sink: inout some FieldSink) { sink.field(7, event) }
    }
}

/// What happened in a big channel in one period (P-2). Who is in `left` or `timedOut` is gone at its end,
/// whoever else is in `joined` is there.
package struct PresenceInterval: WireMessage, Sendable, Hashable {
    package var joined: [String]
    package var left: [String]
    package var timedOut: [String]
    /// In the order of the changes, each with all states of then.
    package var states: [UserState]

    package init(
        joined: [String] = [], left: [String] = [], timedOut: [String] = [], states: [UserState] = []
    ) {
        self.joined = joined
        self.left = left
        self.timedOut = timedOut
        self.states = states
    }

    package func write(to sink: inout some FieldSink) {
        // User ids are never empty, so the rule that a default isn't written drops none.
        for user in joined { sink.field(1, user) }
        for user in left { sink.field(2, user) }
        for user in timedOut { sink.field(3, user) }
        for user in states { sink.field(4, user) }
    }
}
