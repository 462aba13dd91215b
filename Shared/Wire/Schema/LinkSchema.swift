// Written by protocol/generate_wire.py from service/link.proto: `make generate`.
// swift-format-ignore-file

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
        package static var announcesLeader: SchemaField<Bool> { SchemaField(6) }
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

extension ServiceLinkGoAway {
    package enum Reason: Int, Sendable, Hashable, CaseIterable {
        /// Any other reason; also stands for every reason that the receiver doesn't know.
        case unspecified = 0
        /// The sender is shutting down; the peer shall connect again.
        case draining = 1
        /// The peer speaks another version.
        case version = 2
        /// The peer expects another service, or another shard than the service has.
        case wrongService = 3
        /// The peer has another secret.
        case wrongSecret = 4
        /// A frame that can't be decoded, is too long, or is out of turn.
        case protocolError = 5
        /// The peer reads too slowly and the queue of what waits for it is full, or a limit of connections,
        /// links or relays is reached.
        case overflow = 6
        /// A relay to a node that isn't in the sender's list.
        case unknownNode = 7
        /// A relay to a node to which the sender has no connection either.
        case unreachable = 8
    }
}

/// The first frame of the caller. The secret of the installation never travels: both ends prove that they
/// know it.
package struct ServiceLinkHello: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkHello
    /// Of this envelope and the service schemas; both ends must speak the same one.
    package var version: UInt32
    /// The service that the caller expects to reach: "messaging", "presence", "storage".
    package var service: String
    /// The caller's name, for logs.
    package var node: String
    /// 32 random bytes of this connection.
    package var nonce: [UInt8]
    /// Of the service, which the link is about: below ServiceLinkWelcome.shards.
    package var shard: UInt32
    /// The address of a messaging node, HOST:PORT as in NodesPush: the called node is to relay to that node;
    /// empty = the caller wants the called node itself.
    package var relayTo: String

    package init(
        version: UInt32 = 0, service: String = "", node: String = "", nonce: [UInt8] = [],
        shard: UInt32 = 0, relayTo: String = ""
    ) {
        self.version = version
        self.service = service
        self.node = node
        self.nonce = nonce
        self.shard = shard
        self.relayTo = relayTo
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.version, version)
        sink.field(Fields.service, service)
        sink.field(Fields.node, node)
        nonce.withUnsafeBytes { sink.field(Fields.nonce, WireText($0)) }
        sink.field(Fields.shard, shard)
        sink.field(Fields.relayTo, relayTo)
    }
}

extension ServiceLinkHello: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var version: UInt32 = 0
        var service: String = ""
        var node: String = ""
        var nonce: [UInt8] = []
        var shard: UInt32 = 0
        var relayTo: String = ""
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.version: version = try field.uint32
            case Fields.service: service = try field.view.copiedIfValid()
            case Fields.node: node = try field.view.copiedIfValid()
            case Fields.nonce: nonce = Array(try field.bytes)
            case Fields.shard: shard = try field.uint32
            case Fields.relayTo: relayTo = try field.view.copiedIfValid()
            default: break
            }
        }
        self.init(
            version: version, service: service, node: node, nonce: nonce, shard: shard, relayTo: relayTo)
    }
}

/// The called service asks the caller for a proof.
package struct ServiceLinkChallenge: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkChallenge
    /// 32 random bytes of this connection.
    package var nonce: [UInt8]

    package init(nonce: [UInt8] = []) {
        self.nonce = nonce
    }

    package func write(to sink: inout some FieldSink) {
        nonce.withUnsafeBytes { sink.field(Fields.nonce, WireText($0)) }
    }
}

extension ServiceLinkChallenge: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var nonce: [UInt8] = []
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.nonce: nonce = Array(try field.bytes)
            default: break
            }
        }
        self.init(nonce: nonce)
    }
}

/// The caller proves that it knows the secret.
package struct ServiceLinkProof: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkProof
    /// HMAC-SHA-256, keyed with the secret, over "caller", the hello and both nonces; in which form says
    /// protocol/services.md.
    package var proof: [UInt8]

    package init(proof: [UInt8] = []) {
        self.proof = proof
    }

    package func write(to sink: inout some FieldSink) {
        proof.withUnsafeBytes { sink.field(Fields.proof, WireText($0)) }
    }
}

extension ServiceLinkProof: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var proof: [UInt8] = []
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.proof: proof = Array(try field.bytes)
            default: break
            }
        }
        self.init(proof: proof)
    }
}

