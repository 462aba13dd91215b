import NIOCore
import RTMWire

/// Views as a decoder would hand them out, for the duration of the call.
func withWireTexts<Result>(
    _ values: [[UInt8]], _ body: ([WireText]) throws -> Result
) rethrows -> Result {
    try values.flatMap(\.self).withUnsafeBytes { memory in
        var start = 0
        let views = values.map { value in
            defer { start += value.count }
            return WireText(UnsafeRawBufferPointer(rebasing: memory[start..<start + value.count]))
        }
        return try body(views)
    }
}

extension WireText {
    var copied: [UInt8] { Array(bytes) }
}

extension WireEncodable {
    var encoded: [UInt8] {
        var buffer = ByteBuffer()
        encode(into: &buffer, length: encodedLength)
        return Array(buffer.readableBytesView)
    }
}

extension WireMessage {
    var framed: [UInt8] { Array(frame.readableBytesView) }
}

/// The bytes behind their length, as a frame.
func frame(_ bytes: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
}
