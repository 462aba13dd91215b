package import NIOCore
package import RTMModel

/// A frame from an edge to a client: the answer to a request, or something the server says of its own accord.
package struct ServerFrame<Body: ServerFrameBody>: WireMessage {
    /// Of the request that this answers; 0 for everything else.
    let requestID: UInt64
    let body: Body

    package init(_ body: Body, answering requestID: UInt64 = 0) {
        self.requestID = requestID
        self.body = body
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(1, requestID)
        sink.field(Body.field, body)
    }
}

/// A body of ServerFrame; `field` is its number there.
package protocol ServerFrameBody: WireMessage {
    static var field: UInt32 { get }
}

package struct Welcome: ServerFrameBody {
    package static let field: UInt32 = 2
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
        sink.field(1, UInt64(version))
        sink.field(2, serverTimeMilliseconds)
        sink.field(3, UInt64(frameBytesMax))
        sink.field(4, server)
        sink.field(5, handshakeTimeout.milliseconds)
    }
}

package struct LoggedIn: ServerFrameBody {
    package static let field: UInt32 = 3
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
        sink.field(1, session.rawValue)
        sink.field(2, serverTimeMilliseconds)
        sink.field(3, UInt64(heartbeatIntervalSeconds))
        sink.field(4, UInt64(heartbeatGraceSeconds))
        sink.field(5, inboxPosition)
        sink.field(6, inboxGap)
    }
}

package struct TokenRenewed: ServerFrameBody {
    package static let field: UInt32 = 16
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}

/// Said once per token, of the server's own accord (S-50).
package struct TokenWillExpire: ServerFrameBody {
    package static let field: UInt32 = 17
    let remaining: Duration

    package init(remaining: Duration) { self.remaining = remaining }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, remaining.milliseconds)
    }
}

package struct LoggedOut: ServerFrameBody {
    package static let field: UInt32 = 4
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}

package struct HeartbeatAck: ServerFrameBody {
    package static let field: UInt32 = 5
    let serverTimeMilliseconds: UInt64

    package init(serverTimeMilliseconds: UInt64) {
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, serverTimeMilliseconds)
    }
}

package struct Subscribed: ServerFrameBody {
    package static let field: UInt32 = 6
    let position: StreamPosition
    let unavailable: SubscriptionFeatures
    let gap: Bool

    package init(position: StreamPosition, unavailable: SubscriptionFeatures, gap: Bool) {
        self.position = position
        self.unavailable = unavailable
        self.gap = gap
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, position)
        sink.field(2, UInt64(unavailable.rawValue))
        sink.field(3, gap)
    }
}

package struct UserMetadataSubscribed: ServerFrameBody {
    package static let field: UInt32 = 32
    let position: StreamPosition
    let gap: Bool

    package init(position: StreamPosition, gap: Bool) {
        self.position = position
        self.gap = gap
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, position)
        sink.field(2, gap)
    }
}

package struct Unsubscribed: ServerFrameBody {
    package static let field: UInt32 = 7
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}

package struct Published: ServerFrameBody {
    package static let field: UInt32 = 8
    /// The prefix, and three numbers with their keys.
    private static let frameBytesMax = FrameReader.prefixLength + 3 * 11 + 2
    let offset: UInt64
    let timestampMilliseconds: UInt64

    package init(offset: UInt64, timestampMilliseconds: UInt64) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(1, offset)
        sink.field(2, timestampMilliseconds)
    }

    /// Appends the answers to `count` publishes with consecutive request ids, which got consecutive places in
    /// the log; this is the first. (Here and not at the caller's because generic code of another module is
    /// not specialised, which costs five times as much.)
    package func encodeFrames(answering requestID: UInt64, count: Int, into buffer: inout ByteBuffer) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count * Self.frameBytesMax) { memory in
            guard var sink = MemorySink(memory) else { return 0 }
            var written = 0
            for place in 0..<UInt64(count) {
                let answer = ServerFrame(
                    Published(offset: offset + place, timestampMilliseconds: timestampMilliseconds + place),
                    answering: requestID &+ place)
                let length = answer.encodedLength
                sink.frame(answer, length: length)
                written += FrameReader.prefixLength + length
            }
            return written
        }
    }
}

extension RTMError: ServerFrameBody {
    package static var field: UInt32 { 9 }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, signed: code.rawValue)
        sink.field(2, reason)
        if let retryAfter { sink.field(3, retryAfter.milliseconds) }
        if let limit { sink.field(4, limit) }
        if let conflict { sink.field(5, conflict) }
    }
}

extension RTMError.Conflict: WireMessage {
    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(bitPattern: majorRevision))
        sink.field(2, key ?? "")
        sink.field(3, UInt64(bitPattern: revision))
    }
}

extension RTMError.Limit: WireMessage {
    package func write(to sink: inout some FieldSink) {
        sink.field(1, name)
        sink.field(2, value)
    }
}

/// One entry of a channel's log. Encoded once, where the entry gets its offset; what subscribers receive are
/// copies.
package struct Publication: ServerFrameBody {
    package static let field: UInt32 = 10
    let channelType: ChannelType
    let channel: WireText
    let offset: UInt64
    let timestampMilliseconds: UInt64
    let publisher: WireText
    let message: MessageView

    package init(
        channelType: ChannelType, channel: WireText, offset: UInt64, timestampMilliseconds: UInt64,
        publisher: WireText, message: MessageView
    ) {
        self.channelType = channelType
        self.channel = channel
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.publisher = publisher
        self.message = message
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(channelType.rawValue))
        sink.field(2, channel)
        sink.field(3, offset)
        sink.field(4, timestampMilliseconds)
        sink.field(5, publisher)
        sink.field(6, message)
    }

    /// Appends the entry as subscribers receive it. (Here for the same reason as `Published`'s.)
    package func encodeFrame(into buffer: inout ByteBuffer) {
        ServerFrame(self).encodeFrame(into: &buffer)
    }
}

package struct Gap: ServerFrameBody {
    package static let field: UInt32 = 11
    let channelType: ChannelType
    let channel: String
    let position: StreamPosition

    package init(_ channel: ChannelKey, _ position: StreamPosition) {
        channelType = channel.type
        self.channel = channel.name
        self.position = position
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(channelType.rawValue))
        sink.field(2, channel)
        sink.field(3, position)
    }
}

extension StreamPosition: WireMessage {
    package func write(to sink: inout some FieldSink) {
        sink.field(1, epoch)
        sink.field(2, offset)
    }
}

extension Duration {
    /// Rounded up, so that a time that is not zero stays so.
    package var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1000
            + UInt64(max(0, (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
