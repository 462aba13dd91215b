import NIOCore
import NIOWebSocket
import RTMTestSupport
import Testing

@testable import RTMEdgeWebSocket

@Suite("Compressed messages of a WebSocket")
struct MessageCompressionTests {
    private static let messageBytesMax = 2_004
    private let compression = MessageCompression(messageBytesMax: Self.messageBytesMax)

    private func frame(
        _ opcode: WebSocketOpcode, _ bytes: [UInt8], fin: Bool = true, rsv1: Bool = false, rsv2: Bool = false
    ) -> WebSocketFrame {
        var data = ByteBuffer(bytes: bytes)
        let key = WebSocketMaskingKey.random()
        data.webSocketMask(key)
        return WebSocketFrame(fin: fin, rsv1: rsv1, rsv2: rsv2, opcode: opcode, maskKey: key, data: data)
    }

    /// A frame of the protocol with so many bytes.
    private func whole(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let body = (0..<count).map { _ in UInt8.random(in: 0...3, using: &random) }
        return [0, 0, UInt8(count / 256), UInt8(count % 256)] + body
    }

    private func deflated(_ bytes: [UInt8], windowBits: Int = 15) throws -> [UInt8] {
        Array(
            try #require(compression.deflate(ByteBuffer(bytes: bytes), windowBits: windowBits))
                .readableBytesView)
    }

    private func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        Array(try compression.inflate(ByteBuffer(bytes: bytes)).readableBytesView)
    }

    /// The code with which the last of the frames is refused.
    private func code(_ frames: WebSocketFrame...) -> UInt16? {
        var assembly = MessageAssembly(
            frameBytesMax: Self.messageBytesMax - 4, compression: compression)
        do throws(WebSocketViolation) {
            for frame in frames {
                try assembly.check(frame)
                _ = try assembly.add(frame)
            }
            return nil
        } catch {
            return UInt16(webSocketErrorCode: error.closeCode)
        }
    }

    @Test("the specification's examples are read, also those that end within a message")
    func examples() throws {
        let hello = Array("Hello".utf8)
        // RFC 7692, 7.2.3.1, 7.2.3.3, 7.2.3.4 and 7.2.3.5.
        #expect(try inflated([0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]) == hello)
        #expect(
            try inflated([0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]) == hello)
        #expect(try inflated([0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]) == hello)
        #expect(
            try inflated([0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00])
                == hello)
        #expect(try inflated([0x00]) == [])
    }

    @Test("what is compressed comes back, with every window, and one message tells nothing of the next")
    func roundTrip() throws {
        for seed in 0..<30 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let message = (0..<Int.random(in: 1...4, using: &random)).flatMap { _ in
                whole(.random(in: 130...400, using: &random), &random)
            }
            let windowBits = Int.random(in: 9...15, using: &random)
            let small = try deflated(message, windowBits: windowBits)
            #expect(small.count < message.count, "seed \(seed)")
            #expect(try inflated(small) == message, "seed \(seed)")
            #expect(try deflated(message, windowBits: windowBits) == small, "the same again")
        }
    }

    @Test("a message is compressed in one piece or in fragments, with plain ones between")
    func fragments() throws {
        var random = SeededGenerator(seed: 1)
        let message = whole(300, &random) + whole(200, &random)
        let small = try deflated(message)
        var assembly = MessageAssembly(
            frameBytesMax: Self.messageBytesMax - 4, compression: compression)
        for cut in 0...small.count {
            #expect(
                try assembly.add(frame(.binary, Array(small[..<cut]), fin: false, rsv1: true)) == nil)
            let last = try assembly.add(frame(.continuation, Array(small[cut...])))
            #expect(last == ByteBuffer(bytes: message))
            #expect(try assembly.add(frame(.binary, message)) == ByteBuffer(bytes: message))
        }
        #expect(try assembly.add(frame(.binary, small, rsv1: true)) == ByteBuffer(bytes: message))
    }

    @Test("what is short, or doesn't become shorter, is sent as it is")
    func plain() {
        var random = SeededGenerator(seed: 1)
        let noise = ByteBuffer(bytes: (0..<1_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        #expect(compression.deflate(noise, windowBits: 15) == nil)
        #expect(compression.deflate(noise, windowBits: 15) == nil)
        let short = ByteBuffer(repeating: 7, count: MessageCompression.bytesMin - 1)
        #expect(compression.deflate(short, windowBits: 15) == nil)
        let least = ByteBuffer(repeating: 7, count: MessageCompression.bytesMin)
        #expect(compression.deflate(least, windowBits: 15)?.readableBytes ?? 128 < 20)
    }

    @Test("a bomb is refused at the limit, and one byte below it passes")
    func bomb() throws {
        let length = Self.messageBytesMax - 4
        let most = [0, 0, UInt8(length / 256), UInt8(length % 256)] + [UInt8](repeating: 0, count: length)
        #expect(code(frame(.binary, try deflated(most), rsv1: true)) == nil)
        #expect(code(frame(.binary, try deflated(most + [0]), rsv1: true)) == 1009)
        let bomb = try deflated([UInt8](repeating: 0, count: 1_000_000))
        #expect(bomb.count < 10_000)
        let small = MessageCompression(messageBytesMax: 20_000)
        #expect(throws: WebSocketViolation.tooLarge(bytesMax: 20_000)) {
            try small.inflate(ByteBuffer(bytes: bomb))
        }
        // Empty blocks without end cost their own length and no more.
        let empty =
            [UInt8](repeating: 0, count: 0) + (0..<300).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] }
        #expect(try inflated(empty + [0]) == [])
    }

    @Test("damaged data, and the bit of compression where it means nothing, are refused")
    func violations() throws {
        var random = SeededGenerator(seed: 1)
        let message = whole(300, &random)
        let small = try deflated(message)
        #expect(code(frame(.binary, [0xFF, 0xFF, 0xFF], rsv1: true)) == 1007)
        #expect(code(frame(.binary, small.dropLast(20) + [], rsv1: true)) != nil)
        #expect(code(frame(.binary, small)) == 1002, "its bit is missing")
        #expect(code(frame(.ping, [], rsv1: true)) == 1002)
        #expect(code(frame(.connectionClose, [], rsv1: true)) == 1002)
        #expect(code(frame(.binary, [], rsv2: true)) == 1002)
        #expect(code(frame(.text, [], rsv1: true)) == 1003)
        let begin = frame(.binary, Array(small[..<5]), fin: false, rsv1: true)
        #expect(code(begin, frame(.continuation, Array(small[5...]), rsv1: true)) == 1002)
    }

    @Test("any bytes are read without harm, and after them a message is read as before")
    func garbage() throws {
        var random = SeededGenerator(seed: 3)
        let message = whole(300, &random)
        let small = try deflated(message)
        for _ in 0..<2_000 {
            var bytes = small
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = code(frame(.binary, bytes, rsv1: true))
        }
        #expect(try inflated(small) == message)
    }
}
