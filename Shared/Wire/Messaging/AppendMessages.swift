package import NIOCore
package import RTMModel

/// Events of presence or storage, to become entries of a channel's log: all of them, or none. Nobody keeps
/// it, so the events are views.
package struct AppendRequest: WireMessage {
    /// Type none: the log of a user's metadata.
    package let channel: ChannelKey
    /// Who appends, by a number of its own; 0 = doesn't ask twice.
    package let source: UInt64
    package let events: EventRun

    package init(channel: ChannelKey, source: UInt64, events: EventRun) {
        self.channel = channel
        self.source = source
        self.events = events
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, source)
        // Last: a reader takes everything from the first event on as the run.
        sink.raw(events.bytes)
    }
}

/// One of them.
package struct AppendedEvent: WireMessage {
    /// The user it is about; may be empty.
    package let publisher: WireText
    /// Doesn't receive the entry; 0 = everybody does.
    package let publisherSession: UInt64
    package let feature: SubscriptionFeatures
    /// The one field of Publication.event, with its key.
    package let event: WireText
    /// Of the source, growing: what isn't above the last one of the channel was appended before.
    package let sequence: UInt64

    package init(
        publisher: WireText, publisherSession: UInt64 = 0, feature: SubscriptionFeatures, event: WireText,
        sequence: UInt64
    ) {
        self.publisher = publisher
        self.publisherSession = publisherSession
        self.feature = feature
        self.event = event
        self.sequence = sequence
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, publisher)
        sink.field(2, publisherSession)
        sink.field(3, UInt64(feature.rawValue))
        sink.field(4, event)
        sink.field(5, sequence)
    }
}

/// The events of an AppendRequest as they lie in it: its field `events`, once for each.
package struct EventRun {
    static let field: UInt32 = 3

    package let bytes: UnsafeRawBufferPointer

    /// - Parameter bytes: what `append` wrote.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// No event: only to be told where the log stands.
    package init() { bytes = UnsafeRawBufferPointer(start: nil, count: 0) }

    /// Adds an event behind those that are in the buffer already.
    package static func append(_ event: AppendedEvent, to buffer: inout ByteBuffer) {
        let entry = Entry(event: event)
        entry.encode(into: &buffer, length: entry.encodedLength)
    }

    private struct Entry: WireMessage {
        let event: AppendedEvent

        func write(to sink: inout some FieldSink) { sink.field(EventRun.field, event) }
    }
}

extension EventRun: Sequence {
    package func makeIterator() -> Iterator { Iterator(scanner: ProtobufScanner(bytes)) }

    /// The events in order. They have been read once already, so this finds nothing malformed.
    package struct Iterator: IteratorProtocol {
        fileprivate var scanner: ProtobufScanner

        package mutating func next() -> AppendedEvent? {
            while let field = try? scanner.next() {
                guard field.number == EventRun.field, let bytes = try? field.bytes else { continue }
                return try? AppendedEvent(scanning: bytes)
            }
            return nil
        }
    }
}
