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
    package var encodedLength: Int {
        var counter = LengthSink()
        write(to: &counter)
        return counter.length
    }

    package func encode(into buffer: inout ByteBuffer, length: Int) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { memory in
            var sink = MemorySink(cursor: memory.baseAddress)
            write(to: &sink)
            return length
        }
    }

    /// Appends the message as one frame: its length in four bytes, big-endian, then its bytes.
    package func encodeFrame(into buffer: inout ByteBuffer) {
        let length = encodedLength
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: FrameReader.prefixLength + length) {
            memory in
            var sink = MemorySink(cursor: memory.baseAddress)
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
    package mutating func field(_ number: UInt32, _ value: UInt64) {
        guard value != 0 else { return }
        varint(UInt64(number << 3))
        varint(value)
    }

    package mutating func field(_ number: UInt32, _ flag: Bool) {
        field(number, flag ? 1 as UInt64 : 0)
    }

    /// protobuf's `int32` and enums: a negative number takes ten bytes.
    package mutating func field(_ number: UInt32, signed value: Int) {
        field(number, UInt64(bitPattern: Int64(value)))
    }

    package mutating func field(_ number: UInt32, _ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        header(number, length: bytes.count)
        raw(bytes)
    }

    package mutating func field(_ number: UInt32, _ text: String) {
        var text = text
        text.withUTF8 { field(number, UnsafeRawBufferPointer($0)) }
    }

    package mutating func field(_ number: UInt32, _ text: WireText) {
        field(number, text.bytes)
    }

    fileprivate mutating func header(_ number: UInt32, length: Int) {
        varint(UInt64(number << 3 | 2))
        varint(UInt64(length))
    }
}

struct LengthSink: FieldSink {
    var length = 0

    mutating func varint(_ value: UInt64) {
        length += (64 - (value | 1).leadingZeroBitCount + 6) / 7
    }

    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        length += bytes.count
    }

    /// What the nested fields add is the length that goes before them: they are counted once at every depth.
    mutating func field(_ number: UInt32, _ message: some WireMessage) {
        let before = length
        message.write(to: &self)
        header(number, length: length - before)
    }
}

/// Writes to memory that is known to be large enough: `LengthSink` has just counted the same fields.
struct MemorySink: FieldSink {
    var cursor: UnsafeMutableRawPointer?

    mutating func frame(_ message: some WireMessage, length: Int) {
        cursor?.storeBytes(of: UInt32(length).bigEndian, as: UInt32.self)
        cursor = cursor.map { $0 + FrameReader.prefixLength }
        message.write(to: &self)
    }

    mutating func varint(_ value: UInt64) {
        guard var place = cursor else { return }
        var rest = value
        while rest >= 0x80 {
            place.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
            place += 1
            rest >>= 7
        }
        place.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        cursor = place + 1
    }

    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let place = cursor, let source = bytes.baseAddress else { return }
        place.copyMemory(from: source, byteCount: bytes.count)
        cursor = place + bytes.count
    }

    mutating func field(_ number: UInt32, _ message: some WireMessage) {
        header(number, length: message.encodedLength)
        message.write(to: &self)
    }
}
