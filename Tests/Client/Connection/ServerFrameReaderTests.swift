import NIOCore
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMClient

struct ServerFrameReaderTests {
    private func frame(_ id: UInt64) -> Rtm_Client_ServerFrame {
        var frame = Rtm_Client_ServerFrame()
        frame.requestID = id
        frame.heartbeatAck.serverTimeMs = 1_790_000_000_000
        return frame
    }

    private func bytes(_ frames: [Rtm_Client_ServerFrame]) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        for frame in frames {
            let bytes: [UInt8] = try frame.serializedBytes()
            buffer.writeInteger(UInt32(bytes.count))
            buffer.writeBytes(bytes)
        }
        return buffer
    }

    @Test(arguments: 1...40)
    func `Frames come out whole however the bytes are cut`(cut: Int) throws {
        var stream = try bytes([frame(1), Rtm_Client_ServerFrame(), frame(2), frame(3)])
        var reader = ServerFrameReader()
        var ids: [UInt64] = []
        while let piece = stream.readSlice(length: min(cut, stream.readableBytes)), piece.readableBytes > 0 {
            reader.append(piece)
            while let frame = try reader.next() { ids.append(frame.requestID) }
        }
        #expect(ids == [1, 0, 2, 3])
    }

    @Test func `A length beyond the limit is refused before its bytes have come`() throws {
        var reader = ServerFrameReader()
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(ServerFrameReader.frameBytesMax + 1))
        reader.append(buffer)
        #expect(throws: ServerFrameReader.Failure.tooLarge(ServerFrameReader.frameBytesMax + 1)) {
            try reader.next()
        }
    }

    @Test(arguments: [[0x15, 0x03, 0x01, 0x00], [0x16, 0x03, 0x03, 0x01]] as [[UInt8]])
    func `An alert or a handshake of TLS is no length`(bytes: [UInt8]) {
        var reader = ServerFrameReader()
        reader.append(ByteBuffer(bytes: bytes))
        #expect(throws: ServerFrameReader.Failure.tls) { try reader.next() }
    }

    @Test func `A run of frames is cut between them, as late as the limit allows`() throws {
        let one = try bytes([frame(1)]).readableBytes
        var run = try bytes([Rtm_Client_ServerFrame(), frame(1), frame(2)])
        #expect(run.lengthOfWholeFrames(bytesMax: 1_000) == 4 + 2 * one)
        #expect(run.lengthOfWholeFrames(bytesMax: 3 + 2 * one) == 4 + one)
        run.moveReaderIndex(forwardBy: 4)
        #expect(run.lengthOfWholeFrames(bytesMax: one) == one)
        // Nothing else can be done with a single frame that is too long.
        #expect(run.lengthOfWholeFrames(bytesMax: 1) == one)
        let half = run.getSlice(at: run.readerIndex, length: one - 1) ?? ByteBuffer()
        #expect(half.lengthOfWholeFrames(bytesMax: 1_000) == 0)
    }

    @Test func `HTTP in place of a frame is called what it is`() {
        var reader = ServerFrameReader()
        reader.append(ByteBuffer(string: "HTTP/1.1 400 Bad Request"))
        let failure = #expect(throws: ServerFrameReader.Failure.self) { try reader.next() }
        #expect(failure?.description.contains("write ws://") == true)
    }

    @Test func `Garbage is refused`() throws {
        var reader = ServerFrameReader()
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(3))
        buffer.writeBytes([0xFF, 0xFF, 0xFF])
        reader.append(buffer)
        #expect(throws: ServerFrameReader.Failure.undecodable) { try reader.next() }
    }

    @Test func `An outgoing frame carries its length`() throws {
        var outgoing = Rtm_Client_ClientFrame()
        outgoing.requestID = 9
        outgoing.heartbeat = Rtm_Client_Heartbeat()
        var buffer = ByteBuffer()
        try buffer.writeFrame(outgoing)
        #expect(Array(buffer.readableBytesView) == [0, 0, 0, 4, 0x08, 9, 0x2A, 0])
    }
}
