// Written by protocol/generate_wire.py from client/publication.proto: `make generate`.
// swift-format-ignore-file

extension Schema {
    /// rtm.client.Publication
    package enum Publication {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var offset: SchemaField<UInt64> { SchemaField(3) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(4) }
        package static var publisher: SchemaField<String> { SchemaField(5) }
        package static var message: SchemaField<Message> { SchemaField(6) }
        package static var presence: SchemaField<PresenceEvent> { SchemaField(7) }
        package static var storage: SchemaField<StorageEvent> { SchemaField(8) }
        package static var lock: SchemaField<LockEvent> { SchemaField(9) }
        package static var order: SchemaField<UInt32> { SchemaField(10) }
    }
}
