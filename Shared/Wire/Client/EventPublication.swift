package import RTMModel

/// One entry of a channel's log that is no message: the envelope around an event that its service encoded.
package struct EventPublication: ServerFrameBody {
    package static let field = Publication.field
    /// Presence, storage, lock.
    private static let eventFields: ClosedRange<UInt32> = 7...9
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
        sink.field(1, UInt64(channelType.rawValue))
        sink.field(2, channel)
        sink.field(3, offset)
        sink.field(4, timestampMilliseconds)
        sink.field(5, publisher)
        sink.raw(event.bytes)
    }

    /// Whether the bytes are one event and nothing else. What is in it is its readers' business.
    package static func isEvent(_ bytes: WireText) -> Bool {
        var scanner = ProtobufScanner(bytes.bytes)
        do throws(WireError) {
            guard let event = try scanner.next(), eventFields.contains(event.number) else { return false }
            _ = try event.bytes
            return try scanner.next() == nil
        } catch {
            return false
        }
    }
}
