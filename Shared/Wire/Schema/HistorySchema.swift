// Written by protocol/generate_wire.py from client/history.proto: `make generate`.
// swift-format-ignore-file

package import RTMModel

extension Schema {
    /// rtm.client.GetHistory
    package enum GetHistory {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var count: SchemaField<UInt32> { SchemaField(3) }
        package static var startMs: SchemaField<UInt64> { SchemaField(4) }
        package static var endMs: SchemaField<UInt64> { SchemaField(5) }
    }

    /// rtm.client.HistoryPage
    package enum HistoryPage {
        package static var messages: SchemaField<[HistoryMessage]> { SchemaField(1) }
        package static var newStartMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.client.HistoryMessage
    package enum HistoryMessage {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var payload: SchemaField<Bytes> { SchemaField(2) }
        package static var customType: SchemaField<String> { SchemaField(3) }
        package static var publisher: SchemaField<String> { SchemaField(4) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(5) }
        package static var order: SchemaField<UInt32> { SchemaField(6) }
    }
}

/// Walks from newer to older. Answered by HistoryPage.
package struct GetHistory: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.GetHistory
    /// Message or user.
    package var channelType: ChannelType?
    package var channel: String
    /// 1..100.
    package var count: UInt32
    /// The newer bound, in milliseconds, or as HistoryPage names it; 0 = none. Exclusive without `end_ms`,
    /// inclusive with it.
    package var start: UInt64
    /// The older bound, inclusive; 0 = none.
    package var end: UInt64

    package init(
        channelType: ChannelType?, channel: String = "", count: UInt32 = 0, start: UInt64 = 0,
        end: UInt64 = 0
    ) {
        self.channelType = channelType
        self.channel = channel
        self.count = count
        self.start = start
        self.end = end
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channelType)
        sink.field(Fields.channel, channel)
        sink.field(Fields.count, count)
        sink.field(Fields.startMs, start)
        sink.field(Fields.endMs, end)
    }
}

extension GetHistory: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var channelType: ChannelType? = ChannelType(rawValue: 0)
        var channel: String = ""
        var count: UInt32 = 0
        var start: UInt64 = 0
        var end: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channelType: channelType = ChannelType(rawValue: try field.enumeration)
            case Fields.channel: channel = try field.view.copiedName()
            case Fields.count: count = try field.uint32
            case Fields.startMs: start = try field.uint64
            case Fields.endMs: end = try field.uint64
            default: break
            }
        }
        self.init(channelType: channelType, channel: channel, count: count, start: start, end: end)
    }
}

package struct HistoryPage: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.HistoryPage
    package static var field: SchemaField<Fields> { Schema.ServerFrame.historyPage }
    /// Newest first.
    package var messages: [HistoryMessage]
    /// GetHistory.start_ms of the next page; 0 = there is none. From 10^14 on it is 1,024 times a
    /// millisecond, plus the place in it.
    package var newStart: UInt64

    package init(messages: [HistoryMessage] = [], newStart: UInt64 = 0) {
        self.messages = messages
        self.newStart = newStart
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.messages, messages)
        sink.field(Fields.newStartMs, newStart)
    }
}

package struct HistoryMessage: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.HistoryMessage
    package var type: MessageType
    package var payload: [UInt8]
    package var customType: String
    package var publisher: String
    /// That of the live event.
    package var timestampMilliseconds: UInt64
    /// The place among the channel's messages with the same timestamp_ms.
    package var order: UInt32

    package init(
        type: MessageType, payload: [UInt8] = [], customType: String = "", publisher: String = "",
        timestampMilliseconds: UInt64 = 0, order: UInt32 = 0
    ) {
        self.type = type
        self.payload = payload
        self.customType = customType
        self.publisher = publisher
        self.timestampMilliseconds = timestampMilliseconds
        self.order = order
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.type, type)
        payload.withUnsafeBytes { sink.field(Fields.payload, WireText($0)) }
        sink.field(Fields.customType, customType)
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.order, order)
    }
}
