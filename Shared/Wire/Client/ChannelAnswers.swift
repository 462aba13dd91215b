package import NIOCore
package import RTMModel

/// The answers about channels and what is published there (protocol/schema/client/channel.proto).

package struct Subscribed: ServerFrameBody {
    package typealias Fields = Schema.Subscribed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.subscribed }
    let position: StreamPosition
    let unavailable: SubscriptionFeatures
    let gap: Bool

    package init(position: StreamPosition, unavailable: SubscriptionFeatures, gap: Bool) {
        self.position = position
        self.unavailable = unavailable
        self.gap = gap
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.featuresUnavailable, unavailable.rawValue)
        sink.field(Fields.gap, gap)
    }
}

package struct UserMetadataSubscribed: ServerFrameBody {
    package typealias Fields = Schema.UserMetadataSubscribed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.userMetadataSubscribed }
    let position: StreamPosition
    let gap: Bool

    package init(position: StreamPosition, gap: Bool) {
        self.position = position
        self.gap = gap
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.gap, gap)
    }
}

package struct Unsubscribed: ServerFrameBody {
    package typealias Fields = Schema.Unsubscribed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.unsubscribed }
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}

package struct Published: ServerFrameBody {
    package typealias Fields = Schema.Published
    package static var field: SchemaField<Fields> { Schema.ServerFrame.published }
    /// Bytes of the prefix, the request id, the body's key and length, and its two numbers with their keys.
    private static let frameBytesMax = FrameReader.prefixLength + 3 * 11 + 2
    let offset: UInt64
    let timestampMilliseconds: UInt64

    package init(offset: UInt64, timestampMilliseconds: UInt64) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.offset, offset)
        sink.field(Fields.timestampMs, timestampMilliseconds)
    }

    /// Appends the answers to `count` publishes with consecutive request ids, which got consecutive places in
    /// the log; this is the first answer.
    ///
    /// It stands here and not at the caller's because generic code of another module is not specialised,
    /// which costs five times as much.
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

/// Says that entries between the client's position and this one are lost.
package struct Gap: ServerFrameBody {
    package typealias Fields = Schema.Gap
    package static var field: SchemaField<Fields> { Schema.ServerFrame.gap }
    let channelType: ChannelType
    let channel: String
    let position: StreamPosition

    package init(_ channel: ChannelKey, _ position: StreamPosition) {
        channelType = channel.type
        self.channel = channel.name
        self.position = position
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channelType)
        sink.field(Fields.channel, channel)
        sink.field(Fields.position, position)
    }
}

extension StreamPosition: WireMessage {
    package typealias Fields = Schema.StreamPosition

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.epoch, epoch)
        sink.field(Fields.offset, offset)
    }
}
