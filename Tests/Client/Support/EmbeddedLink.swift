import NIOCore
import NIOEmbedded
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Synchronization

@testable import RTMClient

/// A link without a socket, a thread or a clock of its own. What the test lets the server send arrives at
/// once, and time passes when the test says so.
final class EmbeddedLink {
    private final class Clock: Sendable {
        private let instant = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { instant.withLock { $0 } }
        func advance(by duration: Duration) { instant.withLock { $0 += duration } }
    }

    /// How a call of the app ended.
    final class Call<Value: Sendable>: Sendable {
        private let ends = Mutex<[Result<Value, RTMError>]>([])
        let id: UInt64

        init(id: UInt64) { self.id = id }

        func end(_ result: Result<Value, RTMError>) { ends.withLock { $0.append(result) } }

        /// How often the call ended, which may be once at most.
        var endCount: Int { ends.withLock { $0.count } }
        var isSuccess: Bool { if case .success = ends.withLock({ $0.first }) { true } else { false } }
        var code: ErrorCode? {
            if case .failure(let error) = ends.withLock({ $0.first }) { error.code } else { nil }
        }
    }

    private final class Dialler: Dialing {
        private let loop: EmbeddedEventLoop
        private(set) var latest: ServerConnection?

        init(_ loop: EmbeddedEventLoop) { self.loop = loop }

        func dial(
            _ server: ServerAddress, over interface: String?, for receiver: any FrameReceiver
        ) -> ServerConnection {
            let connection = ServerConnection(eventLoop: loop, receiver: receiver)
            latest = connection
            return connection
        }
    }

    private let clock = Clock()
    private let loop = EmbeddedEventLoop()
    private let requestIDs = RequestIDs()
    private let dialler: Dialler
    private var channel: EmbeddedChannel?
    let link: Link

    init() {
        var configuration = RTMClient.Configuration(appID: "app", userID: "alice")
        configuration.timing.jitter = 0
        dialler = Dialler(loop)
        link = Link(
            configuration, dialer: dialler, hub: EventHub(), requestIDs: requestIDs, eventLoop: loop,
            clock: LinkClock(now: { [clock] in clock.now }, utcMilliseconds: { 1_790_000_000_000 }))
    }

    deinit {
        // A link that is closed, and whose connection is gone, holds nothing any more.
        link.close(nil)
        cut()
    }

    // MARK: The app

    func start<Value>(
        _ operation: Operation, _ start: (Link, Completion<Value>) -> Void
    ) -> Call<Value> {
        let call = Call<Value>(id: requestIDs.next())
        start(link, Completion(id: call.id, operation: operation) { call.end($0) })
        return call
    }

    func advance(by duration: Duration) {
        clock.advance(by: duration)
        loop.advanceTime(by: TimeAmount(duration) + .milliseconds(1))
    }

    // MARK: The server

    /// Lets the attempt to connect succeed, and the login too.
    func accept(_ fill: (inout Rtm_Client_LoggedIn) -> Void = { _ in }) throws {
        guard let connection = dialler.latest else { return }
        let channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandler(connection)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        self.channel = channel
        for frame in try sent() {
            guard case .login = frame.body else { continue }
            try answer(frame.requestID) {
                $0.loggedIn.sessionID = 1
                fill(&$0.loggedIn)
            }
        }
    }

    /// The frames that the client has sent since this was last asked.
    func sent() throws -> [Rtm_Client_ClientFrame] {
        loop.run()
        var frames: [Rtm_Client_ClientFrame] = []
        while var bytes = try channel?.readOutbound(as: ByteBuffer.self) {
            while let length = bytes.readInteger(as: UInt32.self),
                let frame = bytes.readBytes(length: Int(length))
            {
                frames.append(try Rtm_Client_ClientFrame(serializedBytes: frame))
            }
        }
        return frames
    }

    func answer(_ id: UInt64, _ fill: (inout Rtm_Client_ServerFrame) -> Void) throws {
        var frame = Rtm_Client_ServerFrame()
        frame.requestID = id
        fill(&frame)
        let bytes: [UInt8] = try frame.serializedBytes()
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(bytes.count))
        buffer.writeBytes(bytes)
        try channel?.writeInbound(buffer)
        loop.run()
    }

    func refuse(_ id: UInt64, _ code: Rtm_Client_ErrorCode, retryAfterMilliseconds: UInt32 = 0) throws {
        try answer(id) {
            $0.error.code = code
            $0.error.reason = "refused"
            $0.error.retryAfterMs = .init(retryAfterMilliseconds)
        }
    }

    func cut() {
        channel?.close(promise: nil)
        loop.run()
    }
}
