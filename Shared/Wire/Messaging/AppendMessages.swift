package import NIOCore
package import RTMModel

/// Events of presence or storage that shall become entries of a channel's log: all of them, or none.
/// Without events it only returns the log's position. The request is not kept, so the events are views.
package struct AppendRequest: WireMessage {
    package typealias Fields = Schema.AppendRequest
    /// A channel of type none is the log of a user's metadata.
    package let channel: ChannelKey
    /// Who appends, by a number of its own; 0 = the source never sends an event twice.
    package let source: UInt64
    package let events: EventRun

    package init(channel: ChannelKey, source: UInt64, events: EventRun) {
        self.channel = channel
        self.source = source
        self.events = events
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.source, source)
        // The events are written last, because a reader takes everything from the first event on as the run.
        sink.raw(events.bytes)
    }
}

/// One event of an AppendRequest.
package struct AppendedEvent: WireMessage {
    package typealias Fields = Schema.AppendedEvent
    /// The user that the event is about; may be empty.
    package let publisher: WireText
    /// The session that doesn't receive the entry; 0 = all sessions receive it.
    package let publisherSession: UInt64
    package let feature: SubscriptionFeatures
    /// The one field of Publication.event, with its key.
    package let event: WireText
    /// The event's number at its source. It grows: an event whose number isn't above the last one of the
    /// channel was appended before.
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
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.publisherSession, publisherSession)
        sink.field(Fields.feature, feature.rawValue)
        sink.field(Fields.event, event)
        sink.field(Fields.sequence, sequence)
    }
}

/// The events of an AppendRequest as they lie in it: its field `events`, once for each event.
package struct EventRun {
    static var field: SchemaField<[AppendedEvent.Fields]> { AppendRequest.Fields.events }

    package let bytes: UnsafeRawBufferPointer

    /// - Parameter bytes: what `append` wrote.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// No event at all, for a request that only asks for the position of the log's head.
    package init() { bytes = UnsafeRawBufferPointer(start: nil, count: 0) }

    /// Adds an event behind those that are in the buffer already.
    package static func append(_ event: AppendedEvent, to buffer: inout ByteBuffer) {
        let entry = Entry(event: event)
        entry.encode(into: &buffer, length: entry.encodedLength)
    }

    private struct Entry: WireMessage {
        let event: AppendedEvent

        @inline(__always)
        func write(to sink: inout some FieldSink) { sink.element(of: EventRun.field, event) }
    }
}

extension EventRun: Sequence {
    package func makeIterator() -> Iterator { Iterator(scanner: ProtobufScanner(bytes)) }

    /// The events in order. They were read once before, so nothing malformed is found here.
    package struct Iterator: IteratorProtocol {
        fileprivate var scanner: ProtobufScanner

        package mutating func next() -> AppendedEvent? {
            while let field = try? scanner.next() {
                guard field.number == EventRun.field.number, let bytes = try? field.bytes else { continue }
                return try? AppendedEvent(scanning: bytes)
            }
            return nil
        }
    }
}

// MARK: - Reading

extension AppendRequest: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var source: UInt64 = 0
        var first: Int?
        var scanner = ProtobufScanner(bytes)
        var offset = 0
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.source: source = try field.uint64
            case Fields.events:
                _ = try AppendedEvent(scanning: field.bytes)
                first = first ?? offset
            default: break
            }
            offset = scanner.offset
        }
        guard let number = key.type, let type = ChannelType(rawValue: number) else { throw .undecodable }
        let events = first.map { EventRun(UnsafeRawBufferPointer(rebasing: bytes[$0...])) }
        self.init(
            channel: ChannelKey(appID: key.appID.string, type: type, name: key.name.string), source: source,
            events: events ?? EventRun())
    }
}

extension AppendedEvent: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var publisher = WireText.empty
        var publisherSession: UInt64 = 0
        var feature: UInt32 = 0
        var event = WireText.empty
        var sequence: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.publisher: publisher = try field.view
            case Fields.publisherSession: publisherSession = try field.uint64
            case Fields.feature: feature = try field.uint32
            case Fields.event: event = try field.view
            case Fields.sequence: sequence = try field.uint64
            default: break
            }
        }
        self.init(
            publisher: publisher, publisherSession: publisherSession,
            feature: SubscriptionFeatures(rawValue: feature), event: event, sequence: sequence)
    }
}
