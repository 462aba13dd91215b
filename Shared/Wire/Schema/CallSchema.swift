// Written by protocol/generate_fields.py from service/call.proto: `make generate`.

extension Schema {
    /// rtm.service.Caller
    package enum Caller {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var userId: SchemaField<String> { SchemaField(2) }
        package static var sessionId: SchemaField<UInt64> { SchemaField(3) }
        package static var instance: SchemaField<UInt64> { SchemaField(4) }
    }

    /// rtm.service.CallRequest
    package enum CallRequest {
        package static var caller: SchemaField<Caller> { SchemaField(1) }
        package static var request: SchemaField<Bytes> { SchemaField(2) }
    }

    /// rtm.service.CallResponse
    package enum CallResponse {
        package static var response: SchemaField<Bytes> { SchemaField(1) }
        package static var cost: SchemaField<UInt64> { SchemaField(2) }
    }
}
