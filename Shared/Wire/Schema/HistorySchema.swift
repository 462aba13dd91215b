// Written by protocol/generate_fields.py from client/history.proto: `make generate`.

extension Schema {
    /// rtm.client.GetHistory
    package enum GetHistory {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var count: SchemaField<UInt32> { SchemaField(3) }
        package static var startMs: SchemaField<UInt64> { SchemaField(4) }
        package static var endMs: SchemaField<UInt64> { SchemaField(5) }
    }

    /// rtm.client.HistoryPage
    package enum HistoryPage {
        package static var messages: SchemaField<[HistoryMessage]> { SchemaField(1) }
        package static var newStartMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.client.HistoryMessage
    package enum HistoryMessage {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var payload: SchemaField<Bytes> { SchemaField(2) }
        package static var customType: SchemaField<String> { SchemaField(3) }
        package static var publisher: SchemaField<String> { SchemaField(4) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(5) }
    }
}
