package import NIOCore
package import NIOWebSocket
package import RTMWire

/// A client breaks a rule of WebSocket, or of how the protocol uses it. The connection ends, with both codes.
package struct WebSocketViolation: Error, Equatable {
    package let closeCode: WebSocketErrorCode
    package let disconnect: Disconnect

    init(_ closeCode: WebSocketErrorCode, _ reason: String, _ code: Disconnect.Code = .protocolError) {
        self.closeCode = closeCode
        disconnect = Disconnect(code, reason)
    }

    /// What NIO's decoder refuses.
    package init(_ error: NIOWebSocketError, bytesMax: Int) {
        switch error {
        case .invalidFrameLength: self = .tooLarge(bytesMax: bytesMax)
        case .fragmentedControlFrame: self.init(.protocolError, "a control frame came in fragments")
        case .multiByteControlFrameLength:
            self.init(.protocolError, "a control frame had more than 125 bytes")
        }
    }

    static func tooLarge(bytesMax: Int) -> Self {
        Self(.messageTooLarge, "a message had more than \(bytesMax) bytes", .frameTooLarge)
    }
}

/// Makes whole messages out of what a client sends, and holds it to the rules. It has a target of its own
/// because it reads what anybody sends, and is fuzzed without the library that TLS needs.
///
/// A fragment is copied as it comes. To keep NIO's slices instead (as its aggregator does) would keep with
/// each of them the whole read that it came in: megabytes for a client that sends a message byte by byte.
package struct MessageAssembly {
    /// The longest message accepted: one frame of the longest kind, with its length.
    package let bytesMax: Int
    /// The fragments so far of a message whose end is still to come.
    private var begun: ByteBuffer?
    private var isBegunCompressed = false
    /// What decompresses messages; nil if the client may not compress.
    private let compression: MessageCompression?

    /// - Parameter compression: given if the client and the edge have agreed on it.
    package init(frameBytesMax: Int, compression: MessageCompression? = nil) {
        bytesMax = frameBytesMax + FrameReader.prefixLength
        self.compression = compression
    }

    /// What holds for every frame, also for pings.
    package func check(_ frame: WebSocketFrame) throws(WebSocketViolation) {
        guard frame.maskKey != nil else {
            throw WebSocketViolation(.protocolError, "a client has to mask what it sends")
        }
        guard compression != nil else {
            if frame.reservedBits.isEmpty { return }
            throw WebSocketViolation(.protocolError, "no extension was agreed on")
        }
        guard frame.reservedBits.isEmpty || frame.reservedBits == .rsv1 && frame.beginsMessage else {
            throw WebSocketViolation(.protocolError, "a frame has a reserved bit that means nothing there")
        }
    }

    /// Takes a frame of data; returns the message that it completes.
    package mutating func add(_ frame: WebSocketFrame) throws(WebSocketViolation) -> ByteBuffer? {
        switch frame.opcode {
        case .binary:
            guard begun == nil else {
                throw WebSocketViolation(.protocolError, "a message began within another one")
            }
            if frame.fin { return try whole(frame.unmaskedData, isCompressed: frame.rsv1) }
            begun = ByteBuffer()
            isBegunCompressed = frame.rsv1
            return try append(frame)
        case .continuation:
            guard begun != nil else {
                throw WebSocketViolation(.protocolError, "a message was continued that had not begun")
            }
            return try append(frame)
        case .text:
            throw WebSocketViolation(.unacceptableData, "this protocol has binary messages only")
        default:
            throw WebSocketViolation(.protocolError, "a frame was of an unknown kind")
        }
    }

    /// The code with which a client closes; nil if its close frame has none (RFC 6455, 5.5.1 and 7.4).
    package static func closeCode(_ body: ByteBuffer) throws(WebSocketViolation) -> WebSocketErrorCode? {
        var body = body
        guard body.readableBytes > 0 else { return nil }
        guard let number = body.readInteger(as: UInt16.self) else {
            throw WebSocketViolation(.protocolError, "a close frame had half a code")
        }
        // The others are reserved, or for what is seen without a close frame, such as 1006.
        guard [1000...1003, 1007...1014, 3000...4999].contains(where: { $0.contains(number) }) else {
            throw WebSocketViolation(
                .protocolError, "a close frame had the code \(number), which nobody may send")
        }
        guard String(validating: body.readableBytesView, as: UTF8.self) != nil else {
            throw WebSocketViolation(
                .dataInconsistentWithMessage, "the reason of a close frame was not UTF-8")
        }
        return WebSocketErrorCode(codeNumber: Int(number))
    }

    private mutating func append(_ frame: WebSocketFrame) throws(WebSocketViolation) -> ByteBuffer? {
        var message = begun.take() ?? ByteBuffer()
        guard message.readableBytes + frame.length <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
        message.writeImmutableBuffer(frame.unmaskedData)
        if frame.fin { return try whole(message, isCompressed: isBegunCompressed) }
        begun = message
        return nil
    }

    /// A client that forgets the length before a frame is refused here, and not at a timeout.
    private func whole(
        _ received: ByteBuffer, isCompressed: Bool
    ) throws(WebSocketViolation) -> ByteBuffer {
        let message = isCompressed ? try compression?.inflate(received) ?? received : received
        guard message.lengthOfWholeFrames(bytesMax: .max) == message.readableBytes else {
            throw WebSocketViolation(
                .protocolError, "a message has to consist of whole frames, each behind its length")
        }
        return message
    }
}

extension WebSocketFrame {
    /// Only the first frame of a message says whether the message is compressed.
    fileprivate var beginsMessage: Bool { opcode == .binary || opcode == .text }
}

extension ByteBuffer {
    /// The length of the longest run of whole frames at the beginning that has at most so many bytes. A first
    /// frame that is longer counts nevertheless.
    package func lengthOfWholeFrames(bytesMax: Int) -> Int {
        withUnsafeReadableBytes { memory in
            var offset = 0
            while memory.count - offset >= FrameReader.prefixLength {
                let length = UInt32(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                let end = offset + FrameReader.prefixLength + Int(length)
                guard end <= memory.count, end <= bytesMax || offset == 0 else { break }
                offset = end
            }
            return offset
        }
    }
}
