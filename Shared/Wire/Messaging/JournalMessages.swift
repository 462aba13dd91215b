package import NIOCore
package import RTMModel

/// What happened in a turn of a messaging node, as another node reads it. Nobody keeps a batch, so the
/// records are views.
package enum JournalRecord {
    case entries(JournaledEntries)
    case channel(JournaledChannel)
    case claim(JournaledClaim)
    case heads(JournaledHeads)
}

/// The records of a turn, one behind the other, as they lie in the journal.
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

    package mutating func append(_ claim: JournaledClaim) {
        append(RepeatedField(field: Schema.JournalBatch.claims, message: claim))
    }

    package mutating func append(_ heads: JournaledHeads) {
        append(RepeatedField(field: Schema.JournalBatch.heads, message: heads))
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

/// Entries that were appended to a channel together, with consecutive offsets and timestamps.
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
    /// Number of the publisher, by the secret of the journal; 0 = none.
    package var user: UInt32 = 0
    /// Number of the publisher's client; 0 = it sends nothing again.
    package var client: UInt64 = 0
    /// Of the first entry, at its client.
    package var sequence: UInt64 = 0
    /// Offset of the channel's entry before; 0 = there was none.
    package var previous: UInt64 = 0
    /// Of an event: who appended it, and under which number; 0 = it is never sent again.
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
    }
}

/// A channel whose entries have all left memory.
package struct JournaledChannel: WireMessage {
    package typealias Fields = Schema.JournaledChannel
    package let channel: ChannelKey
    /// Offset of the newest entry; of a channel without one: the partition's head when it began.
    package let head: UInt64
    package let timestamp: UInt64
    package let hadEntries: Bool

    package init(channel: ChannelKey, head: UInt64, timestamp: UInt64, hadEntries: Bool) {
        self.channel = channel
        self.head = head
        self.timestamp = timestamp
        self.hadEntries = hadEntries
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.head, head)
        sink.field(Fields.timestampMs, timestamp)
        sink.field(Fields.hadEntries, hadEntries)
    }
}

/// Who has an inbox, or had it last.
package struct JournaledClaim: WireMessage {
    package typealias Fields = Schema.JournaledClaim
    package let channel: ChannelKey
    package let number: UInt64
    /// 0 = unknown, or the holder has logged out.
    package let holder: UInt64
    package let isOnline: Bool
    /// How far the holder has counted its logins; 0 = not counted.
    package let attempt: UInt64

    package init(channel: ChannelKey, number: UInt64, holder: UInt64, isOnline: Bool, attempt: UInt64) {
        self.channel = channel
        self.number = number
        self.holder = holder
        self.isOnline = isOnline
        self.attempt = attempt
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.number, number)
        sink.field(Fields.holder, holder)
        sink.field(Fields.online, isOnline)
        sink.field(Fields.attempt, attempt)
    }
}

/// Where all partitions stand.
package struct JournaledHeads: WireMessage {
    package typealias Fields = Schema.JournaledHeads
    package let heads: [JournaledHead]
    /// When they stood there, in milliseconds.
    package let time: UInt64

    package init(heads: [JournaledHead], time: UInt64) {
        self.heads = heads
        self.time = time
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.heads, heads)
        sink.field(Fields.timeMs, time)
    }
}

package struct JournaledHead: WireMessage {
    package typealias Fields = Schema.JournaledHead
    package let partition: UInt32
    /// Of the newest entry.
    package let offset: UInt64

    package init(partition: UInt32, offset: UInt64) {
        self.partition = partition
        self.offset = offset
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.partition, partition)
        sink.field(Fields.offset, offset)
    }
}
