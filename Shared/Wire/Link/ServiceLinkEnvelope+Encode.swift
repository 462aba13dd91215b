package import NIOCore
package import RTMModel

/// Writes whole frames between services: the length prefix, the envelope's fields, then the body straight
/// behind them.
///
/// The body says its length first, so its bytes are written once and never moved.
package enum ServiceLinkFrame {
    /// Upper bound of what a frame is longer than its body, with its length prefix.
    package static let overheadBytesMax = 64

    /// `bodyLength` is `body.encodedLength`, which the caller has asked already.
    package static func writeRequest(
        id: UInt64, method: UInt32, timeoutMilliseconds: UInt32, body: some WireEncodable, bodyLength: Int,
        into buffer: inout ByteBuffer
    ) {
        let head = RequestHead(id: id, method: method, timeout: timeoutMilliseconds, bodyLength: bodyLength)
        writeHead(field: 3, head, bodyLength: bodyLength, into: &buffer)
        write(body, bodyLength: bodyLength, into: &buffer)
    }

    package static func writeResponse(
        id: UInt64, body: some WireEncodable, bodyLength: Int, into buffer: inout ByteBuffer
    ) {
        let head = ResponseHead(id: id, bodyLength: bodyLength)
        writeHead(field: 4, head, bodyLength: bodyLength, into: &buffer)
        write(body, bodyLength: bodyLength, into: &buffer)
    }

    package static func writePush(
        method: UInt32, body: some WireEncodable, bodyLength: Int, into buffer: inout ByteBuffer
    ) {
        let head = PushHead(method: method, bodyLength: bodyLength)
        writeHead(field: 5, head, bodyLength: bodyLength, into: &buffer)
        write(body, bodyLength: bodyLength, into: &buffer)
    }

    package static func writeFailure(id: UInt64, error: RTMError, into buffer: inout ByteBuffer) {
        Envelope(field: 4, message: Failure(id: id, error: error)).encodeFrame(into: &buffer)
    }

    package static func write(_ hello: ServiceLinkHello, into buffer: inout ByteBuffer) {
        Envelope(field: 1, message: hello).encodeFrame(into: &buffer)
    }

    package static func write(_ welcome: ServiceLinkWelcome, into buffer: inout ByteBuffer) {
        Envelope(field: 2, message: welcome).encodeFrame(into: &buffer)
    }

    package static func write(_ goAway: ServiceLinkGoAway, into buffer: inout ByteBuffer) {
        Envelope(field: 8, message: goAway).encodeFrame(into: &buffer)
    }

    package static func writeHeartbeat(into buffer: inout ByteBuffer) {
        Envelope(field: 6, message: Nothing()).encodeFrame(into: &buffer)
    }

    package static func writeHeartbeatAck(into buffer: inout ByteBuffer) {
        Envelope(field: 7, message: Nothing()).encodeFrame(into: &buffer)
    }

    /// Everything before the body.
    @inline(__always)
    private static func writeHead(
        field: UInt32, _ head: some WireMessage, bodyLength: Int, into buffer: inout ByteBuffer
    ) {
        let headLength = head.encodedLength
        let outer = EnvelopeHead(field: field, length: headLength + bodyLength)
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

/// The outermost field's key and length; its content follows.
private struct EnvelopeHead: WireMessage {
    let field: UInt32
    let length: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) {
        sink.varint(UInt64(field << 3 | 2))
        sink.varint(UInt64(length))
    }
}

private struct Envelope<Message: WireMessage>: WireMessage {
    let field: UInt32
    let message: Message

    func write(to sink: inout some FieldSink) { sink.field(field, message) }
}

private struct RequestHead: WireMessage {
    let id: UInt64
    let method: UInt32
    let timeout: UInt32
    let bodyLength: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) {
        sink.field(1, id)
        sink.field(2, UInt64(method))
        sink.field(3, UInt64(timeout))
        sink.bodyHead(4, length: bodyLength)
    }
}

private struct ResponseHead: WireMessage {
    let id: UInt64
    let bodyLength: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) {
        sink.field(1, id)
        sink.bodyHead(3, length: bodyLength)
    }
}

private struct PushHead: WireMessage {
    let method: UInt32
    let bodyLength: Int

    @inline(__always)
    func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(method))
        sink.bodyHead(2, length: bodyLength)
    }
}

private struct Failure: WireMessage {
    let id: UInt64
    let error: RTMError

    func write(to sink: inout some FieldSink) {
        sink.field(1, id)
        sink.field(2, error)
    }
}

private struct Nothing: WireMessage {
    func write(to sink: inout some FieldSink) {}
}

extension FieldSink {
    @inline(__always)
    fileprivate mutating func bodyHead(_ number: UInt32, length: Int) {
        guard length > 0 else { return }
        varint(UInt64(number << 3 | 2))
        varint(UInt64(length))
    }
}

extension ServiceLinkHello: WireMessage {
    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(version))
        sink.field(2, service)
        sink.field(3, node)
        sink.field(4, secret)
    }
}

extension ServiceLinkWelcome: WireMessage {
    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(version))
        sink.field(2, service)
        sink.field(3, incarnation)
    }
}

extension ServiceLinkGoAway: WireMessage {
    package func write(to sink: inout some FieldSink) {
        sink.field(1, signed: Int(reason.rawValue))
        sink.field(2, text)
    }
}
