package import RTMModel

/// What storage answers to clients about metadata (protocol/schema/client/storage.proto).

package struct MetadataWritten: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.MetadataWritten
    package static var field: SchemaField<Fields> { Schema.ServerFrame.metadataWritten }
    let majorRevision: Int64

    package init(majorRevision: Int64) { self.majorRevision = majorRevision }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.majorRevision, majorRevision)
    }
}

/// A whole set. It is the answer to a read, and the snapshot for a new subscriber.
package struct Metadata: ServerFrameBody {
    package typealias Fields = Schema.Metadata
    package static var field: SchemaField<Fields> { Schema.ServerFrame.metadata }
    let channel: ChannelKey
    let majorRevision: Int64
    let items: [MetadataItem]

    /// - Parameter channel: for a user's metadata its type is none.
    package init(_ channel: ChannelKey, majorRevision: Int64, items: [MetadataItem]) {
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

/// The whole set after a write.
package struct StorageEvent: PublicationEvent {
    package typealias Fields = Schema.StorageEvent
    package static var field: SchemaField<Fields> { Schema.Publication.storage }
    let majorRevision: Int64
    let items: [MetadataItem]

    package init(majorRevision: Int64, items: [MetadataItem]) {
        self.majorRevision = majorRevision
        self.items = items
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.majorRevision, majorRevision)
        sink.field(Fields.items, items)
    }
}
