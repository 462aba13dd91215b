// Written by protocol/generate_fields.py from service/storage_service.proto: `make generate`.

extension Schema {
    /// rtm.service.AppendHistoryRequest
    package enum AppendHistoryRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var publisher: SchemaField<String> { SchemaField(2) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(3) }
        package static var message: SchemaField<Message> { SchemaField(4) }
        package static var instance: SchemaField<UInt64> { SchemaField(5) }
        package static var sequence: SchemaField<UInt64> { SchemaField(6) }
    }

    /// rtm.service.StorageCallResponse
    package enum StorageCallResponse {
        package static var response: SchemaField<Bytes> { SchemaField(1) }
        package static var ticket: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.LockGrantedPush
    package enum LockGrantedPush {
        package static var ticket: SchemaField<UInt64> { SchemaField(1) }
        package static var response: SchemaField<Bytes> { SchemaField(2) }
        package static var error: SchemaField<Error> { SchemaField(3) }
    }

    /// rtm.service.SnapshotRequest
    package enum SnapshotRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var metadata: SchemaField<Bool> { SchemaField(2) }
        package static var locks: SchemaField<Bool> { SchemaField(3) }
    }

    /// rtm.service.SnapshotResponse
    package enum SnapshotResponse {
        package static var frames: SchemaField<Bytes> { SchemaField(1) }
    }

    /// rtm.service.SessionPush
    package enum SessionPush {
        package static var caller: SchemaField<Caller> { SchemaField(1) }
        package static var change: SchemaField<Enumeration> { SchemaField(2) }
        package static var channel: SchemaField<ChannelKey> { SchemaField(3) }
    }

    /// rtm.service.Ban
    package enum Ban {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var userId: SchemaField<String> { SchemaField(2) }
        package static var untilMs: SchemaField<UInt64> { SchemaField(3) }
        package static var reason: SchemaField<String> { SchemaField(4) }
        package static var endsSession: SchemaField<Bool> { SchemaField(5) }
        package static var sinceMs: SchemaField<UInt64> { SchemaField(6) }
        package static var by: SchemaField<String> { SchemaField(7) }
        package static var number: SchemaField<UInt64> { SchemaField(8) }
    }

    /// rtm.service.BanReport
    package enum BanReport {
        package static var number: SchemaField<UInt64> { SchemaField(1) }
        package static var appKnown: SchemaField<Bool> { SchemaField(2) }
        package static var sessions: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.BanOutcome
    package enum BanOutcome {
        package static var asked: SchemaField<UInt32> { SchemaField(1) }
        package static var answered: SchemaField<UInt32> { SchemaField(2) }
        package static var appKnown: SchemaField<Bool> { SchemaField(3) }
        package static var sessions: SchemaField<UInt32> { SchemaField(4) }
        package static var before: SchemaField<Ban> { SchemaField(5) }
    }

    /// rtm.service.BansRequest
    package enum BansRequest {
        package static var afterApp: SchemaField<String> { SchemaField(1) }
        package static var afterUser: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.service.BansResponse
    package enum BansResponse {
        package static var bans: SchemaField<[Ban]> { SchemaField(1) }
        package static var more: SchemaField<Bool> { SchemaField(2) }
    }
}
