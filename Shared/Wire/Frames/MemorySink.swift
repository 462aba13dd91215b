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
