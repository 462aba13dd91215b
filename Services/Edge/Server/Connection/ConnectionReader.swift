import NIOCore
import RTMServiceLink
import RTMWire

/// Reads what a client sends: it cuts the bytes into frames where they arrived, and hands these to the
/// connection. It stops for a while where the client has used up its quota of a turn, or has published more
/// than messaging takes.
final class ConnectionReader {
    /// Frames are being read. Nothing is written meanwhile: a socket that fails would end the session,
    /// and read on, in the middle of a request.
    private(set) var isReading = false
    private(set) var inbound: InboundBuffer
    private var gate = ReadGate()
    private var quota = RequestQuota()

    init(frameBytesMax: Int) { inbound = InboundBuffer(frameBytesMax: frameBytesMax) }

    /// - Returns: whether the connection has to be closed, because its client keeps sending after the end.
    func drain(_ chunk: ByteBuffer) -> Bool { inbound.drain(chunk) }

    func arrived(_ chunk: ByteBuffer, at connection: ConnectionHandler) {
        if quota.isPaused {
            inbound.append(chunk)
            countHandshakeBytes(of: connection)
        } else {
            read(chunk, at: connection)
        }
    }

    private func read(_ chunk: ByteBuffer, at connection: ConnectionHandler) {
        quota.begin(now: connection.loop.endOfTurn.now)
        isReading = true
        defer { isReading = false }
        do throws(WireError) {
            try inbound.read(chunk, isLoggedIn: connection.machine.isActive) { frame in
                if connection.received(frame) { quota.spend() }
                return connection.machine.isEnded ? .end : quota.isUsedUp ? .pause : .nextFrame
            }
        } catch {
            connection.disconnect(Disconnect(error))
        }
        connection.loop.publishing.sendRun()
        countHandshakeBytes(of: connection)
        connection.checkAbuse()
        if quota.isUsedUp { pause(connection) }
    }

    /// The connection is gone, or has sent its last frame.
    func ended(_ connection: ConnectionHandler) {
        // What is being read has to be read to its end.
        guard !isReading else { return }
        inbound.clear()
        countHandshakeBytes(of: connection)
    }

    /// Half frames of clients that have not logged in hold little memory in all.
    private func countHandshakeBytes(of connection: ConnectionHandler) {
        let isUnauthenticated = !connection.machine.isActive && !connection.machine.isEnded
        let change = inbound.handshakeBytesChanged(isUnauthenticated: isUnauthenticated)
        guard change != 0, !connection.loop.chargeHandshakeBytes(change), isUnauthenticated else { return }
        connection.disconnect(.halfLogin)
        inbound.clear()
        countHandshakeBytes(of: connection)
    }

    // MARK: Pauses

    /// The rest of the client's requests waits until the loop has looked at its other sockets.
    private func pause(_ connection: ConnectionHandler) {
        guard !connection.machine.isEnded else { return inbound.clear() }
        quota.pause()
        gate.close(.requests)
        connection.loop.metrics.requestsPaused()
        connection.loop.eventLoop.assumeIsolated().scheduleTask(in: RequestQuota.pause) {
            self.resume(connection)
        }
    }

    private func resume(_ connection: ConnectionHandler) {
        quota.resume()
        guard !connection.machine.isEnded else { return ended(connection) }
        read(ByteBuffer(), at: connection)
        if !quota.isPaused, gate.open(.requests) { connection.readNow() }
    }

    /// The socket isn't read, so its client can't show that it lives.
    var isHeld: Bool { gate.isClosed }

    /// NIO wants to read. Returns whether it may.
    func mayRead() -> Bool { gate.mayRead() }

    func stop(_ reason: ReadGate.Reasons) { gate.close(reason) }

    func resumeReading(_ reason: ReadGate.Reasons, at connection: ConnectionHandler) {
        if gate.open(connection.machine.isEnded ? .all : reason) { connection.readNow() }
    }
}

