package import NIOCore

/// A message that can be written behind its own length: its size is known before its bytes.
package protocol WireEncodable {
    /// Exactly the number of bytes that `encode` appends.
    var encodedLength: Int { get }

    /// Appends the protobuf encoding, without a length prefix.
    func encode(into buffer: inout ByteBuffer)
}
