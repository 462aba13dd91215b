import NIOCore
import RTMProtocol
import SwiftProtobuf

/// Cuts the byte stream into frames and decodes them in place. A frame is its length in 4 bytes, big-endian,
/// and one `ServerFrame`.
struct ServerFrameReader {
    /// Limit: bytes of one frame. No server sends longer ones, so that a longer frame ends the connection.
    static let frameBytesMax = 1024 * 1024
    static let prefixBytes = 4
    /// The length that the beginning of an HTTP answer looks like.
    static let http = 0x48_54_54_50

    /// What an alert and a handshake of TLS begin with: the type, and the first byte of the version.
    static let tls: Set = [0x15_03, 0x16_03]

    enum Failure: Error, Equatable {
        case tooLarge(Int)
        /// These are no frames, but records of TLS.
        case tls
        case undecodable
    }

    private var buffer = ByteBuffer()
    /// The bytes of the frame that was read last, those of its length included.
    private(set) var frameBytes = 0

    mutating func append(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            buffer.discardReadBytes()
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// The next whole frame, or `nil` until more bytes have come.
    mutating func next() throws(Failure) -> Rtm_Client_ServerFrame? {
        guard let prefix = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        let length = Int(prefix)
        guard length <= Self.frameBytesMax else {
            throw Self.tls.contains(length >> 16) ? .tls : .tooLarge(length)
        }
        guard buffer.readableBytes >= Self.prefixBytes + length else { return nil }
        frameBytes = Self.prefixBytes + length
        defer { buffer.moveReaderIndex(forwardBy: frameBytes) }
        do {
            let bytes = buffer.readableBytesSpan.extracting(Self.prefixBytes..<(Self.prefixBytes + length))
            return try Rtm_Client_ServerFrame(serializedBytes: bytes)
        } catch {
            throw .undecodable
        }
    }
}

extension ServerFrameReader.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .tooLarge(ServerFrameReader.http):
            "the server speaks HTTP at this port: write ws:// or wss:// before a WebSocket's address; an admin "
                + "port takes no clients"
        case .tls:
            "the server speaks TLS at this port, and this client doesn't"
        case .tooLarge(let length):
            "the server sent a frame of \(length) bytes, \(ServerFrameReader.frameBytesMax) are allowed"
        case .undecodable:
            "the server sent a frame that can't be decoded"
        }
    }
}

extension ByteBuffer {
    /// Appends a frame with its length. This fails only for a text that isn't valid UTF-8, which no Swift
    /// string is.
    mutating func writeFrame(_ frame: Rtm_Client_ClientFrame) throws {
        let bytes: [UInt8] = try frame.serializedBytes()
        writeInteger(UInt32(bytes.count))
        writeBytes(bytes)
    }
}
