import NIOCore
import RTMWire

/// The bytes that a client sends, and how many of them the edge holds or takes.
struct Intake {
    /// Limit: a frame of a client that has not logged in. A login has a token of 24 KiB at most, and with the
    /// subscriptions that it takes up again 36 KiB.
    static let loginFrameBytesMax = 40 * 1024
    /// Limit: what a client may send behind its last frame before its connection is closed in both
    /// directions.
    static let drainedBytesMax = 1 << 20

    private let frameBytesMax: Int
    private var reader: FrameReader
    private var drainedBytes = 0
    /// What is counted as held for a client that has not logged in.
    private var strangerBytes = 0

    /// How much memory is held of a frame that isn't there to its end.
    var keptBytes: Int { reader.keptBytes }

    init(frameBytesMax: Int) {
        self.frameBytesMax = frameBytesMax
        reader = FrameReader(frameBytesMax: frameBytesMax)
    }

    /// Calls `body` with each whole frame, as `FrameReader.read` does.
    mutating func read(
        _ chunk: consuming ByteBuffer, isLoggedIn: Bool,
        each body: (UnsafeRawBufferPointer) -> FrameReader.After
    ) throws(WireError) {
        reader.frameBytesMax = isLoggedIn ? frameBytesMax : min(frameBytesMax, Self.loginFrameBytesMax)
        try reader.read(chunk, each: body)
    }

    /// Keeps a chunk that arrives during a pause of `read`.
    mutating func append(_ chunk: consuming ByteBuffer) { reader.append(chunk) }

    /// How much more a client that isn't logged in holds than the last time.
    mutating func strangerBytesChanged(isStranger: Bool) -> Int {
        let before = strangerBytes
        strangerBytes = isStranger ? keptBytes : 0
        return strangerBytes - before
    }

    /// Throws away what comes after the last frame was sent. Returns whether it is too much.
    mutating func drain(_ chunk: ByteBuffer) -> Bool {
        drainedBytes += chunk.readableBytes
        return drainedBytes > Self.drainedBytesMax
    }

    /// Nothing more is read.
    mutating func clear() { reader = FrameReader(frameBytesMax: frameBytesMax) }
}
