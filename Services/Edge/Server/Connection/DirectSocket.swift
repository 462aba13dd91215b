import NIOCore

#if canImport(Darwin)
    import Darwin

    // NIO has already set the socket not to raise a signal.
    private let flags: CInt = 0
    private let systemSend = Darwin.send
#else
    import Glibc

    private let flags = CInt(MSG_NOSIGNAL)
    private let systemSend = Glibc.send
#endif

/// A client's socket, without the layers that NIO puts before it.
///
/// A write through NIO costs as much again as the system call below it (measured: a fifth of the processor
/// time of a fan-out with one message a turn), and nearly always the socket takes everything at once. So the
/// bytes are offered to the socket first; only what it leaves goes through NIO, which waits until the
/// socket is writable.
struct DirectSocket {
    private let descriptor: CInt

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Returns how many bytes the socket took. It is 0 also when the socket failed; NIO finds that out with
    /// the rest of the bytes.
    ///
    /// Call it on the channel's event loop, while nothing is under way through NIO (bytes must not overtake
    /// each other), and never after `channelInactive`: the descriptor of a closed channel may belong to
    /// another connection. A handler learns of that within the call that closes the descriptor, before
    /// anything else can run on the loop (DirectSocketTests).
    func send(_ bytes: ByteBuffer) -> Int {
        bytes.withUnsafeReadableBytes { memory in
            max(0, systemSend(descriptor, memory.baseAddress, memory.count, flags))
        }
    }
}
