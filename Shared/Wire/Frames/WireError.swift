/// Why bytes are not a message. It is always the sender's fault, and the connection ends with it.
package enum WireError: Error, Sendable, Hashable {
    /// The length prefix is beyond the limit.
    case frameTooLarge(bytes: Int, bytesMax: Int)
    /// The bytes are not a protobuf message of the expected type.
    case undecodable
    /// A text has the character NUL, which no text of the protocol may have (`TextWithNul`).
    case textWithNul
    /// Where the length of a frame belongs stands what another protocol begins with.
    case foreign(ForeignProtocol)
}

/// A protocol that somebody speaks by mistake at a port that takes frames. It is known by its first four
/// bytes, which as a length of a frame would be beyond every limit.
package enum ForeignProtocol: Sendable, Hashable {
    case tls, http

    /// The first four bytes of requests and answers of HTTP.
    private static let beginningsOfHTTP = Set(
        ["GET ", "HEAD", "POST", "PUT ", "DELE", "OPTI", "CONN", "PATC", "TRAC", "PRI ", "HTTP"].map {
            $0.utf8.reduce(0) { $0 << 8 | UInt32($1) }
        })

    package init?(firstBytes: UInt32) {
        switch firstBytes >> 16 {
        // A handshake or an alert of TLS, and the first byte of the version.
        case 0x16_03, 0x15_03: self = .tls
        default:
            guard Self.beginningsOfHTTP.contains(firstBytes) else { return nil }
            self = .http
        }
    }
}

extension WireError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .frameTooLarge(let bytes, let bytesMax):
            "a frame of \(bytes) bytes was announced, \(bytesMax) are allowed"
        case .undecodable:
            "a frame does not hold a message"
        case .textWithNul:
            "a text in a frame has the character NUL (U+0000), which no text may have"
        case .foreign(.tls):
            "the other side speaks TLS, and this port is in the clear"
        case .foreign(.http):
            "the other side speaks HTTP, and this port takes frames"
        }
    }
}
