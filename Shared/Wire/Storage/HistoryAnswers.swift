/// What storage answers to clients about history (protocol/schema/client/history.proto).

package struct HistoryPage: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.HistoryPage
    package static var field: SchemaField<Fields> { Schema.ServerFrame.historyPage }
    /// The newest message comes first.
    package var messages: [HistoryMessage]
    /// Where the next page starts; 0 if there is none.
    package var newStart: UInt64

    package init(messages: [HistoryMessage], newStart: UInt64) {
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
    package var timestampMilliseconds: UInt64

    package init(
        type: MessageType, payload: [UInt8], customType: String, publisher: String,
        timestampMilliseconds: UInt64
    ) {
        self.type = type
        self.payload = payload
        self.customType = customType
        self.publisher = publisher
        self.timestampMilliseconds = timestampMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.type, type)
        payload.withUnsafeBytes { sink.field(Fields.payload, WireText($0)) }
        sink.field(Fields.customType, customType)
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.timestampMs, timestampMilliseconds)
    }
}
