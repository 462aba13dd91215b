import NIOCore
import RTMWire

/// A body of any bytes.
struct Bytes: WireEncodable, Sendable, Hashable {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
    init(_ text: String) { bytes = Array(text.utf8) }
    /// A number, so that order can be checked.
    init(_ number: Int) { self.init("\(number)") }

    var encodedLength: Int { bytes.count }
    func encode(into buffer: inout ByteBuffer, length: Int) { buffer.writeBytes(bytes) }
}

extension ByteBuffer {
    var allBytes: [UInt8] { Array(readableBytesView) }

    /// One frame written by `encode`, without its length prefix.
    static func frame(_ encode: (inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        encode(&buffer)
        return Array(buffer.allBytes.dropFirst(4))
    }
}
