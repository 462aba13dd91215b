import RTMModel

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
                envelope = .challenge(ServiceLinkChallenge(nonce: try Self.readBytes(field.bytes)))
            case Schema.ServiceLinkFrame.proof:
                envelope = .proof(ServiceLinkProof(proof: try Self.readBytes(field.bytes)))
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

    /// The one field of a challenge or a proof; both have the number 1.
    private static func readBytes(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> [UInt8] {
        var scanner = ProtobufScanner(bytes)
        var content: [UInt8] = []
        while let field = try scanner.next() {
            if field.number == Schema.ServiceLinkProof.proof.number { content = Array(try field.bytes) }
        }
        return content
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

extension ServiceLinkHello {
    fileprivate init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(version: 0, service: "", node: "", nonce: [])
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
    }
}

extension ServiceLinkWelcome {
    fileprivate init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(version: 0, service: "", incarnation: 0, proof: [])
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.version: version = try field.uint32
            case Fields.service: service = try field.view.copiedIfValid()
            case Fields.incarnation: incarnation = try field.uint64
            case Fields.proof: proof = Array(try field.bytes)
            case Fields.shards: shards = try field.uint32
            default: break
            }
        }
    }
}

extension ServiceLinkTrace {
    fileprivate init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(traceHigh: 0, traceLow: 0, span: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.traceHigh: traceHigh = try field.uint64
            case Fields.traceLow: traceLow = try field.uint64
            case Fields.span: span = try field.uint64
            default: break
            }
        }
    }
}

extension ServiceLinkGoAway {
    fileprivate init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(.unspecified)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.reason: reason = Reason(rawValue: try field.enumeration) ?? .unspecified
            case Fields.text: self.text = try field.view.copiedIfValid()
            default: break
            }
        }
    }
}
