package import RTMModel

/// One frame between two services (protocol/schema/service/link.proto), read where it lies.
///
/// The envelope is scanned, because every message between services passes here, and its body is only a slice
/// for the code that knows the method. A body is valid during the call that hands it over; code that keeps it
/// copies it. The rare cases are indirect so that the frequent ones stay small.
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

// MARK: - Reading

extension ServiceLinkEnvelope {
    /// Reads one frame without its length prefix. Unknown fields are skipped. If a field occurs twice, the
    /// last one counts. Throws on anything that is not a `ServiceLinkFrame`, and never traps.
    package init(decoding frame: UnsafeRawBufferPointer) throws(WireError) {
        var scanner = ProtobufScanner(frame)
        var envelope = ServiceLinkEnvelope.unknown
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ServiceLinkFrame.hello: envelope = .hello(try ServiceLinkHello(scanning: field.bytes))
            case Schema.ServiceLinkFrame.challenge:
                envelope = .challenge(try ServiceLinkChallenge(scanning: field.bytes))
            case Schema.ServiceLinkFrame.proof:
                envelope = .proof(try ServiceLinkProof(scanning: field.bytes))
            case Schema.ServiceLinkFrame.welcome:
                envelope = .welcome(try ServiceLinkWelcome(scanning: field.bytes))
            case Schema.ServiceLinkFrame.request: envelope = try Self.readRequest(field.bytes)
            case Schema.ServiceLinkFrame.response: envelope = try Self.readResponse(field.bytes)
            case Schema.ServiceLinkFrame.push: envelope = try Self.readPush(field.bytes)
            case Schema.ServiceLinkFrame.trace: envelope = .trace(try ServiceLinkTrace(scanning: field.bytes))
            case Schema.ServiceLinkFrame.heartbeat: envelope = try Self.readEmpty(field.bytes, .heartbeat)
            case Schema.ServiceLinkFrame.heartbeatAck:
                envelope = try Self.readEmpty(field.bytes, .heartbeatAck)
            case Schema.ServiceLinkFrame.goAway:
                envelope = .goAway(try ServiceLinkGoAway(scanning: field.bytes))
            default: break
            }
        }
        self = envelope
    }

    private static func readRequest(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ServiceLinkEnvelope
    {
        var scanner = ProtobufScanner(bytes)
        var id: UInt64 = 0
        var method: UInt32 = 0
        var timeout: UInt32 = 0
        var body = WireText.empty
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ServiceLinkRequest.id: id = try field.uint64
            case Schema.ServiceLinkRequest.method: method = try field.uint32
            case Schema.ServiceLinkRequest.timeoutMs: timeout = try field.uint32
            case Schema.ServiceLinkRequest.body: body = try field.view
            default: break
            }
        }
        return .request(id: id, method: method, timeoutMilliseconds: timeout, body: body.bytes)
    }

    private static func readResponse(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ServiceLinkEnvelope
    {
        var scanner = ProtobufScanner(bytes)
        var id: UInt64 = 0
        var error: UnsafeRawBufferPointer?
        var body = WireText.empty
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ServiceLinkResponse.id: id = try field.uint64
            case Schema.ServiceLinkResponse.error: error = try field.bytes
            case Schema.ServiceLinkResponse.body: body = try field.view
            default: break
            }
        }
        guard let error else { return .response(id: id, body: body.bytes) }
        return .failure(id: id, error: try RTMError(scanning: error))
    }

    private static func readPush(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ServiceLinkEnvelope {
        var scanner = ProtobufScanner(bytes)
        var method: UInt32 = 0
        var body = WireText.empty
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ServiceLinkPush.method: method = try field.uint32
            case Schema.ServiceLinkPush.body: body = try field.view
            default: break
            }
        }
        return .push(method: method, body: body.bytes)
    }

    /// A message without known fields still has to be a message.
    private static func readEmpty(
        _ bytes: UnsafeRawBufferPointer, _ envelope: ServiceLinkEnvelope
    ) throws(WireError) -> ServiceLinkEnvelope {
        var scanner = ProtobufScanner(bytes)
        while try scanner.next() != nil {}
        return envelope
    }
}
