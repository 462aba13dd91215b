package import NIOCore
package import RTMModel

/// One entry of a channel's log that is not a message: the envelope around an event that its service encoded.
package struct EventPublication: ServerFrameBody {
    package typealias Fields = Schema.Publication
    package static var field: SchemaField<Fields> { Schema.ServerFrame.publication }
    let channelType: ChannelType
    let channel: WireText
    let offset: UInt64
    let timestampMilliseconds: UInt64
    let publisher: WireText
    let event: WireText

    /// - Parameter event: the one field of Publication.event, with its key.
    package init(
        channelType: ChannelType, channel: WireText, offset: UInt64, timestampMilliseconds: UInt64,
        publisher: WireText, event: WireText
    ) {
        self.channelType = channelType
        self.channel = channel
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.publisher = publisher
        self.event = event
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channelType)
        sink.field(Fields.channel, channel)
        sink.field(Fields.offset, offset)
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.publisher, publisher)
        sink.raw(event.bytes)
    }

    /// Whether the bytes are one event and nothing else. What is in the event is its readers' business.
    package static func isEvent(_ bytes: WireText) -> Bool {
        var scanner = ProtobufScanner(bytes.bytes)
        do throws(WireError) {
            guard let event = try scanner.next() else { return false }
            switch event.number {
            case Fields.presence, Fields.storage, Fields.lock: _ = try event.bytes
            default: return false
            }
            return try scanner.next() == nil
        } catch {
            return false
        }
    }
}

/// A body of Publication.event, which knows its field there.
package protocol PublicationEvent: WireMessage {
    static var field: SchemaField<Fields> { get }
}

extension PublicationEvent {
    /// The event with its key: what an AppendRequest carries.
    package var eventField: ByteBuffer { FieldMessage(Self.field, self).buffer }
}
