import NIOCore
import NIOEmbedded
import Testing

@testable import RTMEdgeServer

#if canImport(Darwin)
    import Darwin
    private let streamType = SOCK_STREAM
#else
    import Glibc
    private let streamType = CInt(SOCK_STREAM.rawValue)
#endif

@Suite("What TLS has encrypted, on its way to the socket")
struct DirectWriteTests {
    private let channel: EmbeddedChannel
    private let near: CInt
    private let far: CInt

    init() throws {
        var pair: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, streamType, 0, &pair) == 0)
        (near, far) = (pair[0], pair[1])
        for descriptor in pair { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        channel = EmbeddedChannel(handler: DirectWriteHandler(DirectSocket(near)))
    }

    /// What has reached the other end of the socket.
    private func arrived() -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(far, &piece, piece.count)
            guard count > 0 else { return all }
            all += piece[..<count]
        }
    }

    private func write(_ bytes: [UInt8]) -> EventLoopFuture<Void> {
        channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    /// What went through NIO, which here stands for the socket once it is writable again.
    private func throughNIO() throws -> [UInt8] {
        var all: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { all += buffer.readableBytesView }
        return all
    }

    private func end() {
        _ = try? channel.finish(acceptAlreadyClosed: true)
        close(near)
        close(far)
    }

    @Test("what the socket takes doesn't go through NIO, and counts as written at once")
    func direct() throws {
        defer { end() }
        var isWritten = false
        write([1, 2, 3]).assumeIsolated().whenSuccess { isWritten = true }
        #expect(isWritten)
        #expect(arrived() == [1, 2, 3])
        #expect(try throughNIO().isEmpty)
    }

    @Test("what the socket doesn't take follows through NIO, and no byte overtakes another one")
    func full() throws {
        defer { end() }
        let many = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 8) }
        // NIO holds the rest until it is flushed.
        channel.write(ByteBuffer(bytes: many), promise: nil)
        let first = arrived()
        #expect(!first.isEmpty && first.count < many.count)
        // Now the socket has room, and the rest must still go before this.
        channel.write(ByteBuffer(bytes: [255]), promise: nil)
        #expect(arrived().isEmpty)
        channel.flush()
        #expect(try first + throughNIO() == many + [255])
        // Everything is written, and the socket has room.
        _ = write([7])
        #expect(arrived() == [7])
    }

    @Test("the descriptor of a connection that has ended isn't written to")
    func ended() throws {
        defer { end() }
        channel.pipeline.fireChannelInactive()
        _ = write([1])
        #expect(arrived().isEmpty)
        #expect(try throughNIO() == [1])
    }
}
