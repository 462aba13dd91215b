package import RTMModel

/// A message's content as it lies in a frame.
package struct MessageView: WireMessage {
    package typealias Fields = Schema.Message
    /// Nil for a number that is not a message type.
    package let type: MessageType?
    package let payload: WireText
    package let customType: WireText
    /// How urgent a message of a topic is; it has no meaning elsewhere.
    package let priority: TopicPriority

    package init(
        type: MessageType?, payload: WireText, customType: WireText, priority: TopicPriority = .normal
    ) {
        self.type = type
        self.payload = payload
        self.customType = customType
        self.priority = priority
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.type, type)
        sink.field(Fields.payload, payload)
        sink.field(Fields.customType, customType)
        sink.field(Fields.priority, priority)
    }
}
