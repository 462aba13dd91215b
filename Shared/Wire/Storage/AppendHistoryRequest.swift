import CProtobufC
package import RTMModel
import RTMProtocolC

/// Stores a message, so that it can be found later. Storage keeps it once, however often it is sent.
package struct AppendHistoryRequest: WireMessage {
    package typealias Fields = Schema.AppendHistoryRequest
    package let channel: ChannelKey
    package let publisher: String
    /// If another message of the channel has this time, storage takes the one after the newest.
    package let timestampMilliseconds: UInt64
    package let order: UInt32
    package let message: MessageView
    /// What identifies the message when it is sent again. Without an origin its time and content do.
    package let origin: PublishOrigin

    package init(
        channel: ChannelKey, publisher: String, timestampMilliseconds: UInt64, order: UInt32 = 0,
        message: MessageView, origin: PublishOrigin = .none
    ) {
        self.channel = channel
        self.publisher = publisher
        self.timestampMilliseconds = timestampMilliseconds
        self.order = order
        self.message = message
        self.origin = origin
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.message, message)
        sink.field(Fields.instance, origin.instance)
        sink.field(Fields.sequence, origin.sequence)
        sink.field(Fields.order, order)
    }
}

extension AppendHistoryRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__append_history_request__unpack)
        guard let content = message.message?.pointee else { throw .undecodable }
        try self.init(
            channel: ChannelKey(decoded: message.channel), publisher: WireText(message.publisher).string,
            timestampMilliseconds: message.timestamp_ms, order: message.order,
            message: MessageView(
                type: MessageType(rawValue: Int(content.type.rawValue)), payload: WireText(content.payload),
                customType: WireText(content.custom_type)),
            origin: PublishOrigin(instance: message.instance, sequence: message.sequence))
    }
}

extension AppendHistoryRequest {
    package var time: LogTime { LogTime(milliseconds: timestampMilliseconds, order: order) }
}

extension HistoryMessage {
    /// That of the live event.
    package var time: LogTime {
        get { LogTime(milliseconds: timestampMilliseconds, order: order) }
        set { (timestampMilliseconds, order) = (newValue.milliseconds, newValue.order) }
    }

    package init(
        type: MessageType, payload: [UInt8], customType: String, publisher: String, time: LogTime
    ) {
        self.init(
            type: type, payload: payload, customType: customType, publisher: publisher,
            timestampMilliseconds: time.milliseconds, order: time.order)
    }
}
