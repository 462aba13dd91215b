/// Why bytes are not a message. It is always the sender's fault, and the connection ends with it.
package enum WireError: Error, Sendable, Hashable {
    /// The length prefix is beyond the limit.
    case frameTooLarge(bytes: Int, bytesMax: Int)
    /// The bytes are not a protobuf message of the expected type.
    case undecodable
}

extension WireError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .frameTooLarge(let bytes, let bytesMax):
            "a frame of \(bytes) bytes was announced, \(bytesMax) are allowed"
        case .undecodable:
            "a frame does not hold a message"
        }
    }
}