extension Disconnect {
    fileprivate static let halfLogin = Disconnect(
        .tooManyConnections, "too many unauthenticated connections have sent half a frame",
        retryAfter: .seconds(5))

    init(_ error: WireError) {
        switch error {
        case .frameTooLarge: self.init(.frameTooLarge, error.description)
        case .undecodable, .textWithNul, .foreign: self.init(.protocolError, error.description)
        }
    }
}

/// Whether a connection's socket is read. While the gate is closed, what the client sends stays in the
/// sockets, and TCP slows the client down. Pure.
struct ReadGate {
    /// Why a gate is closed. It opens when no reason is left.
    struct Reasons: OptionSet {
        let rawValue: UInt8

        /// Messaging hasn't taken yet what the client has published.
        static let publishes = Reasons(rawValue: 1)
        /// The client's requests have filled a turn of the loop.
        static let requests = Reasons(rawValue: 2)
        /// Too many calls wait until the client has read the answers to those before.
        static let answers = Reasons(rawValue: 4)
        static let all: Reasons = [.publishes, .requests, .answers]
    }

    private var reasons: Reasons = []
    /// NIO asked to read while the gate was closed.
    private var isReadDue = false

    var isClosed: Bool { !reasons.isEmpty }

    /// NIO wants to read. Returns whether it may.
    mutating func mayRead() -> Bool {
        if isClosed { isReadDue = true }
        return !isClosed
    }

    mutating func close(_ reason: Reasons) { reasons.insert(reason) }

    /// Returns whether a read is due.
    mutating func open(_ reasons: Reasons) -> Bool {
        self.reasons.subtract(reasons)
        guard !isClosed else { return false }
        defer { isReadDue = false }
        return isReadDue
    }
}

/// How many requests of one client are handled in one turn of the loop. A read may bring thousands, and all
/// other clients of the loop would wait for the last of them. What exceeds the quota waits until the loop has
/// looked at its other sockets.
///
/// Publishes that are accepted don't count. They are sent on in runs, and rates and the `PublishWindow` bound
/// them. Pure: the time is a parameter.
struct RequestQuota {
    /// Limit: requests of one connection in a turn of the loop. 64 that are refused take a tenth of a
    /// millisecond.
    static let requestsMax: UInt16 = 64
    /// How long the rest waits. NIO looks at its sockets meanwhile.
    static let pause = TimeAmount.microseconds(100)

    private var instant = NIODeadline.uptimeNanoseconds(0)
    private var count: UInt16 = 0
    /// The rest waits.
    private(set) var isPaused = false

    /// The connection has used up its quota of this turn.
    var isUsedUp: Bool { count >= Self.requestsMax }

    /// The connection is read, for the first time in a turn or once more.
    ///
    /// - Parameter now: the time of the turn (`endOfTurn.now`).
    mutating func begin(now: NIODeadline) {
        guard instant != now else { return }
        instant = now
        count = 0
    }

    /// A request was answered, refused or passed on.
    mutating func spend() { count += 1 }

    mutating func pause() { isPaused = true }

    /// The pause is over, and a new turn begins.
    mutating func resume() { self = RequestQuota() }
}

/// The bytes that a client sends, and how many of them the edge holds or takes.
struct InboundBuffer {
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
    private var handshakeBytes = 0

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
    mutating func handshakeBytesChanged(isUnauthenticated: Bool) -> Int {
        let before = handshakeBytes
        handshakeBytes = isUnauthenticated ? keptBytes : 0
        return handshakeBytes - before
    }

    /// Throws away what comes after the last frame was sent. Returns whether it is too much.
    mutating func drain(_ chunk: ByteBuffer) -> Bool {
        drainedBytes += chunk.readableBytes
        return drainedBytes > Self.drainedBytesMax
    }

    /// Nothing more is read.
    mutating func clear() { reader = FrameReader(frameBytesMax: frameBytesMax) }
}
