package import NIOCore
package import RTMModel

/// Writes whole frames between services: the length prefix, the envelope's fields, then the body straight
/// behind them.
///
/// The length of the body is known first, so its bytes are written once and never moved.
package enum ServiceLinkFrame {
    /// By how many bytes at most a frame is longer than its body, its length prefix included.
    package static let overheadBytesMax = 64

    /// - Parameter bodyLength: `body.encodedLength`, which the caller knows already.
    package static func writeRequest(
        id: UInt64, method: UInt32, timeoutMilliseconds: UInt32, body: some WireEncodable, bodyLength: Int,
        into buffer: inout ByteBuffer
    ) {
        let head = RequestHead(id: id, method: method, timeout: timeoutMilliseconds, bodyLength: bodyLength)
        writeHead(Schema.ServiceLinkFrame.request, head, bodyLength: bodyLength, into: &buffer)
        write(body, bodyLength: bodyLength, into: &buffer)
    }

    package static func writeResponse(
        id: UInt64, body: some WireEncodable, bodyLength: Int, into buffer: inout ByteBuffer
    ) {
        let head = ResponseHead(id: id, bodyLength: bodyLength)
        writeHead(Schema.ServiceLinkFrame.response, head, bodyLength: bodyLength, into: &buffer)
        write(body, bodyLength: bodyLength, into: &buffer)
    }

    package static func writePush(
        method: UInt32, body: some WireEncodable, bodyLength: Int, into buffer: inout ByteBuffer
    ) {
        let head = PushHead(method: method, bodyLength: bodyLength)
        writeHead(Schema.ServiceLinkFrame.push, head, bodyLength: bodyLength, into: &buffer)
        write(body, bodyLength: bodyLength, into: &buffer)
    }

    package static func writeFailure(id: UInt64, error: RTMError, into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.response, Failure(id: id, error: error))
            .encodeFrame(into: &buffer)
    }

    package static func write(_ hello: ServiceLinkHello, into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.hello, hello).encodeFrame(into: &buffer)
    }

    package static func write(_ challenge: ServiceLinkChallenge, into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.challenge, challenge).encodeFrame(into: &buffer)
    }

    package static func write(_ proof: ServiceLinkProof, into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.proof, proof).encodeFrame(into: &buffer)
    }

    package static func write(_ welcome: ServiceLinkWelcome, into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.welcome, welcome).encodeFrame(into: &buffer)
    }

    package static func write(_ trace: ServiceLinkTrace, into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.trace, trace).encodeFrame(into: &buffer)
    }

    package static func write(_ goAway: ServiceLinkGoAway, into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.goAway, goAway).encodeFrame(into: &buffer)
    }

    package static func writeHeartbeat(into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.heartbeat, ServiceLinkHeartbeat()).encodeFrame(into: &buffer)
    }

    package static func writeHeartbeatAck(into buffer: inout ByteBuffer) {
        FieldMessage(Schema.ServiceLinkFrame.heartbeatAck, ServiceLinkHeartbeatAck())
            .encodeFrame(into: &buffer)
    }

    /// Writes everything before the body.
    @inline(__always)
    private static func writeHead<Head: WireMessage>(
        _ field: SchemaField<Head.Fields>, _ head: Head, bodyLength: Int, into buffer: inout ByteBuffer
    ) {
        let headLength = head.encodedLength
        let outer = EnvelopeHead(field: field.number, length: headLength + bodyLength)
        let outerLength = outer.encodedLength
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: overheadBytesMax + bodyLength) { memory in
            guard var sink = MemorySink(memory) else { return 0 }
            sink.frame(outer, length: outerLength + outer.length)
            head.write(to: &sink)
            return FrameReader.prefixLength + outerLength + headLength
        }
    }

    private static func write(_ body: some WireEncodable, bodyLength: Int, into buffer: inout ByteBuffer) {
        guard bodyLength > 0 else { return }
        let start = buffer.writerIndex
        body.encode(into: &buffer, length: bodyLength)
        // A wrong length would make every later frame of the link unreadable, far from its cause.
        precondition(
            buffer.writerIndex - start == bodyLength, "a body wrote another number of bytes than it announced"
        )
    }
}

/// The outermost field's key and length. Its content follows.
private struct EnvelopeHead: WireMessage {
    let field: UInt32
    let length: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) { sink.header(field, length: length) }
}

private struct RequestHead: WireMessage {
    typealias Fields = Schema.ServiceLinkRequest
    let id: UInt64
    let method: UInt32
    let timeout: UInt32
    let bodyLength: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) {
        sink.field(Fields.id, id)
        sink.field(Fields.method, method)
        sink.field(Fields.timeoutMs, timeout)
        sink.head(Fields.body, length: bodyLength)
    }
}

private struct ResponseHead: WireMessage {
    typealias Fields = Schema.ServiceLinkResponse
    let id: UInt64
    let bodyLength: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) {
        sink.field(Fields.id, id)
        sink.head(Fields.body, length: bodyLength)
    }
}

private struct PushHead: WireMessage {
    typealias Fields = Schema.ServiceLinkPush
    let method: UInt32
    let bodyLength: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) {
        sink.field(Fields.method, method)
        sink.head(Fields.body, length: bodyLength)
    }
}

private struct Failure: WireMessage {
    typealias Fields = Schema.ServiceLinkResponse
    let id: UInt64
    let error: RTMError

    func write(to sink: inout some FieldSink) {
        sink.field(Fields.id, id)
        sink.field(Fields.error, error)
    }
}
