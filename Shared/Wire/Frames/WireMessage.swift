package import NIOCore

/// A message that encodes itself field by field.
package protocol WireMessage: WireEncodable {
    /// The message of the schema that this is. `Never` for a message that isn't part of another one.
    associatedtype Fields = Never

    func write(to sink: inout some FieldSink)
}

extension WireMessage {
    @inline(__always)
    package var encodedLength: Int {
        var counter = LengthSink()
        write(to: &counter)
        return counter.length
    }

    package func encode(into buffer: inout ByteBuffer, length: Int) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { memory in
            guard var sink = MemorySink(memory) else { return 0 }
            write(to: &sink)
            return length
        }
    }

    /// The message in a buffer of its own.
    var buffer: ByteBuffer {
        var buffer = ByteBuffer()
        encode(into: &buffer, length: encodedLength)
        return buffer
    }

    /// Appends the message as one frame: its length in four bytes, big-endian, then its bytes.
    package func encodeFrame(into buffer: inout ByteBuffer) {
        let length = encodedLength
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: FrameReader.prefixLength + length) {
            memory in
            guard var sink = MemorySink(memory) else { return 0 }
            sink.frame(self, length: length)
            return FrameReader.prefixLength + length
        }
    }

    /// The message as one frame in a buffer of its own.
    package var frame: ByteBuffer {
        var frame = ByteBuffer()
        encodeFrame(into: &frame)
        return frame
    }
}

/// A message as one field of another one, with its key.
struct FieldMessage<Body: WireMessage>: WireMessage {
    let number: UInt32
    let body: Body

    @inline(__always)
    init(_ field: SchemaField<Body.Fields>, _ body: Body) {
        number = field.number
        self.body = body
    }

    @inline(__always)
    func write(to sink: inout some FieldSink) { sink.nested(number, body) }
}
