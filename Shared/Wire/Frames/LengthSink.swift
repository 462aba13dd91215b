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
