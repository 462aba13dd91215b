import NIOCore
import NIOWebSocket
import RTMEdgeWebSocket
import RTMWire

/// What a client sends over a WebSocket, as frames: a byte for the head (whether it is the last of its
/// message, masked, has a reserved bit; its kind), a byte of length and as many of data. Whole messages must
/// come out of the assembly as the rules in protocol/websocket.md say, which are written down a second time
/// here, and what comes out must be whole frames of the protocol.
enum FuzzedWebSocket {
    private static let frameBytesMax = 300

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        try runPlain(bytes)
        if let first = bytes.first, first & 0x20 != 0 { try runCompressed(bytes) }
    }

    /// With compression agreed on. The rules are the same for what is not compressed; what is compressed may
    /// be anything, and must not come out longer than a message may be.
    private static func runCompressed(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        let bytesMax = frameBytesMax + FrameReader.prefixLength
        var assembly = MessageAssembly(
            frameBytesMax: frameBytesMax, compression: MessageCompression(messageBytesMax: bytesMax))
        var rest = bytes[...]
        while rest.count >= 2 {
            let head = rest[rest.startIndex]
            let data = Array(rest.dropFirst(2).prefix(Int(rest[rest.startIndex + 1])))
            rest = rest.dropFirst(2 + data.count)
            switch outcome(of: frame(head, data), &assembly) {
            case .refused: return
            case .message(let message):
                try Disagreement.unless(message.count <= bytesMax, "\(message.count) bytes came out")
                try readable(message)
            case .nothing: break
            }
        }
    }

    private static func runPlain(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        var assembly = MessageAssembly(frameBytesMax: frameBytesMax)
        var expected = Expectation(bytesMax: frameBytesMax + FrameReader.prefixLength)
        var rest = bytes[...]
        while rest.count >= 2 {
            let head = rest[rest.startIndex]
            let data = Array(rest.dropFirst(2).prefix(Int(rest[rest.startIndex + 1])))
            rest = rest.dropFirst(2 + data.count)
            let outcome = Self.outcome(of: frame(head, data), &assembly)
            let expectation = expected.next(head, data)
            try Disagreement.unless(
                outcome == expectation, "\(outcome), not \(expectation), for a frame \(head) with \(data)")
            switch outcome {
            case .refused: return
            case .message(let message): try readable(message)
            case .nothing: break
            }
        }
    }

    /// What a frame brings about.
    fileprivate enum Outcome: Equatable {
        case nothing
        case message([UInt8])
        case refused(closeCode: Int)
    }

    private static func outcome(of frame: WebSocketFrame, _ assembly: inout MessageAssembly) -> Outcome {
        do throws(WebSocketViolation) {
            try assembly.check(frame)
            guard frame.opcode.isData, let message = try assembly.add(frame) else { return .nothing }
            return .message(Array(message.readableBytesView))
        } catch {
            return .refused(closeCode: Int(UInt16(webSocketErrorCode: error.closeCode)))
        }
    }

    private static func frame(_ head: UInt8, _ data: [UInt8]) -> WebSocketFrame {
        var content = ByteBuffer(bytes: data)
        let key: WebSocketMaskingKey? = head & 0x40 == 0 ? [1, head, 3, 0xFF] : nil
        if let key { content.webSocketMask(key) }
        return WebSocketFrame(
            fin: head & 0x80 != 0, rsv1: head & 0x20 != 0, rsv2: false, rsv3: head & 0x10 != 0,
            opcode: WebSocketOpcode(encodedWebSocketOpcode: head & 15) ?? .text, maskKey: key, data: content)
    }

    private static func readable(_ message: [UInt8]) throws(Disagreement) {
        var reader = FrameReader(frameBytesMax: .max)
        var length = 0
        let isRead: Void? = try? reader.read(ByteBuffer(bytes: message)) { frame in
            length += FrameReader.prefixLength + frame.count
            return .nextFrame
        }
        try Disagreement.unless(
            isRead != nil && length == message.count, "\(length) bytes are frames of \(message)")
    }
}

extension FuzzedWebSocket {
    /// The rules once more.
    private struct Expectation {
        let bytesMax: Int
        var begun: [UInt8]?

        init(bytesMax: Int) { self.bytesMax = bytesMax }

        mutating func next(_ head: UInt8, _ data: [UInt8]) -> Outcome {
            if head & 0x70 != 0 { return .refused(closeCode: 1002) }
            let isContinuation = head & 15 == 0
            switch head & 15 {
            case 0 where begun == nil, 2 where begun != nil: return .refused(closeCode: 1002)
            case 0, 2: break
            case 1: return .refused(closeCode: 1003)
            case 8...10: return .nothing
            default: return .refused(closeCode: 1002)
            }
            let message = (isContinuation ? begun ?? [] : []) + data
            // What comes whole was measured by the decoder before it.
            let isMeasured = isContinuation || head & 0x80 == 0
            if isMeasured, message.count > bytesMax { return .refused(closeCode: 1009) }
            begun = head & 0x80 == 0 ? message : nil
            guard head & 0x80 != 0 else { return .nothing }
            return Self.isWhole(message) ? .message(message) : .refused(closeCode: 1002)
        }

        private static func isWhole(_ message: [UInt8]) -> Bool {
            var place = 0
            while place + 4 <= message.count {
                place += 4 + message[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            return place == message.count
        }
    }
}

extension WebSocketOpcode {
    /// What the codec answers by itself doesn't reach the assembly.
    fileprivate var isData: Bool { self != .ping && self != .pong && self != .connectionClose }
}
