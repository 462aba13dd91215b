// Written by protocol/generate_fields.py from service/messaging_service.proto: `make generate`.

extension Schema {
    /// rtm.service.LeadPush
    package enum LeadPush {
        package static var term: SchemaField<UInt64> { SchemaField(1) }
        package static var follows: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.NodesPush
    package enum NodesPush {
        package static var nodes: SchemaField<[NodeAddress]> { SchemaField(1) }
    }

    /// rtm.service.NodeAddress
    package enum NodeAddress {
        package static var host: SchemaField<String> { SchemaField(1) }
        package static var port: SchemaField<UInt32> { SchemaField(2) }
    }

    /// rtm.service.ChannelKey
    package enum ChannelKey {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var type: SchemaField<Enumeration> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.service.AttachRequest
    package enum AttachRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var interest: SchemaField<UInt64> { SchemaField(2) }
        package static var after: SchemaField<StreamPosition> { SchemaField(3) }
        package static var exclusive: SchemaField<Bool> { SchemaField(4) }
        package static var claim: SchemaField<UInt64> { SchemaField(5) }
        package static var holder: SchemaField<UInt64> { SchemaField(6) }
        package static var returns: SchemaField<Bool> { SchemaField(7) }
        package static var attempt: SchemaField<UInt64> { SchemaField(8) }
    }

    /// rtm.service.AttachResponse
    package enum AttachResponse {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var claim: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.service.SkipPush
    package enum SkipPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var features: SchemaField<UInt32> { SchemaField(3) }
    }

    /// rtm.service.SupersededPush
    package enum SupersededPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var holder: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.DetachPush
    package enum DetachPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var loggedOut: SchemaField<Bool> { SchemaField(2) }
    }

    /// rtm.service.PublishRequest
    package enum PublishRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var publisher: SchemaField<String> { SchemaField(2) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(3) }
        package static var needsReceiver: SchemaField<Bool> { SchemaField(4) }
        package static var messages: SchemaField<[Message]> { SchemaField(5) }
        package static var instance: SchemaField<UInt64> { SchemaField(6) }
        package static var sequence: SchemaField<UInt64> { SchemaField(7) }
        package static var again: SchemaField<Bool> { SchemaField(8) }
        package static var ageMs: SchemaField<UInt32> { SchemaField(9) }
        package static var epoch: SchemaField<UInt64> { SchemaField(10) }
    }

    /// rtm.service.PublishResponse
    package enum PublishResponse {
        package static var offset: SchemaField<UInt64> { SchemaField(1) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.AppendRequest
    package enum AppendRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var source: SchemaField<UInt64> { SchemaField(2) }
        package static var events: SchemaField<[AppendedEvent]> { SchemaField(3) }
    }

    /// rtm.service.AppendedEvent
    package enum AppendedEvent {
        package static var publisher: SchemaField<String> { SchemaField(1) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(2) }
        package static var feature: SchemaField<UInt32> { SchemaField(3) }
        package static var event: SchemaField<Bytes> { SchemaField(4) }
        package static var sequence: SchemaField<UInt64> { SchemaField(5) }
    }

    /// rtm.service.AppendResponse
    package enum AppendResponse {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.service.ReadRequest
    package enum ReadRequest {
        package static var channel: SchemaField<ChannelKey> { SchemaField(1) }
        package static var after: SchemaField<StreamPosition> { SchemaField(2) }
        package static var exceptPublisher: SchemaField<String> { SchemaField(3) }
        package static var features: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.service.ReadResponse
    package enum ReadResponse {
        package static var frames: SchemaField<Bytes> { SchemaField(1) }
        package static var position: SchemaField<StreamPosition> { SchemaField(2) }
        package static var gap: SchemaField<Bool> { SchemaField(3) }
        package static var more: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.service.DeliveryPush
    package enum DeliveryPush {
        package static var interest: SchemaField<UInt64> { SchemaField(1) }
        package static var offset: SchemaField<UInt64> { SchemaField(2) }
        package static var publisherSession: SchemaField<UInt64> { SchemaField(3) }
        package static var feature: SchemaField<UInt32> { SchemaField(4) }
        package static var frames: SchemaField<Bytes> { SchemaField(5) }
        package static var count: SchemaField<UInt32> { SchemaField(6) }
        package static var offsetsBetween: SchemaField<UInt64> { SchemaField(7) }
    }
}
