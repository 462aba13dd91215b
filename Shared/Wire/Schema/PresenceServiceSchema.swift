// Written by protocol/generate_fields.py from service/presence_service.proto: `make generate`.

extension Schema {
    /// rtm.service.JoinRequest
    package enum JoinRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var caller: SchemaField<Caller> { SchemaField(2) }
        package static var lease: SchemaField<UInt64> { SchemaField(3) }
        package static var quiet: SchemaField<Bool> { SchemaField(4) }
        package static var presenceTimeoutMs: SchemaField<UInt32> { SchemaField(5) }
        package static var snapshot: SchemaField<Bool> { SchemaField(6) }
        package static var claim: SchemaField<UInt64> { SchemaField(7) }
    }

    /// rtm.service.JoinResponse
    package enum JoinResponse {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var frames: SchemaField<Bytes> { SchemaField(2) }
        package static var tooBig: SchemaField<Bool> { SchemaField(3) }
        package static var older: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.RosterRequest
    package enum RosterRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var snapshot: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.RosterResponse
    package enum RosterResponse {
        package static var frames: SchemaField<Bytes> { SchemaField(1) }
        package static var snapshot: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.LeavePush
    package enum LeavePush {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var caller: SchemaField<Caller> { SchemaField(2) }
        package static var lease: SchemaField<UInt64> { SchemaField(3) }
        package static var link: SchemaField<UInt64> { SchemaField(4) }
    }

    /// rtm.service.SessionEndedPush
    package enum SessionEndedPush {
        package static var caller: SchemaField<Caller> { SchemaField(1) }
        package static var end: SchemaField<Enumeration> { SchemaField(2) }
    }

    /// rtm.service.LeaseRequest
    package enum LeaseRequest {
        package static var lease: SchemaField<UInt64> { SchemaField(1) }
        package static var link: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.LeaseResponse
    package enum LeaseResponse {
        package static var ttlMs: SchemaField<UInt32> { SchemaField(1) }
        package static var known: SchemaField<Bool> { SchemaField(2) }
    }

    /// rtm.service.SyncRequest
    package enum SyncRequest {
        package static var lease: SchemaField<UInt64> { SchemaField(1) }
        package static var memberships: SchemaField<[Membership]> { SchemaField(2) }
        package static var first: SchemaField<Bool> { SchemaField(3) }
        package static var last: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.SyncResponse
    package enum SyncResponse {
        package static var older: SchemaField<[OlderMembership]> { SchemaField(1) }
    }

    /// rtm.service.OlderMembership
    package enum OlderMembership {
        package static var place: SchemaField<UInt32> { SchemaField(1) }
    }

    /// rtm.service.Membership
    package enum Membership {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var caller: SchemaField<Caller> { SchemaField(2) }
        package static var quiet: SchemaField<Bool> { SchemaField(3) }
        package static var presenceTimeoutMs: SchemaField<UInt32> { SchemaField(4) }
        package static var claim: SchemaField<UInt64> { SchemaField(5) }
    }
}
