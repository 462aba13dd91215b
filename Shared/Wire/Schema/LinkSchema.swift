// Written by protocol/generate_fields.py from service/link.proto: `make generate`.

extension Schema {
    /// rtm.service.ServiceLinkFrame
    package enum ServiceLinkFrame {
        package static var hello: SchemaField<ServiceLinkHello> { SchemaField(1) }
        package static var welcome: SchemaField<ServiceLinkWelcome> { SchemaField(2) }
        package static var request: SchemaField<ServiceLinkRequest> { SchemaField(3) }
        package static var response: SchemaField<ServiceLinkResponse> { SchemaField(4) }
        package static var push: SchemaField<ServiceLinkPush> { SchemaField(5) }
        package static var heartbeat: SchemaField<ServiceLinkHeartbeat> { SchemaField(6) }
        package static var heartbeatAck: SchemaField<ServiceLinkHeartbeatAck> { SchemaField(7) }
        package static var goAway: SchemaField<ServiceLinkGoAway> { SchemaField(8) }
        package static var challenge: SchemaField<ServiceLinkChallenge> { SchemaField(9) }
        package static var proof: SchemaField<ServiceLinkProof> { SchemaField(10) }
        package static var trace: SchemaField<ServiceLinkTrace> { SchemaField(11) }
    }

    /// rtm.service.ServiceLinkHello
    package enum ServiceLinkHello {
        package static var version: SchemaField<UInt32> { SchemaField(1) }
        package static var service: SchemaField<String> { SchemaField(2) }
        package static var node: SchemaField<String> { SchemaField(3) }
        package static var nonce: SchemaField<Bytes> { SchemaField(5) }
        package static var shard: SchemaField<UInt32> { SchemaField(6) }
        package static var relayTo: SchemaField<String> { SchemaField(7) }
    }

    /// rtm.service.ServiceLinkChallenge
    package enum ServiceLinkChallenge {
        package static var nonce: SchemaField<Bytes> { SchemaField(1) }
    }

    /// rtm.service.ServiceLinkProof
    package enum ServiceLinkProof {
        package static var proof: SchemaField<Bytes> { SchemaField(1) }
    }

    /// rtm.service.ServiceLinkWelcome
    package enum ServiceLinkWelcome {
        package static var version: SchemaField<UInt32> { SchemaField(1) }
        package static var service: SchemaField<String> { SchemaField(2) }
        package static var incarnation: SchemaField<UInt64> { SchemaField(3) }
        package static var proof: SchemaField<Bytes> { SchemaField(4) }
        package static var shards: SchemaField<UInt32> { SchemaField(5) }
    }

    /// rtm.service.ServiceLinkRequest
    package enum ServiceLinkRequest {
        package static var id: SchemaField<UInt64> { SchemaField(1) }
        package static var method: SchemaField<UInt32> { SchemaField(2) }
        package static var timeoutMs: SchemaField<UInt32> { SchemaField(3) }
        package static var body: SchemaField<Bytes> { SchemaField(4) }
    }

    /// rtm.service.ServiceLinkResponse
    package enum ServiceLinkResponse {
        package static var id: SchemaField<UInt64> { SchemaField(1) }
        package static var error: SchemaField<Error> { SchemaField(2) }
        package static var body: SchemaField<Bytes> { SchemaField(3) }
    }

    /// rtm.service.ServiceLinkPush
    package enum ServiceLinkPush {
        package static var method: SchemaField<UInt32> { SchemaField(1) }
        package static var body: SchemaField<Bytes> { SchemaField(2) }
    }

    /// rtm.service.ServiceLinkTrace
    package enum ServiceLinkTrace {
        package static var traceHigh: SchemaField<UInt64> { SchemaField(1) }
        package static var traceLow: SchemaField<UInt64> { SchemaField(2) }
        package static var span: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.service.ServiceLinkHeartbeat
    package enum ServiceLinkHeartbeat {}

    /// rtm.service.ServiceLinkHeartbeatAck
    package enum ServiceLinkHeartbeatAck {}

    /// rtm.service.ServiceLinkGoAway
    package enum ServiceLinkGoAway {
        package static var reason: SchemaField<Enumeration> { SchemaField(1) }
        package static var text: SchemaField<String> { SchemaField(2) }
    }
}
