// Written by protocol/generate_fields.py from service/journal.proto: `make generate`.

extension Schema {
    /// rtm.service.JournalBatch
    package enum JournalBatch {
        package static var entries: SchemaField<[JournaledEntries]> { SchemaField(1) }
        package static var channels: SchemaField<[JournaledChannel]> { SchemaField(2) }
        package static var claims: SchemaField<[JournaledClaim]> { SchemaField(3) }
        package static var heads: SchemaField<[JournaledHeads]> { SchemaField(4) }
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
    }

    /// rtm.service.JournaledChannel
    package enum JournaledChannel {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var head: SchemaField<UInt64> { SchemaField(2) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(3) }
        package static var hadEntries: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.JournaledClaim
    package enum JournaledClaim {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var number: SchemaField<UInt64> { SchemaField(2) }
        package static var holder: SchemaField<UInt64> { SchemaField(3) }
        package static var online: SchemaField<Bool> { SchemaField(4) }
        package static var attempt: SchemaField<UInt64> { SchemaField(5) }
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
