import NIOCore
import RTMWire

/// What was read is written, read again and written again: the same bytes, as many as were announced.
enum RoundTrip {
    static func unpacked<Message: ArenaDecodable & WireEncodable & SendableMetatype>(
        _ type: Message.Type, _ bytes: UnsafeRawBufferPointer
    ) throws(Disagreement) {
        try check("\(type)", bytes) { bytes in
            let arena = DecodeArena(capacity: 512)
            return (try? Message(bytes, in: arena)).map(written)
        }
    }

    static func scanned<Message: ScanDecodable & WireEncodable & SendableMetatype>(
        _ type: Message.Type, _ bytes: UnsafeRawBufferPointer
    ) throws(Disagreement) {
        try check("\(type)", bytes) { bytes in (try? Message(scanning: bytes)).map(written) }
    }

    private static func check(
        _ name: String, _ bytes: UnsafeRawBufferPointer,
        through: (UnsafeRawBufferPointer) -> (bytes: ByteBuffer, announced: Int)?
    ) throws(Disagreement) {
        guard let first = through(bytes) else { return }
        let length = first.bytes.readableBytes
        try Disagreement.unless(
            length == first.announced, "\(name): \(first.announced) bytes announced, \(length) written")
        let second = first.bytes.withUnsafeReadableBytes { through($0) }
        try Disagreement.unless(second?.bytes == first.bytes, "\(name): written and read, it is another")
    }

    private static func written(_ message: some WireEncodable) -> (bytes: ByteBuffer, announced: Int) {
        var buffer = ByteBuffer()
        let length = message.encodedLength
        message.encode(into: &buffer, length: length)
        return (buffer, length)
    }
}
