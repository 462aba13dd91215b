package import RTMModel

/// The answers about a connection and its session (protocol/schema/client/session.proto).

package struct Welcome: ServerFrameBody {
    package typealias Fields = Schema.Welcome
    package static var field: SchemaField<Fields> { Schema.ServerFrame.welcome }
    let version: UInt32
    let serverTimeMilliseconds: UInt64
    let frameBytesMax: Int
    let server: String
    let handshakeTimeout: Duration

    package init(
        version: UInt32, serverTimeMilliseconds: UInt64, frameBytesMax: Int, server: String,
        handshakeTimeout: Duration
    ) {
        self.version = version
        self.serverTimeMilliseconds = serverTimeMilliseconds
        self.frameBytesMax = frameBytesMax
        self.server = server
        self.handshakeTimeout = handshakeTimeout
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.version, version)
        sink.field(Fields.serverTimeMs, serverTimeMilliseconds)
        sink.field(Fields.frameBytesMax, UInt32(clamping: frameBytesMax))
        sink.field(Fields.server, server)
        sink.field(Fields.handshakeTimeoutMs, milliseconds: handshakeTimeout)
    }
}

package struct LoggedIn: ServerFrameBody {
    package typealias Fields = Schema.LoggedIn
    package static var field: SchemaField<Fields> { Schema.ServerFrame.loggedIn }
    let session: SessionID
    let serverTimeMilliseconds: UInt64
    let heartbeatIntervalSeconds: UInt32
    let heartbeatGraceSeconds: UInt32
    let inboxPosition: StreamPosition
    let inboxGap: Bool
    /// How many of the subscriptions in the login are taken up, and how many of its users are followed.
    let subscriptionCount: Int
    let followedUserCount: Int
    let publishRates: PublishRates

    package init(
        session: SessionID, serverTimeMilliseconds: UInt64, heartbeatIntervalSeconds: UInt32,
        heartbeatGraceSeconds: UInt32, inboxPosition: StreamPosition, inboxGap: Bool,
        subscriptionCount: Int, followedUserCount: Int, publishRates: PublishRates
    ) {
        self.session = session
        self.serverTimeMilliseconds = serverTimeMilliseconds
        self.heartbeatIntervalSeconds = heartbeatIntervalSeconds
        self.heartbeatGraceSeconds = heartbeatGraceSeconds
        self.inboxPosition = inboxPosition
        self.inboxGap = inboxGap
        self.subscriptionCount = subscriptionCount
        self.followedUserCount = followedUserCount
        self.publishRates = publishRates
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.sessionId, session.rawValue)
        sink.field(Fields.serverTimeMs, serverTimeMilliseconds)
        sink.field(Fields.heartbeatIntervalS, heartbeatIntervalSeconds)
        sink.field(Fields.heartbeatGraceS, heartbeatGraceSeconds)
        sink.field(Fields.inboxPosition, inboxPosition)
        sink.field(Fields.inboxGap, inboxGap)
        sink.field(Fields.subscriptions, UInt32(clamping: subscriptionCount))
        sink.field(Fields.followedUsers, UInt32(clamping: followedUserCount))
        sink.field(Fields.publishRates, publishRates)
    }
}

/// How fast a session may publish, so that its client can pace itself. 0 means that there is no limit.
package struct PublishRates: WireMessage {
    package typealias Fields = Schema.PublishRates
    /// Messages a second to one channel or user.
    let targetMessages: Int
    /// Messages a second, and bytes of payload, to all channels and users together.
    let sessionMessages: Int
    let sessionBytes: Int
    /// Messages a second to one topic.
    let topicMessages: Int

    package init(targetMessages: Int, sessionMessages: Int, sessionBytes: Int, topicMessages: Int) {
        self.targetMessages = targetMessages
        self.sessionMessages = sessionMessages
        self.sessionBytes = sessionBytes
        self.topicMessages = topicMessages
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.targetMessages, UInt32(clamping: targetMessages))
        sink.field(Fields.sessionMessages, UInt32(clamping: sessionMessages))
        sink.field(Fields.sessionBytes, UInt64(clamping: sessionBytes))
        sink.field(Fields.topicMessages, UInt32(clamping: topicMessages))
    }
}

package struct TokenRenewed: ServerFrameBody {
    package typealias Fields = Schema.TokenRenewed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.tokenRenewed }
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}

/// The server sends it once for each token, of its own accord, 30 seconds before the token expires (S-50).
package struct TokenWillExpire: ServerFrameBody {
    package typealias Fields = Schema.TokenWillExpire
    package static var field: SchemaField<Fields> { Schema.ServerFrame.tokenWillExpire }
    let remaining: Duration
    /// The stream channel whose token it is; empty for the token of the session.
    let channel: String

    package init(remaining: Duration, channel: String = "") {
        self.remaining = remaining
        self.channel = channel
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.remainingMs, milliseconds: remaining)
        sink.field(Fields.channel, channel)
    }
}

/// The server has ended a membership of a stream channel.
package struct ChannelEnded: ServerFrameBody {
    package typealias Fields = Schema.ChannelEnded
    package static var field: SchemaField<Fields> { Schema.ServerFrame.channelEnded }
    let channelType: ChannelType
    let channel: String
    let error: RTMError

    package init(_ channel: ChannelKey, _ error: RTMError) {
        channelType = channel.type
        self.channel = channel.name
        self.error = error
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channelType)
        sink.field(Fields.channel, channel)
        sink.field(Fields.error, error)
    }
}

package struct LoggedOut: ServerFrameBody {
    package typealias Fields = Schema.LoggedOut
    package static var field: SchemaField<Fields> { Schema.ServerFrame.loggedOut }
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}

package struct HeartbeatAck: ServerFrameBody {
    package typealias Fields = Schema.HeartbeatAck
    package static var field: SchemaField<Fields> { Schema.ServerFrame.heartbeatAck }
    let serverTimeMilliseconds: UInt64

    package init(serverTimeMilliseconds: UInt64) {
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.serverTimeMs, serverTimeMilliseconds)
    }
}

/// The answer to a request that took effect and has nothing to say beyond that.
package struct Done: ServerFrameBody {
    package typealias Fields = Schema.Done
    package static var field: SchemaField<Fields> { Schema.ServerFrame.done }
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}
