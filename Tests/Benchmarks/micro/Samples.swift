import NIOCore
import RTMModel
import RTMWire

/// What all cases work on: a message of 128 bytes, which is the size that bench-peers mostly measures with,
/// and names as long as people give them.
enum Sample {
    static let appID = "dev"
    static let channel = "lobby-of-the-house"
    static let publisher = "alice-1234"
    static let payload = [UInt8](repeating: 0x78, count: 128)
    static let timestamp: UInt64 = 1_790_000_000_000

    /// A ClientFrame with a Publish, without its length prefix.
    static let publish = bytes(ClientPublish())

    /// A whole ServerFrame with a Publication, as subscribers receive it.
    static let publication = publications(1)

    /// Several such frames, one behind the other.
    static func publications(_ count: Int) -> ByteBuffer {
        var frames = ByteBuffer()
        for offset in 0..<UInt64(count) {
            withPublication(offset: 70_000 + offset) { $0.encodeFrame(into: &frames) }
        }
        return frames
    }

    static func withPublication<Result>(offset: UInt64, _ body: (Publication) -> Result) -> Result {
        withMessage { message in
            channel.withWireText { channel in
                publisher.withWireText { publisher in
                    body(
                        Publication(
                            channelType: .message, channel: channel, offset: offset,
                            timestampMilliseconds: timestamp, publisher: publisher, message: message))
                }
            }
        }
    }

    static func withMessage<Result>(_ body: (MessageView) -> Result) -> Result {
        payload.withUnsafeBytes {
            let none = WireText(UnsafeRawBufferPointer(start: nil, count: 0))
            return body(MessageView(type: .binary, payload: WireText($0), customType: none))
        }
    }

    /// What a publisher's read brought, on its way to the log: several messages in one request.
    static func withPublishRequest<Result>(
        of messages: ByteBuffer, _ count: Int, to channel: String = channel,
        _ body: (PublishRequest) -> Result
    ) -> Result {
        appID.withWireText { appID in
            channel.withWireText { channel in
                publisher.withWireText { publisher in
                    messages.withUnsafeReadableBytes { messages in
                        body(
                            PublishRequest(
                                appID: appID, channelType: .message, channel: channel, publisher: publisher,
                                publisherSession: 1 << 40, needsReceiver: false,
                                messages: MessageRun(messages, count: count)))
                    }
                }
            }
        }
    }

    static func messages(_ count: Int) -> ByteBuffer {
        var messages = ByteBuffer()
        for _ in 0..<count { withMessage { MessageRun.append($0, to: &messages) } }
        return messages
    }

    static func withDelivery<Result>(
        of frames: ByteBuffer, _ count: Int, interest: UInt64, offset: UInt64,
        _ body: (DeliveryPush) -> Result
    ) -> Result {
        frames.withUnsafeReadableBytes { frames in
            body(
                DeliveryPush(
                    interest: interest, offset: offset, count: count, publisherSession: 1 << 40,
                    feature: .message, frames: WireText(frames)))
        }
    }

    private static func bytes(_ message: some WireMessage) -> [UInt8] {
        var buffer = ByteBuffer()
        message.encode(into: &buffer, length: message.encodedLength)
        return Array(buffer.readableBytesView)
    }
}

/// The client libraries have a codec of their own, so a client's frame is listed here field by field.
private struct ClientPublish: WireMessage {
    func write(to sink: inout some FieldSink) {
        sink.field(Schema.ClientFrame.requestId, 70_000)
        sink.field(Schema.ClientFrame.publish, Body())
    }

    private struct Body: WireMessage {
        typealias Fields = Schema.Publish

        func write(to sink: inout some FieldSink) {
            sink.field(Fields.channelType, ChannelType.message)
            sink.field(Fields.channel, Sample.channel)
            Sample.payload.withUnsafeBytes { sink.field(Fields.payload, WireText($0)) }
        }
    }
}
