package import NIOCore

/// A message that can be written behind its own length: its size is known before its bytes.
package protocol WireEncodable {
    /// Exactly the number of bytes that `encode` appends.
    var encodedLength: Int { get }

    /// Appends the protobuf encoding, without a length prefix. `length` is `encodedLength`, which the caller
    /// knows already: to count the fields once more would cost as much as to write them.
    func encode(into buffer: inout ByteBuffer, length: Int)
}

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
    package var buffer: ByteBuffer {
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

// MARK: - Sinks

/// Counts the bytes of a message without writing them.
struct LengthSink: FieldSink {
    var length = 0

    @inline(__always)
    mutating func varint(_ value: UInt64) {
        length += (64 - (value | 1).leadingZeroBitCount + 6) / 7
    }

    @inline(__always)
    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        length += bytes.count
    }

    /// What the nested fields add is the length that goes before them, so they are counted once at every
    /// depth.
    @inline(__always)
    mutating func nested(_ number: UInt32, _ message: some WireMessage) {
        let before = length
        message.write(to: &self)
        header(number, length: length - before)
    }
}

/// Writes to memory that is known to be large enough, because `LengthSink` has just counted the same fields.
struct MemorySink: FieldSink {
    private var cursor: UnsafeMutableRawPointer

    /// Nil if there is no memory at all, which is enough for an empty message only.
    @inline(__always)
    init?(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return nil }
        cursor = start
    }

    /// Writes the message behind its length in four bytes, big-endian.
    @inline(__always)
    mutating func frame(_ message: some WireMessage, length: Int) {
        cursor.storeBytes(of: UInt32(truncatingIfNeeded: length).bigEndian, as: UInt32.self)
        cursor += FrameReader.prefixLength
        message.write(to: &self)
    }

    @inline(__always)
    mutating func varint(_ value: UInt64) {
        guard value >= 0x80 else { return byte(value) }
        longVarint(value)
    }

    private mutating func longVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            byte(rest | 0x80)
            rest >>= 7
        }
        byte(rest)
    }

    @inline(__always)
    private mutating func byte(_ value: UInt64) {
        cursor.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
        cursor += 1
    }

    @inline(__always)
    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        cursor.copyMemory(from: source, byteCount: bytes.count)
        cursor += bytes.count
    }

    @inline(__always)
    mutating func nested(_ number: UInt32, _ message: some WireMessage) {
        header(number, length: message.encodedLength)
        message.write(to: &self)
    }
}
