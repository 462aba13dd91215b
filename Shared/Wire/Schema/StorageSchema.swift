// Written by protocol/generate_fields.py from client/storage.proto: `make generate`.

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
