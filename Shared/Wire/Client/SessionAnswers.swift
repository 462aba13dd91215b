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

    package init(
        session: SessionID, serverTimeMilliseconds: UInt64, heartbeatIntervalSeconds: UInt32,
        heartbeatGraceSeconds: UInt32, inboxPosition: StreamPosition, inboxGap: Bool
    ) {
        self.session = session
        self.serverTimeMilliseconds = serverTimeMilliseconds
        self.heartbeatIntervalSeconds = heartbeatIntervalSeconds
        self.heartbeatGraceSeconds = heartbeatGraceSeconds
        self.inboxPosition = inboxPosition
        self.inboxGap = inboxGap
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.sessionId, session.rawValue)
        sink.field(Fields.serverTimeMs, serverTimeMilliseconds)
        sink.field(Fields.heartbeatIntervalS, heartbeatIntervalSeconds)
        sink.field(Fields.heartbeatGraceS, heartbeatGraceSeconds)
        sink.field(Fields.inboxPosition, inboxPosition)
        sink.field(Fields.inboxGap, inboxGap)
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

    package init(remaining: Duration) { self.remaining = remaining }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.remainingMs, milliseconds: remaining)
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
