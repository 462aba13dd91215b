package import NIOCore
package import RTMModel

/// One record of what a messaging node did in a turn of its event loop, as another node reads it. A batch is
/// not kept, so the records are views.
package enum JournalRecord {
    case entries(JournaledEntries)
    case channel(JournaledChannel)
    case ownership(JournaledOwnership)
    case heads(JournaledHeads)
    case version(JournaledVersion)
}

/// The records of one turn of the event loop, one behind the other, as they lie in the journal.
package struct JournalBatch {
    package private(set) var bytes = ByteBuffer()

    package init() {}

    package var isEmpty: Bool { bytes.readableBytes == 0 }

    package mutating func append(_ entries: JournaledEntries) {
        append(RepeatedField(field: Schema.JournalBatch.entries, message: entries))
    }

    package mutating func append(_ channel: JournaledChannel) {
        append(RepeatedField(field: Schema.JournalBatch.channels, message: channel))
    }

    package mutating func append(_ ownership: JournaledOwnership) {
        append(RepeatedField(field: Schema.JournalBatch.ownerships, message: ownership))
    }

    package mutating func append(_ heads: JournaledHeads) {
        append(RepeatedField(field: Schema.JournalBatch.heads, message: heads))
    }

    package mutating func append(_ version: JournaledVersion) {
        append(RepeatedField(field: Schema.JournalBatch.versions, message: version))
    }

    private mutating func append(_ record: some WireMessage) {
        record.encode(into: &bytes, length: record.encodedLength)
    }

    /// Takes the bytes out.
    package mutating func take() -> ByteBuffer {
        defer { bytes = ByteBuffer() }
        return bytes
    }
}

/// One element of a repeated field.
private struct RepeatedField<Element: WireMessage>: WireMessage {
    let field: SchemaField<[Element.Fields]>
    let message: Element

    @inline(__always)
    func write(to sink: inout some FieldSink) { sink.element(of: field, message) }
}

// MARK: - Records

/// Entries that were appended to a channel together, with consecutive offsets.
package struct JournaledEntries: WireMessage {
    package typealias Fields = Schema.JournaledEntries
    package let channel: ChannelKey
    /// Offset and timestamp of the first entry.
    package let offset: UInt64
    package let timestamp: UInt64
    package let count: Int
    package let publisherSession: UInt64
    package let feature: SubscriptionFeatures
    /// A frame for each entry, with its length prefix.
    package let frames: WireText
    /// Of the first entry, beside its timestamp.
    package var order: UInt32 = 0
    /// Number of the publisher, by the secret of the journal; 0 = none.
    package var user: UInt32 = 0
    /// Number of the publisher's client; 0 = it sends nothing again.
    package var client: UInt64 = 0
    /// The number that the client gave the first entry.
    package var sequence: UInt64 = 0
    /// Offset of the channel's entry before; 0 = there was none.
    package var previous: UInt64 = 0
    /// For an event, who appended it, and under which number; 0 = it is never sent again.
    package var source: UInt64 = 0
    package var sourceSequence: UInt64 = 0

    package init(
        channel: ChannelKey, offset: UInt64, timestamp: UInt64, count: Int, publisherSession: UInt64,
        feature: SubscriptionFeatures, frames: WireText
    ) {
        self.channel = channel
        self.offset = offset
        self.timestamp = timestamp
        self.count = count
        self.publisherSession = publisherSession
        self.feature = feature
        self.frames = frames
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.offset, offset)
        sink.field(Fields.timestampMs, timestamp)
        sink.field(Fields.count, UInt32(truncatingIfNeeded: count))
        sink.field(Fields.publisherSession, publisherSession)
        sink.field(Fields.feature, feature.rawValue)
        sink.field(Fields.frames, frames)
        sink.field(Fields.user, user)
        sink.field(Fields.client, client)
        sink.field(Fields.sequence, sequence)
        sink.field(Fields.previous, previous)
        sink.field(Fields.source, source)
        sink.field(Fields.sourceSequence, sourceSequence)
        sink.field(Fields.order, order)
    }
}

// MARK: - Reading

extension JournalBatch {
    /// Calls `body` with every record of a batch, in order. An unknown record ends the reading,
    /// because the entries behind it may depend on it.
    package static func read(
        _ bytes: UnsafeRawBufferPointer, _ body: (JournalRecord) throws(WireError) -> Void
    ) throws(WireError) {
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.JournalBatch.entries: try body(.entries(JournaledEntries(scanning: field.bytes)))
            case Schema.JournalBatch.channels: try body(.channel(JournaledChannel(scanning: field.bytes)))
            case Schema.JournalBatch.ownerships:
                try body(.ownership(JournaledOwnership(scanning: field.bytes)))
            case Schema.JournalBatch.heads: try body(.heads(JournaledHeads(scanning: field.bytes)))
            case Schema.JournalBatch.versions: try body(.version(JournaledVersion(scanning: field.bytes)))
            default: throw .undecodable
            }
        }
    }
}

extension JournaledEntries: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var (offset, timestamp, session, count, feature) = (
            UInt64(0), UInt64(0), UInt64(0), UInt32(0), UInt32(0)
        )
        var frames = WireText.empty
        var (user, client, sequence, previous) = (UInt32(0), UInt64(0), UInt64(0), UInt64(0))
        var (source, sourceSequence, order) = (UInt64(0), UInt64(0), UInt32(0))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.offset: offset = try field.uint64
            case Fields.timestampMs: timestamp = try field.uint64
            case Fields.count: count = try field.uint32
            case Fields.publisherSession: session = try field.uint64
            case Fields.feature: feature = try field.uint32
            case Fields.frames: frames = try field.view
            case Fields.user: user = try field.uint32
            case Fields.client: client = try field.uint64
            case Fields.sequence: sequence = try field.uint64
            case Fields.previous: previous = try field.uint64
            case Fields.source: source = try field.uint64
            case Fields.sourceSequence: sourceSequence = try field.uint64
            case Fields.order: order = try field.uint32
            default: throw .undecodable
            }
        }
        self.init(
            channel: try key.channel(), offset: offset, timestamp: timestamp, count: Int(count),
            publisherSession: session, feature: SubscriptionFeatures(rawValue: feature), frames: frames)
        (self.user, self.client, self.sequence, self.previous) = (user, client, sequence, previous)
        (self.source, self.sourceSequence, self.order) = (source, sourceSequence, order)
    }
}
