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
    let order: UInt32
    let publisher: WireText
    let message: MessageView

    package init(
        channelType: ChannelType, channel: WireText, offset: UInt64, timestampMilliseconds: UInt64,
        order: UInt32 = 0, publisher: WireText, message: MessageView
    ) {
        self.channelType = channelType
        self.channel = channel
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.order = order
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
        sink.field(Fields.order, order)
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

/// One entry of a channel's log that another service encoded: the envelope around an event of presence or
/// storage, or around a message that an app has published in its own database.
package struct EventPublication: ServerFrameBody {
    package typealias Fields = Schema.Publication
    package static var field: SchemaField<Fields> { Schema.ServerFrame.publication }
    let channelType: ChannelType
    let channel: WireText
    let offset: UInt64
    let timestampMilliseconds: UInt64
    let order: UInt32
    let publisher: WireText
    let event: WireText

    /// - Parameter event: the one field of Publication.event, with its key.
    package init(
        channelType: ChannelType, channel: WireText, offset: UInt64, timestampMilliseconds: UInt64,
        order: UInt32 = 0, publisher: WireText, event: WireText
    ) {
        self.channelType = channelType
        self.channel = channel
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.order = order
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
        sink.field(Fields.order, order)
    }

    /// What the bytes are: one event, or one message, and nothing else; nil if they are neither. Its readers
    /// check what is in it.
    package static func kind(of bytes: WireText) -> Kind? {
        var scanner = ProtobufScanner(bytes.bytes)
        do throws(WireError) {
            guard let event = try scanner.next() else { return nil }
            let kind: Kind
            switch event.number {
            case Fields.presence, Fields.storage, Fields.lock: kind = .event
            case Fields.message: kind = .message
            default: return nil
            }
            _ = try event.bytes
            return try scanner.next() == nil ? kind : nil
        } catch {
            return nil
        }
    }

    package enum Kind: Sendable, Hashable { case event, message }
}

extension MessageView {
    /// The message with its key, as a field of a publication: what an AppendRequest carries.
    package var eventField: ByteBuffer { FieldMessage(Schema.Publication.message, self).buffer }
}

/// A body of Publication.event, which knows its field there.
package protocol PublicationEvent: WireMessage {
    static var field: SchemaField<Fields> { get }
}

extension PublicationEvent {
    /// The event with its key: what an AppendRequest carries.
    package var eventField: ByteBuffer { FieldMessage(Self.field, self).buffer }
}
