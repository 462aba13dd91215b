import NIOCore
import RTMModel
import RTMWire

/// A message on its way from an HTTP request to a log. It is handed on many times, so it is an object.
final class GatewayMessage: Sendable {
    let channel: ChannelKey
    let publisher: String
    let type: MessageType
    let payload: ByteBuffer
    let customType: String
    let origin: PublishOrigin
    /// What is expected of the channel; nil if nothing is.
    let condition: PublishCondition?

    /// The same message under a condition that no channel meets: it isn't published, and the answer says
    /// whether it was before.
    var asQuestion: GatewayMessage {
        GatewayMessage(
            self,
            if: PublishCondition(
                newest: StreamPosition(epoch: .max, offset: .max), version: 0, versionEpoch: ""))
    }

    private init(_ message: GatewayMessage, if condition: PublishCondition) {
        (channel, publisher, type) = (message.channel, message.publisher, message.type)
        (payload, customType, origin) = (message.payload, message.customType, message.origin)
        self.condition = condition
    }

    /// - Parameters:
    ///   - channel: one that the caller may reach (`APIClient.check`).
    ///   - publisher: one as whom the caller may act (`APIClient.actingUser`).
    /// - Throws: what the edge refuses a client's message for, with the same codes (M-20 to M-26).
    init(
        to channel: ChannelKey, by publisher: String, _ type: MessageType, _ payload: ByteBuffer,
        customType: String, origin: PublishOrigin, condition: PublishCondition? = nil
    ) throws(RTMError) {
        try NameRule.customType.check(customType.utf8)
        guard payload.readableBytes <= Limits.messageBytesMax else {
            throw RTMError(
                .channelMessageLengthExceedLimitation,
                "the message has \(payload.readableBytes) bytes, \(Limits.messageBytesMax) are allowed",
                limit: .init(name: "message bytes", value: UInt64(Limits.messageBytesMax)))
        }
        self.channel = channel
        self.publisher = publisher
        self.type = type
        self.payload = payload
        self.customType = customType
        self.origin = origin
        self.condition = condition
    }

    func withView<Result>(_ body: (MessageView) -> Result) -> Result {
        customType.withWireText { customType in
            payload.withUnsafeReadableBytes {
                body(MessageView(type: type, payload: WireText($0), customType: customType))
            }
        }
    }

    /// Everybody receives it, the publisher too: no session of his has sent it.
    func withRequest(_ send: (BackendPublishRequest) -> Void) {
        var run = ByteBuffer()
        withView { MessageRun.append($0, to: &run) }
        channel.withView { channel in
            publisher.withWireText { publisher in
                run.withUnsafeReadableBytes { run in
                    let publish = PublishRequest(
                        appID: channel.appID, channelType: channel.type, channel: channel.name,
                        publisher: publisher, publisherSession: 0, needsReceiver: channel.type == .user,
                        origin: origin, messages: MessageRun(run, count: 1))
                    send(BackendPublishRequest(publish, if: condition))
                }
            }
        }
    }
}
