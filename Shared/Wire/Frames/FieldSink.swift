package import NIOCore

/// Where a message writes its fields: once to learn its length, once for the bytes.
///
/// A message lists its fields in one place, `write(to:)`; protobuf wants the length of a nested message
/// before its bytes, so the list is run twice, the first time by a sink that only counts. proto3's rule
/// holds: a field with its default value is not written.
package protocol FieldSink {
    mutating func varint(_ value: UInt64)
    mutating func raw(_ bytes: UnsafeRawBufferPointer)
    /// A nested message, written even when it is empty: its presence is what it says.
    mutating func field(_ number: UInt32, _ message: some WireMessage)
}

/// A message that encodes itself field by field.
package protocol WireMessage: WireEncodable {
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

extension FieldSink {
    @inline(__always)
    package mutating func field(_ number: UInt32, _ value: UInt64) {
        guard value != 0 else { return }
        varint(UInt64(number << 3))
        varint(value)
    }

    @inline(__always)
    package mutating func field(_ number: UInt32, _ flag: Bool) {
        field(number, flag ? 1 as UInt64 : 0)
    }

    /// protobuf's `int32` and enums: a negative number takes ten bytes.
    @inline(__always)
    package mutating func field(_ number: UInt32, signed value: Int) {
        field(number, UInt64(bitPattern: Int64(value)))
    }

    @inline(__always)
    package mutating func field(_ number: UInt32, _ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        header(number, length: bytes.count)
        raw(bytes)
    }

    @inline(__always)
    package mutating func field(_ number: UInt32, _ text: String) {
        var text = text
        text.withUTF8 { field(number, UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    package mutating func field(_ number: UInt32, _ text: WireText) {
        field(number, text.bytes)
    }

    @inline(__always)
    fileprivate mutating func header(_ number: UInt32, length: Int) {
        varint(UInt64(number << 3 | 2))
        varint(UInt64(length))
    }
}

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

    /// What the nested fields add is the length that goes before them: they are counted once at every depth.
    @inline(__always)
    mutating func field(_ number: UInt32, _ message: some WireMessage) {
        let before = length
        message.write(to: &self)
        header(number, length: length - before)
    }
}

/// Writes to memory that is known to be large enough: `LengthSink` has just counted the same fields.
struct MemorySink: FieldSink {
    private var cursor: UnsafeMutableRawPointer

    /// Nil for no memory at all, which is enough for nothing only.
    @inline(__always)
    init?(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return nil }
        cursor = start
    }

    /// The message behind its length in four bytes, big-endian.
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
    mutating func field(_ number: UInt32, _ message: some WireMessage) {
        header(number, length: message.encodedLength)
        message.write(to: &self)
    }
}
