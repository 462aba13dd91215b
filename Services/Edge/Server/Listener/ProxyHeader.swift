import NIOCore

/// The header of the PROXY protocol, version 2, with which a load balancer says at the start of a connection
/// who the client is. Without it every client behind the balancer would seem to come from its address. Pure.
///
/// The format is HAProxy's (`proxy-protocol.txt`, section 2.2): a signature of 12 bytes, a byte each for
/// version and command and for family and transport, the length of the rest, the addresses, and then fields
/// that say more, which the edge doesn't need.
struct ProxyHeader: Equatable {
    /// The client's IP address as text; nil if the balancer speaks for itself, as its health checks do.
    let client: String?
    /// How many bytes the header has. The client's own bytes follow.
    let length: Int

    enum Refusal: Error, Equatable {
        case noSignature
        case version(UInt8)
        case command(UInt8)
        case tooLong(Int)
        /// The addresses don't fit into the length that the header states.
        case tooShort(Int)
    }

    /// Limit: the bytes after the first 16. The addresses take at most 216, and a balancer's fields some
    /// hundred.
    static let restBytesMax = 2048
    fileprivate static let startLength = 16
    fileprivate static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
}

extension ProxyHeader {
    /// Nil if more bytes are needed.
    init?(_ bytes: ByteBufferView) throws(Refusal) {
        guard zip(bytes, Self.signature).allSatisfy({ $0 == $1 }) else { throw .noSignature }
        guard bytes.count >= Self.startLength else { return nil }
        let start = [UInt8](bytes.prefix(Self.startLength))
        guard start[12] >> 4 == 2 else { throw .version(start[12] >> 4) }
        let restLength = Int(start[14]) << 8 | Int(start[15])
        guard restLength <= Self.restBytesMax else { throw .tooLong(restLength) }
        length = Self.startLength + restLength
        guard bytes.count >= length else { return nil }
        switch start[12] & 0xF {
        case 0: client = nil
        case 1:
            let rest = bytes.dropFirst(Self.startLength).prefix(restLength)
            client = try Self.source(family: start[13] >> 4, rest)
        case let command: throw .command(command)
        }
    }

    /// The source comes first, and the destination of the same length after it, each without its port.
    private static func source(family: UInt8, _ rest: ByteBufferView) throws(Refusal) -> String? {
        let length: Int
        switch family {
        case 1: length = 4
        case 2: length = 16
        // Unspecified, or a unix socket: the peer's own address is the best that is known.
        default: return nil
        }
        guard rest.count >= 2 * (length + 2) else { throw .tooShort(rest.count) }
        let address = try? SocketAddress(
            packedIPAddress: ByteBuffer(bytes: rest.prefix(length)), port: 0)
        return address?.ipAddress
    }
}

extension ProxyHeader.Refusal: CustomStringConvertible {
    var description: String {
        switch self {
        case .noSignature: "there is no header of the PROXY protocol, version 2"
        case .version(let version): "the header has version \(version), and only 2 is understood"
        case .command(let command): "the header has the command \(command), which is unknown"
        case .tooLong(let length):
            "the header has \(length) bytes after its start, \(ProxyHeader.restBytesMax) are allowed"
        case .tooShort(let length):
            "the header has \(length) bytes after its start, too few for its addresses"
        }
    }
}
