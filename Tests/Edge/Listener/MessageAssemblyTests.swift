import NIOCore
import NIOWebSocket
import Testing

@testable import RTMEdgeWebSocket

@Suite("Messages of a WebSocket")
struct MessageAssemblyTests {
    private static let frameBytesMax = 100

    private func frame(
        _ opcode: WebSocketOpcode, _ bytes: [UInt8], fin: Bool = true, masked: Bool = true
    ) -> WebSocketFrame {
        var data = ByteBuffer(bytes: bytes)
        let key = WebSocketMaskingKey.random()
        if masked { data.webSocketMask(key) }
        return WebSocketFrame(fin: fin, opcode: opcode, maskKey: masked ? key : nil, data: data)
    }

    /// A frame of the protocol that holds so many bytes.
    private func whole(_ count: Int) -> [UInt8] {
        [0, 0, 0, UInt8(count)] + .init(repeating: 7, count: count)
    }

    @Test("one with whole frames comes out as it is, empty ones too")
    func whole() throws {
        var assembly = MessageAssembly(frameBytesMax: Self.frameBytesMax)
        let message = whole(3) + whole(0) + whole(5)
        #expect(try assembly.add(frame(.binary, message)) == ByteBuffer(bytes: message))
        #expect(try assembly.add(frame(.binary, [])) == ByteBuffer())
    }

    @Test("one in fragments comes out at its end, however it is cut")
    func fragments() throws {
        var assembly = MessageAssembly(frameBytesMax: Self.frameBytesMax)
        let message = whole(20) + whole(10)
        for cut in 0...message.count {
            #expect(try assembly.add(frame(.binary, Array(message[..<cut]), fin: false)) == nil)
            #expect(try assembly.add(frame(.continuation, [], fin: false)) == nil)
            let whole = try assembly.add(frame(.continuation, Array(message[cut...])))
            #expect(whole == ByteBuffer(bytes: message))
        }
    }

    @Test("one that ends within a frame is refused")
    func half() {
        let messages: [[UInt8]] = [
            [0], [0, 0, 0], [0, 0, 0, 1], whole(5).dropLast(1) + [], whole(5) + [0], [255, 255, 255, 255, 1],
        ]
        for message in messages { #expect(code(frame(.binary, message)) == 1002, "\(message)") }
    }

    @Test("one longer than the longest frame is refused, as soon as it is seen to be")
    func tooLong() {
        #expect(code(frame(.binary, whole(100))) == nil)
        let first = frame(.binary, .init(repeating: 0, count: 60), fin: false)
        #expect(code(first, frame(.continuation, .init(repeating: 0, count: 44), fin: false)) == nil)
        #expect(code(first, frame(.continuation, .init(repeating: 0, count: 45), fin: false)) == 1009)
    }

    @Test("fragments in a wrong order, text, and kinds that don't exist are refused")
    func order() throws {
        #expect(code(frame(.continuation, [])) == 1002)
        #expect(code(frame(.text, [])) == 1003)
        #expect(code(frame(.text, [], fin: false)) == 1003)
        let unknown = try #require(WebSocketOpcode(encodedWebSocketOpcode: 3))
        #expect(code(frame(unknown, [])) == 1002)
        #expect(code(frame(.binary, [], fin: false), frame(.binary, [])) == 1002)
    }

    @Test("frames without a mask, or of an extension, are refused whatever they are")
    func masks() {
        let assembly = MessageAssembly(frameBytesMax: Self.frameBytesMax)
        #expect(throws: Never.self) { try assembly.check(frame(.ping, [])) }
        #expect(throws: WebSocketViolation.self) { try assembly.check(frame(.ping, [], masked: false)) }
        var compressed = frame(.binary, [])
        compressed.rsv1 = true
        #expect(throws: WebSocketViolation.self) { try assembly.check(compressed) }
    }

    @Test("a close frame has no body, or a code that may be sent and a reason in UTF-8")
    func closeCodes() throws {
        func close(_ bytes: [UInt8]) -> UInt16? {
            do throws(WebSocketViolation) {
                let code = try MessageAssembly.closeCode(ByteBuffer(bytes: bytes))
                return code.map { UInt16(webSocketErrorCode: $0) }
            } catch {
                return UInt16(webSocketErrorCode: error.closeCode)
            }
        }
        func bytes(_ code: UInt16) -> [UInt8] { [UInt8(code >> 8), UInt8(code & 255)] }
        #expect(close([]) == nil)
        for code in [1000, 1001, 1003, 1007, 1011, 1014, 3000, 4999] as [UInt16] {
            #expect(close(bytes(code)) == code)
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65_535] as [UInt16] {
            #expect(close(bytes(code)) == 1002, "\(code)")
        }
        #expect(close([3]) == 1002)
        #expect(close(bytes(1001) + Array("away".utf8)) == 1001)
        #expect(close(bytes(1000) + [0xC3, 0x28]) == 1007)
    }

    @Test("a run of frames is cut between them, as late as the limit allows")
    func cuts() {
        let run = ByteBuffer(bytes: whole(6) + whole(6) + whole(96) + whole(1))
        #expect(run.lengthOfWholeFrames(bytesMax: 1_000) == 125)
        #expect(run.lengthOfWholeFrames(bytesMax: 124) == 120)
        #expect(run.lengthOfWholeFrames(bytesMax: 20) == 20)
        #expect(run.lengthOfWholeFrames(bytesMax: 19) == 10)
        // Nothing else can be done with a frame that is too long by itself.
        #expect(run.lengthOfWholeFrames(bytesMax: 5) == 10)
        #expect(ByteBuffer(bytes: [0, 0]).lengthOfWholeFrames(bytesMax: 5) == 0)
    }

    /// The close code with which one of the frames is refused.
    private func code(_ frames: WebSocketFrame...) -> UInt16? {
        var assembly = MessageAssembly(frameBytesMax: Self.frameBytesMax)
        do throws(WebSocketViolation) {
            for frame in frames { _ = try assembly.add(frame) }
            return nil
        } catch {
            return UInt16(webSocketErrorCode: error.closeCode)
        }
    }
}
