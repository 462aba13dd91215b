// Written by protocol/generate_wire.py from service/journal.proto: `make generate`.
// swift-format-ignore-file

package import RTMModel

extension Schema {
    /// rtm.service.JournalBatch
    package enum JournalBatch {
        package static var entries: SchemaField<[JournaledEntries]> { SchemaField(1) }
        package static var channels: SchemaField<[JournaledChannel]> { SchemaField(2) }
        package static var ownerships: SchemaField<[JournaledOwnership]> { SchemaField(3) }
        package static var heads: SchemaField<[JournaledHeads]> { SchemaField(4) }
        package static var versions: SchemaField<[JournaledVersion]> { SchemaField(5) }
    }

    /// rtm.service.JournaledEntries
    package enum JournaledEntries {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var offset: SchemaField<UInt64> { SchemaField(2) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(3) }
        package static var count: SchemaField<UInt32> { SchemaField(4) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(5) }
        package static var feature: SchemaField<UInt32> { SchemaField(6) }
        package static var frames: SchemaField<Bytes> { SchemaField(7) }
        package static var user: SchemaField<UInt32> { SchemaField(8) }
        package static var client: SchemaField<UInt64> { SchemaField(9) }
        package static var sequence: SchemaField<UInt64> { SchemaField(10) }
        package static var previous: SchemaField<UInt64> { SchemaField(11) }
        package static var source: SchemaField<UInt64> { SchemaField(12) }
        package static var sourceSequence: SchemaField<UInt64> { SchemaField(13) }
        package static var order: SchemaField<UInt32> { SchemaField(14) }
    }

    /// rtm.service.JournaledChannel
    package enum JournaledChannel {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var head: SchemaField<UInt64> { SchemaField(2) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(3) }
        package static var hadEntries: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.JournaledOwnership
    package enum JournaledOwnership {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var number: SchemaField<UInt64> { SchemaField(2) }
        package static var owner: SchemaField<UInt64> { SchemaField(3) }
        package static var online: SchemaField<Bool> { SchemaField(4) }
        package static var attempt: SchemaField<UInt64> { SchemaField(5) }
    }

    /// rtm.service.JournaledVersion
    package enum JournaledVersion {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var version: SchemaField<UInt64> { SchemaField(2) }
        package static var epoch: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.service.JournaledHeads
    package enum JournaledHeads {
        package static var heads: SchemaField<[JournaledHead]> { SchemaField(1) }
        package static var timeMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.JournaledHead
    package enum JournaledHead {
        package static var partition: SchemaField<UInt32> { SchemaField(1) }
        package static var offset: SchemaField<UInt64> { SchemaField(2) }
    }
}

/// A channel whose entries have all left memory, as far as a reader may have missed something. Each such
/// channel is written again before its last record leaves the journal.
package struct JournaledChannel: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.JournaledChannel
    package var channel: ChannelKey
    /// Offset of the channel's newest entry; if it never had one, the partition's head when the channel
    /// began.
    package var head: UInt64
    /// Of the newest entry.
    package var timestamp: UInt64
    package var hadEntries: Bool

    package init(channel: ChannelKey, head: UInt64 = 0, timestamp: UInt64 = 0, hadEntries: Bool = false) {
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

extension JournaledChannel: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var channelKey = ScannedKey()
        var head: UInt64 = 0
        var timestamp: UInt64 = 0
        var hadEntries: Bool = false
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: channelKey = try ScannedKey(scanning: field.bytes)
            case Fields.head: head = try field.uint64
            case Fields.timestampMs: timestamp = try field.uint64
            case Fields.hadEntries: hadEntries = try field.bool
            default: throw .undecodable
            }
        }
        try self.init(channel: channelKey.channel(), head: head, timestamp: timestamp, hadEntries: hadEntries)
    }
}

/// Which session owns an inbox, or owned it last.
package struct JournaledOwnership: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.JournaledOwnership
    package var channel: ChannelKey
    package var number: UInt64
    /// 0 = unknown, or the owner has logged out.
    package var owner: UInt64
    package var isOnline: Bool
    /// How far the owner has counted its logins; 0 = not counted.
    package var attempt: UInt64

    package init(
        channel: ChannelKey, number: UInt64 = 0, owner: UInt64 = 0, isOnline: Bool = false,
        attempt: UInt64 = 0
    ) {
        self.channel = channel
        self.number = number
        self.owner = owner
        self.isOnline = isOnline
        self.attempt = attempt
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.number, number)
        sink.field(Fields.owner, owner)
        sink.field(Fields.online, isOnline)
        sink.field(Fields.attempt, attempt)
    }
}

extension JournaledOwnership: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var channelKey = ScannedKey()
        var number: UInt64 = 0
        var owner: UInt64 = 0
        var isOnline: Bool = false
        var attempt: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: channelKey = try ScannedKey(scanning: field.bytes)
            case Fields.number: number = try field.uint64
            case Fields.owner: owner = try field.uint64
            case Fields.online: isOnline = try field.bool
            case Fields.attempt: attempt = try field.uint64
            default: throw .undecodable
            }
        }
        try self.init(
            channel: channelKey.channel(), number: number, owner: owner, isOnline: isOnline,
            attempt: attempt)
    }
}

/// The version of the newest whole state that was published to a channel.
package struct JournaledVersion: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.JournaledVersion
    package var channel: ChannelKey
    package var version: UInt64
    /// PublishCondition.version_epoch.
    package var epoch: String

    package init(channel: ChannelKey, version: UInt64 = 0, epoch: String = "") {
        self.channel = channel
        self.version = version
        self.epoch = epoch
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.version, version)
        sink.field(Fields.epoch, epoch)
    }
}

extension JournaledVersion: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var channelKey = ScannedKey()
        var version: UInt64 = 0
        var epoch: String = ""
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: channelKey = try ScannedKey(scanning: field.bytes)
            case Fields.version: version = try field.uint64
            case Fields.epoch: epoch = try field.view.copiedName()
            default: throw .undecodable
            }
        }
        try self.init(channel: channelKey.channel(), version: version, epoch: epoch)
    }
}

/// The newest offset of every partition. There is one at the beginning of each term and about one in each
/// second.
package struct JournaledHeads: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.JournaledHeads
    package var heads: [JournaledHead]
    /// When these were the offsets.
    package var time: UInt64

    package init(heads: [JournaledHead] = [], time: UInt64 = 0) {
        self.heads = heads
        self.time = time
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.heads, heads)
        sink.field(Fields.timeMs, time)
    }
}

extension JournaledHeads: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var heads: [JournaledHead] = []
        var time: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.heads: heads.append(try JournaledHead(scanning: field.bytes))
            case Fields.timeMs: time = try field.uint64
            default: throw .undecodable
            }
        }
        self.init(heads: heads, time: time)
    }
}

/// The newest offset of one partition.
package struct JournaledHead: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.JournaledHead
    package var partition: UInt32
    /// Of the partition's newest entry.
    package var offset: UInt64

    package init(partition: UInt32 = 0, offset: UInt64 = 0) {
        self.partition = partition
        self.offset = offset
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.partition, partition)
        sink.field(Fields.offset, offset)
    }
}

extension JournaledHead: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var partition: UInt32 = 0
        var offset: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.partition: partition = try field.uint32
            case Fields.offset: offset = try field.uint64
            default: throw .undecodable
            }
        }
        self.init(partition: partition, offset: offset)
    }
}
