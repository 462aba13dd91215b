// Written by protocol/generate_wire.py from client/storage.proto: `make generate`.
// swift-format-ignore-file

package import RTMModel

extension Schema {
    /// rtm.client.MetadataItem
    package enum MetadataItem {
        package static var key: SchemaField<String> { SchemaField(1) }
        package static var value: SchemaField<String> { SchemaField(2) }
        package static var revision: SchemaField<Int64> { SchemaField(3) }
        package static var updateTsMs: SchemaField<UInt64> { SchemaField(4) }
        package static var author: SchemaField<String> { SchemaField(5) }
    }

    /// rtm.client.WriteMetadata
    package enum WriteMetadata {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var target: SchemaField<String> { SchemaField(2) }
        package static var kind: SchemaField<Enumeration> { SchemaField(3) }
        package static var items: SchemaField<[MetadataItem]> { SchemaField(4) }
        package static var majorRevision: SchemaField<Int64> { SchemaField(5) }
        package static var recordTs: SchemaField<Bool> { SchemaField(6) }
        package static var recordAuthor: SchemaField<Bool> { SchemaField(7) }
        package static var lock: SchemaField<String> { SchemaField(8) }
        package static var fencingToken: SchemaField<UInt64> { SchemaField(9) }
    }

    /// rtm.client.MetadataWritten
    package enum MetadataWritten {
        package static var majorRevision: SchemaField<Int64> { SchemaField(1) }
    }

    /// rtm.client.GetMetadata
    package enum GetMetadata {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var target: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.Metadata
    package enum Metadata {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var target: SchemaField<String> { SchemaField(2) }
        package static var majorRevision: SchemaField<Int64> { SchemaField(3) }
        package static var items: SchemaField<[MetadataItem]> { SchemaField(4) }
    }

    /// rtm.client.SubscribeUserMetadata
    package enum SubscribeUserMetadata {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var after: SchemaField<StreamPosition> { SchemaField(2) }
        package static var requestId: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.client.UserMetadataSubscribed
    package enum UserMetadataSubscribed {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var gap: SchemaField<Bool> { SchemaField(2) }
    }

    /// rtm.client.UnsubscribeUserMetadata
    package enum UnsubscribeUserMetadata {
        package static var userId: SchemaField<String> { SchemaField(1) }
    }

    /// rtm.client.StorageEvent
    package enum StorageEvent {
        package static var majorRevision: SchemaField<Int64> { SchemaField(1) }
        package static var items: SchemaField<[MetadataItem]> { SchemaField(2) }
    }

    /// rtm.client.Conflict
    package enum Conflict {
        package static var majorRevision: SchemaField<Int64> { SchemaField(1) }
        package static var key: SchemaField<String> { SchemaField(2) }
        package static var revision: SchemaField<Int64> { SchemaField(3) }
    }
}

package enum MetadataWriteKind: Int, Sendable, Hashable, CaseIterable {
    /// Creates or overwrites.
    case set = 0
    /// Every item must exist.
    case update = 1
    /// Every item must exist; no items = the whole set.
    case remove = 2
}

package struct MetadataItem: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.MetadataItem
    /// 1..32 bytes of printable ASCII.
    package var key: String
    /// At most 16 KB; passed over in a removal.
    package var value: String
    /// In a write: apply only if this is the item's; -1 = only if there is none; 0 = don't compare.
    package var revision: Int64
    /// Only from the server: when it was written, if that was to be recorded.
    package var updatedMilliseconds: UInt64
    /// Only from the server: who wrote it, if that was to be recorded.
    package var author: String

    package init(
        key: String = "", value: String = "", revision: Int64 = 0, updatedMilliseconds: UInt64 = 0,
        author: String = ""
    ) {
        self.key = key
        self.value = value
        self.revision = revision
        self.updatedMilliseconds = updatedMilliseconds
        self.author = author
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.key, key)
        sink.field(Fields.value, value)
        sink.field(Fields.revision, revision)
        sink.field(Fields.updateTsMs, updatedMilliseconds)
        sink.field(Fields.author, author)
    }
}

extension MetadataItem: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key: String = ""
        var value: String = ""
        var revision: Int64 = 0
        var updatedMilliseconds: UInt64 = 0
        var author: String = ""
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.key: key = try field.view.copiedName()
            case Fields.value: value = try field.view.copiedName()
            case Fields.revision: revision = try field.int64
            case Fields.updateTsMs: updatedMilliseconds = try field.uint64
            case Fields.author: author = try field.view.copiedName()
            default: break
            }
        }
        self.init(
            key: key, value: value, revision: revision, updatedMilliseconds: updatedMilliseconds,
            author: author)
    }
}

package struct MetadataWritten: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.MetadataWritten
    package static var field: SchemaField<Fields> { Schema.ServerFrame.metadataWritten }
    /// Of the set, and of each written item.
    package var majorRevision: Int64

    package init(majorRevision: Int64 = 0) {
        self.majorRevision = majorRevision
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.majorRevision, majorRevision)
    }
}

/// A whole set. Also sent without request, once after Subscribed or UserMetadataSubscribed, as the snapshot
/// that events continue.
package struct Metadata: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Metadata
    package static var field: SchemaField<Fields> { Schema.ServerFrame.metadata }
    package var channel: ChannelKey
    /// 0 = nothing was ever written.
    package var majorRevision: Int64
    /// In the order of their creation.
    package var items: [MetadataItem]

    package init(_ channel: ChannelKey, majorRevision: Int64 = 0, items: [MetadataItem] = []) {
        self.channel = channel
        self.majorRevision = majorRevision
        self.items = items
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channel.type)
        sink.field(Fields.target, channel.name)
        sink.field(Fields.majorRevision, majorRevision)
        sink.field(Fields.items, items)
    }
}

package struct UserMetadataSubscribed: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.UserMetadataSubscribed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.userMetadataSubscribed }
    package var position: StreamPosition
    package var gap: Bool

    package init(position: StreamPosition, gap: Bool = false) {
        self.position = position
        self.gap = gap
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.gap, gap)
    }
}

/// An entry of a channel's log, or of the log of a user's metadata (channel type none, named by the user):
/// the whole set after a write by Publication.publisher. Pass it over if its revision isn't above that of the
/// set you have.
package struct StorageEvent: PublicationEvent, Sendable, Hashable {
    package typealias Fields = Schema.StorageEvent
    package static var field: SchemaField<Fields> { Schema.Publication.storage }
    package var majorRevision: Int64
    package var items: [MetadataItem]

    package init(majorRevision: Int64 = 0, items: [MetadataItem] = []) {
        self.majorRevision = majorRevision
        self.items = items
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.majorRevision, majorRevision)
        sink.field(Fields.items, items)
    }
}
