// Written by protocol/generate_wire.py from client/error.proto: `make generate`.
// swift-format-ignore-file

extension Schema {
    /// rtm.client.Limit
    package enum Limit {
        package static var name: SchemaField<String> { SchemaField(1) }
        package static var value: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.client.Error
    package enum Error {
        package static var code: SchemaField<Enumeration> { SchemaField(1) }
        package static var reason: SchemaField<String> { SchemaField(2) }
        package static var retryAfterMs: SchemaField<UInt32> { SchemaField(3) }
        package static var limit: SchemaField<Limit> { SchemaField(4) }
        package static var conflict: SchemaField<Conflict> { SchemaField(5) }
    }
}
