import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin

    // NIO has told the socket already that it shall not signal.
    private let flags: CInt = 0
    private let systemSend = Darwin.send
#else
    import Glibc

    private let flags = CInt(MSG_NOSIGNAL)
    private let systemSend = Glibc.send
#endif

/// A client's socket without what NIO puts before it.
///
/// A write through NIO costs as much again as the system call below it (measured: a fifth of the processor
/// time of a fan-out with one message a turn), and nearly always the socket takes everything at once. So the
/// bytes are offered to the socket first; only what it leaves goes through NIO, which waits until there is
/// room.
struct DirectSocket {
    private let channel: any Channel
    private let descriptor: CInt

    /// Nil where the channel is no socket.
    init?(of context: ChannelHandlerContext) {
        let descriptor = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (descriptor: NIOBSDSocket.Handle) in descriptor
        }
        guard let descriptor else { return nil }
        channel = context.channel
        self.descriptor = descriptor
    }

    /// Returns how many bytes the socket took: 0 also when it failed, which NIO finds out with the rest.
    ///
    /// To be called on the channel's event loop, and with nothing under way through NIO: bytes must not
    /// overtake each other. A closed channel's descriptor may belong to another connection already, so it is
    /// asked first.
    func send(_ bytes: ByteBuffer) -> Int {
        guard channel.isActive else { return 0 }
        return bytes.withUnsafeReadableBytes { memory in
            max(0, systemSend(descriptor, memory.baseAddress, memory.count, flags))
        }
    }
}
