package import NIOCore
package import RTMModel

/// One entry of a channel's log that is a message. It is encoded once, where the entry gets its offset; what
/// subscribers receive are copies.
package struct Publication: ServerFrameBody {
    package typealias Fields = Schema.Publication
    package static var field: SchemaField<Fields> { Schema.ServerFrame.publication }
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
        sink.field(Fields.channelType, channelType)
        sink.field(Fields.channel, channel)
        sink.field(Fields.offset, offset)
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.message, message)
    }

    /// Appends the entry as subscribers receive it. It is here for the same reason as that of
    /// `Published`.
    package func encodeFrame(into buffer: inout ByteBuffer) {
        ServerFrame(self).encodeFrame(into: &buffer)
    }

    /// The publisher's name in a ServerFrame with its length prefix; nil if the frame is no publication.
    package static func publisher(inFrame frame: UnsafeRawBufferPointer) -> WireText? {
        var publisher: WireText?
        do throws(WireError) {
            var outer = ProtobufScanner(
                UnsafeRawBufferPointer(rebasing: frame.dropFirst(FrameReader.prefixLength)))
            while let body = try outer.next() {
                guard body.number == field.number else { continue }
                var scanner = ProtobufScanner(try body.bytes)
                while let entry = try scanner.next() {
                    if entry.number == Fields.publisher.number { publisher = try entry.view }
                }
            }
        } catch {
            return nil
        }
        return publisher
    }
}

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

    /// Whether the bytes are one event and nothing else. Its readers check what is in the event.
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
