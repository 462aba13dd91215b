import RTMModel

extension ServiceLinkEnvelope {
    /// Reads one frame without its length prefix. Unknown fields are skipped; of a field that occurs twice
    /// the last one counts. Throws on anything that is not a `ServiceLinkFrame`, and never traps.
    package init(decoding frame: UnsafeRawBufferPointer) throws(WireError) {
        var scanner = ProtobufScanner(frame)
        var envelope = ServiceLinkEnvelope.unknown
        while let field = try scanner.next() {
            switch field.number {
            case 1: envelope = .hello(try ServiceLinkHello(decoding: try field.bytes))
            case 2: envelope = .welcome(try ServiceLinkWelcome(decoding: try field.bytes))
            case 3: envelope = try Self.readRequest(try field.bytes)
            case 4: envelope = try Self.readResponse(try field.bytes)
            case 5: envelope = try Self.readPush(try field.bytes)
            case 6: envelope = try Self.readEmpty(try field.bytes, .heartbeat)
            case 7: envelope = try Self.readEmpty(try field.bytes, .heartbeatAck)
            case 8: envelope = .goAway(try ServiceLinkGoAway(decoding: try field.bytes))
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
        var body = UnsafeRawBufferPointer(start: nil, count: 0)
        while let field = try scanner.next() {
            switch field.number {
            case 1: id = try field.uint64
            case 2: method = try field.uint32
            case 3: timeout = try field.uint32
            case 4: body = try field.bytes
            default: break
            }
        }
        return .request(id: id, method: method, timeoutMilliseconds: timeout, body: body)
    }

    private static func readResponse(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ServiceLinkEnvelope
    {
        var scanner = ProtobufScanner(bytes)
        var id: UInt64 = 0
        var error: UnsafeRawBufferPointer?
        var body = UnsafeRawBufferPointer(start: nil, count: 0)
        while let field = try scanner.next() {
            switch field.number {
            case 1: id = try field.uint64
            case 2: error = try field.bytes
            case 3: body = try field.bytes
            default: break
            }
        }
        guard let error else { return .response(id: id, body: body) }
        return .failure(id: id, error: try RTMError(decoding: error))
    }

    private static func readPush(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ServiceLinkEnvelope {
        var scanner = ProtobufScanner(bytes)
        var method: UInt32 = 0
        var body = UnsafeRawBufferPointer(start: nil, count: 0)
        while let field = try scanner.next() {
            switch field.number {
            case 1: method = try field.uint32
            case 2: body = try field.bytes
            default: break
            }
        }
        return .push(method: method, body: body)
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
    fileprivate init(decoding bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(version: 0, service: "", node: "", secret: "")
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: version = try field.uint32
            case 2: service = try field.string
            case 3: node = try field.string
            case 4: secret = try field.string
            default: break
            }
        }
    }
}

extension ServiceLinkWelcome {
    fileprivate init(decoding bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(version: 0, service: "", incarnation: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: version = try field.uint32
            case 2: service = try field.string
            case 3: incarnation = try field.uint64
            default: break
            }
        }
    }
}

extension ServiceLinkGoAway {
    fileprivate init(decoding bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(.unspecified)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: reason = Reason(rawValue: try field.int32) ?? .unspecified
            case 2: text = try field.string
            default: break
            }
        }
    }
}