/// The called service accepts the link with this frame. Otherwise it sends ServiceLinkGoAway and closes.
package struct ServiceLinkWelcome: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkWelcome
    /// That the called service speaks on this link.
    package var version: UInt32
    /// The name of the called service.
    package var service: String
    /// Random for each start of the process; if it differs from last time, the process has forgotten
    /// everything.
    package var incarnation: UInt64
    /// As in ServiceLinkProof, over "service", the hello, both nonces, the incarnation and the shards.
    package var proof: [UInt8]
    /// Among how many shards the service spreads what it keeps, fixed for an installation; 0 = 1.
    package var shards: UInt32
    /// Of a storage node: it serves only while it announces by LeaderPush that it leads; false = it always
    /// serves.
    package var announcesLeader: Bool

    package init(
        version: UInt32 = 0, service: String = "", incarnation: UInt64 = 0, proof: [UInt8] = [],
        shards: UInt32 = 0, announcesLeader: Bool = false
    ) {
        self.version = version
        self.service = service
        self.incarnation = incarnation
        self.proof = proof
        self.shards = shards
        self.announcesLeader = announcesLeader
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.version, version)
        sink.field(Fields.service, service)
        sink.field(Fields.incarnation, incarnation)
        proof.withUnsafeBytes { sink.field(Fields.proof, WireText($0)) }
        sink.field(Fields.shards, shards)
        sink.field(Fields.announcesLeader, announcesLeader)
    }
}

extension ServiceLinkWelcome: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var version: UInt32 = 0
        var service: String = ""
        var incarnation: UInt64 = 0
        var proof: [UInt8] = []
        var shards: UInt32 = 0
        var announcesLeader: Bool = false
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.version: version = try field.uint32
            case Fields.service: service = try field.view.copiedIfValid()
            case Fields.incarnation: incarnation = try field.uint64
            case Fields.proof: proof = Array(try field.bytes)
            case Fields.shards: shards = try field.uint32
            case Fields.announcesLeader: announcesLeader = try field.bool
            default: break
            }
        }
        self.init(
            version: version, service: service, incarnation: incarnation, proof: proof, shards: shards,
            announcesLeader: announcesLeader)
    }
}

/// The request or push that follows belongs to traced work. An end that doesn't trace ignores it.
package struct ServiceLinkTrace: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkTrace
    /// The first 8 bytes of the trace's id.
    package var traceHigh: UInt64
    /// The other 8.
    package var traceLow: UInt64
    /// The sender's span, which is the parent of what follows.
    package var span: UInt64

    package init(traceHigh: UInt64 = 0, traceLow: UInt64 = 0, span: UInt64 = 0) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.traceHigh, traceHigh)
        sink.field(Fields.traceLow, traceLow)
        sink.field(Fields.span, span)
    }
}

extension ServiceLinkTrace: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var traceHigh: UInt64 = 0
        var traceLow: UInt64 = 0
        var span: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.traceHigh: traceHigh = try field.uint64
            case Fields.traceLow: traceLow = try field.uint64
            case Fields.span: span = try field.uint64
            default: break
            }
        }
        self.init(traceHigh: traceHigh, traceLow: traceLow, span: span)
    }
}

/// Asks whether the other end is still there, after it has been silent for a while.
package struct ServiceLinkHeartbeat: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkHeartbeat

    package init() {}

    package func write(to sink: inout some FieldSink) {}
}

/// The answer to a ServiceLinkHeartbeat, which comes at once.
package struct ServiceLinkHeartbeatAck: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkHeartbeatAck

    package init() {}

    package func write(to sink: inout some FieldSink) {}
}

/// The sender closes after this frame.
package struct ServiceLinkGoAway: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkGoAway
    package var reason: ServiceLinkGoAway.Reason
    /// One sentence for a person.
    package var text: String

    package init(_ reason: ServiceLinkGoAway.Reason, _ text: String = "") {
        self.reason = reason
        self.text = text
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.reason, reason)
        sink.field(Fields.text, text)
    }
}

extension ServiceLinkGoAway: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reason: ServiceLinkGoAway.Reason = .unspecified
        var text: String = ""
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.reason: reason = ServiceLinkGoAway.Reason(rawValue: try field.enumeration) ?? .unspecified
            case Fields.text: text = try field.view.copiedIfValid()
            default: break
            }
        }
        self.init(reason, text)
    }
}
