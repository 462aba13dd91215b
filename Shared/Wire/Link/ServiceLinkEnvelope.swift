package import RTMModel

/// One frame between two services (protocol/schema/service/link.proto), read where it lies.
///
/// The envelope is scanned, because every message between services passes here, and its body is only a slice
/// for the one who knows the method. A body is valid during the call that hands it over; who keeps it copies
/// it. The rare cases are indirect so that the frequent ones stay small.
package enum ServiceLinkEnvelope {
    indirect case hello(ServiceLinkHello)
    indirect case challenge(ServiceLinkChallenge)
    indirect case proof(ServiceLinkProof)
    indirect case welcome(ServiceLinkWelcome)
    case request(id: UInt64, method: UInt32, timeoutMilliseconds: UInt32, body: UnsafeRawBufferPointer)
    case response(id: UInt64, body: UnsafeRawBufferPointer)
    indirect case failure(id: UInt64, error: RTMError)
    case push(method: UInt32, body: UnsafeRawBufferPointer)
    indirect case trace(ServiceLinkTrace)
    case heartbeat
    case heartbeatAck
    indirect case goAway(ServiceLinkGoAway)
    /// A kind of frame that this version doesn't know. It is ignored.
    case unknown
}

/// The first frame of a caller.
package struct ServiceLinkHello: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkHello
    package var version: UInt32
    /// The service that the caller expects to reach.
    package var service: String
    /// The caller's name, for logs.
    package var node: String
    /// Random bytes of this connection.
    package var nonce: [UInt8]
    /// Which shard of the service the caller wants.
    package var shard: UInt32
    /// The address of another node, with which the called node is to connect this connection; empty if the
    /// caller wants the called node itself.
    package var relayTo: String

    package init(
        version: UInt32, service: String, node: String, nonce: [UInt8], shard: UInt32 = 0,
        relayTo: String = ""
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

/// The called service asks the caller to prove that it knows the secret.
package struct ServiceLinkChallenge: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkChallenge
    /// Random bytes of this connection.
    package var nonce: [UInt8]

    package init(nonce: [UInt8]) { self.nonce = nonce }

    package func write(to sink: inout some FieldSink) {
        nonce.withUnsafeBytes { sink.field(Fields.nonce, WireText($0)) }
    }
}

/// The caller's proof that it knows the secret.
package struct ServiceLinkProof: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkProof
    package var proof: [UInt8]

    package init(proof: [UInt8]) { self.proof = proof }

    package func write(to sink: inout some FieldSink) {
        proof.withUnsafeBytes { sink.field(Fields.proof, WireText($0)) }
    }
}

/// The answer to a caller that is admitted.
package struct ServiceLinkWelcome: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkWelcome
    package var version: UInt32
    package var service: String
    /// The number of the peer's process. If it differs from the last one, the process is new and has
    /// forgotten everything.
    package var incarnation: UInt64
    /// The service's proof that it knows the secret.
    package var proof: [UInt8]
    /// Among how many shards the service spreads what it keeps; 0 stands for 1.
    package var shards: UInt32

    package init(
        version: UInt32, service: String, incarnation: UInt64, proof: [UInt8], shards: UInt32 = 0
    ) {
        self.version = version
        self.service = service
        self.incarnation = incarnation
        self.proof = proof
        self.shards = shards
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.version, version)
        sink.field(Fields.service, service)
        sink.field(Fields.incarnation, incarnation)
        proof.withUnsafeBytes { sink.field(Fields.proof, WireText($0)) }
        sink.field(Fields.shards, shards)
    }
}

/// To which traced work the request or push belongs that follows. It is a frame of its own, so that what
/// isn't traced, which is nearly everything, has nothing more to write and to read.
package struct ServiceLinkTrace: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkTrace
    /// The two halves of the trace's number.
    package var traceHigh: UInt64
    package var traceLow: UInt64
    /// The sender's span.
    package var span: UInt64

    package init(traceHigh: UInt64, traceLow: UInt64, span: UInt64) {
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

/// Why the sender closes the link after this frame.
package struct ServiceLinkGoAway: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ServiceLinkGoAway

    package enum Reason: Int, Sendable, Hashable, CaseIterable {
        /// This also stands for every reason that this version doesn't know.
        case unspecified = 0
        /// The peer shall connect again, elsewhere or later.
        case draining = 1
        case version = 2
        case wrongService = 3
        case wrongSecret = 4
        case protocolError = 5
        /// The peer reads too slowly, and the queue of what waits for it is full.
        case overflow = 6
        /// The sender's list of nodes has no such node to relay to.
        case unknownNode = 7
        /// The sender has no connection either to the node to which it is to relay.
        case unreachable = 8
    }

    package var reason: Reason
    /// An explanation for a person.
    package var text: String

    package init(_ reason: Reason, _ text: String = "") {
        self.reason = reason
        self.text = text
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.reason, reason)
        sink.field(Fields.text, text)
    }
}
