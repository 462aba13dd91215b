package import NIOCore

/// A message that can be written behind its own length: its size is known before its bytes.
package protocol WireEncodable {
    /// Exactly the number of bytes that `encode` appends.
    var encodedLength: Int { get }

    /// Appends the protobuf encoding, without a length prefix. `length` is `encodedLength`, which the caller
    /// knows already: to count the fields once more would cost as much as to write them.
    func encode(into buffer: inout ByteBuffer, length: Int)
}
