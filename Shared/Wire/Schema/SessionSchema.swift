// Written by protocol/generate_wire.py from client/session.proto: `make generate`.
// swift-format-ignore-file

package import RTMModel

extension Schema {
    /// rtm.client.Hello
    package enum Hello {
        package static var versionMin: SchemaField<UInt32> { SchemaField(1) }
        package static var versionMax: SchemaField<UInt32> { SchemaField(2) }
        package static var client: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.client.Welcome
    package enum Welcome {
        package static var version: SchemaField<UInt32> { SchemaField(1) }
        package static var serverTimeMs: SchemaField<UInt64> { SchemaField(2) }
        package static var frameBytesMax: SchemaField<UInt32> { SchemaField(3) }
        package static var server: SchemaField<String> { SchemaField(4) }
        package static var handshakeTimeoutMs: SchemaField<UInt32> { SchemaField(5) }
    }

    /// rtm.client.Login
    package enum Login {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var userId: SchemaField<String> { SchemaField(2) }
        package static var token: SchemaField<String> { SchemaField(3) }
        package static var heartbeatIntervalS: SchemaField<UInt32> { SchemaField(4) }
        package static var presenceTimeoutS: SchemaField<UInt32> { SchemaField(5) }
        package static var inboxAfter: SchemaField<StreamPosition> { SchemaField(6) }
        package static var instance: SchemaField<UInt64> { SchemaField(7) }
        package static var attempt: SchemaField<UInt64> { SchemaField(8) }
        package static var asked: SchemaField<Bool> { SchemaField(9) }
        package static var subscriptions: SchemaField<[Subscribe]> { SchemaField(10) }
        package static var followedUsers: SchemaField<[SubscribeUserMetadata]> { SchemaField(11) }
    }

    /// rtm.client.LoggedIn
    package enum LoggedIn {
        package static var sessionId: SchemaField<UInt64> { SchemaField(1) }
        package static var serverTimeMs: SchemaField<UInt64> { SchemaField(2) }
        package static var heartbeatIntervalS: SchemaField<UInt32> { SchemaField(3) }
        package static var heartbeatGraceS: SchemaField<UInt32> { SchemaField(4) }
        package static var inboxPosition: SchemaField<StreamPosition> { SchemaField(5) }
        package static var inboxGap: SchemaField<Bool> { SchemaField(6) }
        package static var subscriptions: SchemaField<UInt32> { SchemaField(7) }
        package static var followedUsers: SchemaField<UInt32> { SchemaField(8) }
        package static var publishRates: SchemaField<PublishRates> { SchemaField(9) }
    }

    /// rtm.client.PublishRates
    package enum PublishRates {
        package static var targetMessages: SchemaField<UInt32> { SchemaField(1) }
        package static var sessionMessages: SchemaField<UInt32> { SchemaField(2) }
        package static var sessionBytes: SchemaField<UInt64> { SchemaField(3) }
        package static var topicMessages: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.client.RenewToken
    package enum RenewToken {
        package static var token: SchemaField<String> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.TokenRenewed
    package enum TokenRenewed {}

    /// rtm.client.TokenWillExpire
    package enum TokenWillExpire {
        package static var remainingMs: SchemaField<UInt32> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.ChannelEnded
    package enum ChannelEnded {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var error: SchemaField<Error> { SchemaField(3) }
    }

    /// rtm.client.Done
    package enum Done {}

    /// rtm.client.Logout
    package enum Logout {}

    /// rtm.client.LoggedOut
    package enum LoggedOut {}

    /// rtm.client.Heartbeat
    package enum Heartbeat {}

    /// rtm.client.HeartbeatAck
    package enum HeartbeatAck {
        package static var serverTimeMs: SchemaField<UInt64> { SchemaField(1) }
    }

    /// rtm.client.Disconnect
    package enum Disconnect {
        package static var code: SchemaField<Enumeration> { SchemaField(1) }
        package static var reason: SchemaField<String> { SchemaField(2) }
        package static var retryAfterMs: SchemaField<UInt32> { SchemaField(3) }
    }
}

extension Disconnect {
    /// Why the server closes the connection. 3000..3499: connect again; 3500..3999: don't, it would end the
    /// same way.
    package enum Code: Int, Sendable, Hashable, CaseIterable {
        /// This server is going away; another one, or its successor, will take you.
        case draining = 3000
        /// You read more slowly than you are sent; nothing after the last frame was delivered.
        case slowConsumer = 3001
        /// Nothing has arrived within interval + grace.
        case heartbeatTimeout = 3002
        /// The server, or this address there, has as many connections as it may have.
        case tooManyConnections = 3003
        /// The server can't serve you now; its log has the reason.
        case `internal` = 3004
        /// No accepted login in time.
        case handshakeTimeout = 3005
        /// You kept exceeding a rate, although you were refused each time.
        case rateExceeded = 3006
        /// The answer to Logout was sent.
        case loggedOut = 3500
        /// A frame that isn't one: wrong length, undecodable, or out of turn.
        case protocolError = 3501
        /// A length beyond frame_bytes_max.
        case frameTooLarge = 3502
        /// No protocol version in common.
        case versionUnsupported = 3504
        /// The answer to Login has the reason.
        case loginRefused = 3505
        /// The session's token has expired; log in with a new one.
        case tokenExpired = 3506
        /// The user has logged in elsewhere and has not logged out there; the newer session stays (S-10).
        case superseded = 3507
        /// An operator has ended the session.
        case kicked = 3508
    }
}

/// The server's half of the handshake.
package struct Welcome: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Welcome
    package static var field: SchemaField<Fields> { Schema.ServerFrame.welcome }
    /// The version both speak from here on.
    package var version: UInt32
    /// Server's UTC clock.
    package var serverTimeMilliseconds: UInt64
    /// Longest frame that the server accepts, without its length prefix.
    package var frameBytesMax: Int
    /// Name and version of the server software.
    package var server: String
    /// A login has to be accepted within this time from the connection's start.
    package var handshakeTimeout: Duration

    package init(
        version: UInt32 = 0, serverTimeMilliseconds: UInt64 = 0, frameBytesMax: Int = 0,
        server: String = "", handshakeTimeout: Duration = .zero
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

package struct LoggedIn: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.LoggedIn
    package static var field: SchemaField<Fields> { Schema.ServerFrame.loggedIn }
    package var session: SessionID
    package var serverTimeMilliseconds: UInt64
    /// In force, after clamping.
    package var heartbeatIntervalSeconds: UInt32
    /// The session ends this long after a heartbeat that didn't come.
    package var heartbeatGraceSeconds: UInt32
    /// Messages to the user continue after this position.
    package var inboxPosition: StreamPosition
    /// Messages between Login.inbox_after and this position are lost.
    package var inboxGap: Bool
    /// So many of Login.subscriptions, from the first on, are taken up; the client sends the others itself.
    package var subscriptionCount: Int
    /// Likewise of Login.followed_users.
    package var followedUserCount: Int
    /// How fast this session may publish; absent: the server doesn't announce its limits.
    package var publishRates: PublishRates

    package init(
        session: SessionID, serverTimeMilliseconds: UInt64 = 0, heartbeatIntervalSeconds: UInt32 = 0,
        heartbeatGraceSeconds: UInt32 = 0, inboxPosition: StreamPosition, inboxGap: Bool = false,
        subscriptionCount: Int = 0, followedUserCount: Int = 0, publishRates: PublishRates
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

/// How fast a session may publish, so that its client can pace itself. After a rest as much as is allowed in
/// a second may come at once.
package struct PublishRates: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PublishRates
    /// A second, to one channel or user; 0 = no limit.
    package var targetMessages: Int
    /// A second, to all channels and users together; 0 = no limit.
    package var sessionMessages: Int
    /// Of payload a second, to all channels and users together; 0 = no limit.
    package var sessionBytes: Int
    /// A second, to one topic; 0 = no limit.
    package var topicMessages: Int

    package init(
        targetMessages: Int = 0, sessionMessages: Int = 0, sessionBytes: Int = 0, topicMessages: Int = 0
    ) {
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

package struct TokenRenewed: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.TokenRenewed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.tokenRenewed }

    package init() {}

    package func write(to sink: inout some FieldSink) {}
}

/// Sent by the server once per token, 30 s before it expires; at once if it has less to live when it is
/// accepted.
package struct TokenWillExpire: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.TokenWillExpire
    package static var field: SchemaField<Fields> { Schema.ServerFrame.tokenWillExpire }
    /// Until then the session, or the membership, ends unless a new token comes.
    package var remaining: Duration
    /// The stream channel whose token it is; empty = that of the session.
    package var channel: String

    package init(remaining: Duration = .zero, channel: String = "") {
        self.remaining = remaining
        self.channel = channel
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.remainingMs, milliseconds: remaining)
        sink.field(Fields.channel, channel)
    }
}

/// Sent by the server when it has ended a membership of a stream channel, with all that belongs to it.
package struct ChannelEnded: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.ChannelEnded
    package static var field: SchemaField<Fields> { Schema.ServerFrame.channelEnded }
    package var channel: ChannelKey
    /// Why.
    package var error: RTMError

    package init(_ channel: ChannelKey, _ error: RTMError) {
        self.channel = channel
        self.error = error
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channel.type)
        sink.field(Fields.channel, channel.name)
        sink.field(Fields.error, error)
    }
}

/// A request took effect, and there is nothing else to report.
package struct Done: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Done
    package static var field: SchemaField<Fields> { Schema.ServerFrame.done }

    package init() {}

    package func write(to sink: inout some FieldSink) {}
}

package struct LoggedOut: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.LoggedOut
    package static var field: SchemaField<Fields> { Schema.ServerFrame.loggedOut }

    package init() {}

    package func write(to sink: inout some FieldSink) {}
}

package struct HeartbeatAck: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.HeartbeatAck
    package static var field: SchemaField<Fields> { Schema.ServerFrame.heartbeatAck }
    package var serverTimeMilliseconds: UInt64

    package init(serverTimeMilliseconds: UInt64 = 0) {
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.serverTimeMs, serverTimeMilliseconds)
    }
}

/// The last frame of a connection that the server ends.
package struct Disconnect: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Disconnect
    package static var field: SchemaField<Fields> { Schema.ServerFrame.disconnect }
    package var code: Disconnect.Code
    /// One sentence for a person.
    package var reason: String
    /// Wait at least this long before connecting again.
    package var retryAfter: Duration

    package init(_ code: Disconnect.Code, _ reason: String = "", retryAfter: Duration = .zero) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.code, code)
        sink.field(Fields.reason, reason)
        sink.field(Fields.retryAfterMs, milliseconds: retryAfter)
    }
}
