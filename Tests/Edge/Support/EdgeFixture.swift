import Foundation
import Logging
import NIOCore
import NIOEmbedded
import RTMAccessToken
import RTMMessagingServer
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMTestSupport
import RTMTokenTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer
@testable import RTMServiceLink

/// One loop of an edge with the pipelines of its clients and its real links: to a real messaging node, and to
/// a presence and a storage that do what the test says. Time passes only when the test lets it.
final class EdgeFixture {
    let time = EmbeddedEventLoop()
    let edge: EdgeLoop
    let presence: FakeService
    let storage: FakeService
    let messaging: MessagingBehindGlass
    private let messagingServer: ServiceLinkServer

    /// With all links up; presence has been told that there is nobody.
    ///
    /// - Parameters:
    ///   - entriesMax: how many entries of a channel messaging gives who comes back.
    ///   - bytesMax: how many bytes of them.
    ///   - rates: of its apps, "app" and "other".
    ///   - sharedRates: what it counts together with another one.
    ///   - needsTokens: whether the first app is `SampleApp`.
    ///   - outboundBytes: what may wait for its clients together.
    ///   - storageShards: how many shards storage has.
    ///   - wallClock: the time of day in milliseconds.
    ///   - logger: what the edge logs goes there.
    init(
        entriesMax: Int = 1_000, bytesMax: Int = 1 << 20, rates: ApplicationRates = .unlimited,
        sharedRates: SharedRates? = nil, sessionsMax: Int = 0, needsTokens: Bool = false,
        outboundBytes: Int = 1 << 30, storageShards: Int = 1,
        wallClock: @escaping () -> UInt64 = WallClock.milliseconds,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) {
        let metrics = MetricsRegistry()
        presence = FakeService("presence", on: time)
        storage = FakeService("storage", shards: storageShards, on: time)
        let messages = InProcessEndpoint(name: "messaging")
        var link = ServiceLinkConfiguration()
        link.random = { 0.5 }
        let links = EdgeServiceLinks(
            messaging: [.inProcess(messages)], presence: [.inProcess(presence.endpoint)],
            storage: [.inProcess(storage.endpoint)], link: link, node: "edge")
        let probe = ReadinessRegistry(logger: logger).probe("messaging")
        edge = EdgeLoop(
            eventLoop: time,
            configuration: .forTest(
                rates, sessionsMax: sessionsMax, needsTokens: needsTokens, outboundBytes: outboundBytes),
            links: links,
            metrics: EdgeMetrics(metrics),
            reachability: Reachability(loops: 1, messaging: probe, metrics: metrics), logger: logger,
            sharedRates: sharedRates, wallClock: wallClock)
        messaging = MessagingBehindGlass(
            MessagingShard(
                limits: .init(
                    partitionCount: 1, ageMax: 600_000, catchUpEntriesMax: entriesMax,
                    catchUpBytesMax: bytesMax, idleMax: 600_000, channelsMax: 1_000),
                firstEpoch: 1, metrics: MessagingMetrics(MetricsRegistry()), logger: logger,
                clock: { 1_800_000_000_000 }))
        let bound = NIOLoopBound(messaging, eventLoop: time)
        messagingServer = ServiceLinkServer(.init(service: "messaging"), links: time, logger: logger) { _ in
            bound.value
        }
        messagingServer.listen(on: messages)
        presence.start()
        storage.start()
        edge.start()
        pass(.milliseconds(10))
        renewLease(isKnown: true)
        presence.answerSync()
        pass()
        presence.forget()
    }

    func pass(_ time: TimeAmount = .milliseconds(1)) { self.time.advanceTime(by: time) }

    /// Ends the links: nothing of the loop must be left behind.
    func end() {
        edge.stop()
        presence.stop()
        storage.stop()
        pass(.seconds(10))
    }

    /// Answers the request to renew the lease that the edge has made.
    func renewLease(isKnown: Bool, timeToLive: Duration = .seconds(15)) {
        presence.answer(PresenceMethod.lease.number, LeaseResponse(timeToLive: timeToLive, isKnown: isKnown))
        pass()
    }

    /// A client that is logged in.
    func client(
        _ user: String, app: String = "app", instance: UInt64 = 0, heartbeat: UInt32 = 1_800,
        presenceTimeout: UInt32 = 0
    ) -> EdgeClient {
        let client = EdgeClient(self)
        client.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
        client.send(
            2,
            .login(
                .with {
                    $0.appID = app
                    $0.userID = user
                    $0.instance = instance
                    $0.heartbeatIntervalS = heartbeat
                    $0.presenceTimeoutS = presenceTimeout
                }))
        pass()
        #expect(client.take().count { if case .loggedIn = $0.body { true } else { false } } == 1)
        return client
    }

    func key(_ channel: String) -> ChannelKey {
        ChannelKey(appID: "app", type: .message, name: channel)
    }
}

/// The client's end of a connection.
final class EdgeClient {
    private let channel: EmbeddedChannel
    private let handler: ConnectionHandler
    private let fixture: EdgeFixture
    private var bytes = ByteBuffer()
    private let socket = SlowSocket()

    init(_ fixture: EdgeFixture) {
        self.fixture = fixture
        handler = ConnectionHandler(loop: fixture.edge)
        channel = EmbeddedChannel(handlers: [socket, handler], loop: fixture.time)
        // An embedded channel is active once it is connected, to wherever.
        if let somewhere = try? SocketAddress(ipAddress: "192.0.2.1", port: 1) {
            channel.connect(to: somewhere, promise: nil)
        }
    }

    /// Sends a request, and time passes.
    func send(_ id: UInt64, _ body: Rtm_Client_ClientFrame.OneOf_Body?) {
        let frame = Rtm_Client_ClientFrame.with {
            $0.requestID = id
            $0.body = body
        }
        guard let body: [UInt8] = try? frame.serializedBytes() else { return }
        send(frame: body)
    }

    /// Sends whatever stands for a frame, behind its length.
    func send(frame: [UInt8]) { send(bytes: Self.framed(frame)) }

    private static func framed(_ frame: [UInt8]) -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(UInt32(frame.count))
        bytes.writeBytes(frame)
        return bytes
    }

    func send(bytes: ByteBuffer) {
        arrive(bytes)
        fixture.pass()
    }

    /// The edge reads these bytes, and time stands still.
    func arrive(_ bytes: ByteBuffer) {
        channel.pipeline.syncOperations.fireChannelRead(NIOAny(bytes))
        channel.pipeline.syncOperations.fireChannelReadComplete()
    }

    /// What has come since the last time.
    func take() -> [Rtm_Client_ServerFrame] {
        while var chunk = try? channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&chunk) }
        var frames: [Rtm_Client_ServerFrame] = []
        while let length = bytes.readInteger(as: UInt32.self),
            let frame = bytes.readBytes(length: Int(length)),
            let decoded = try? Rtm_Client_ServerFrame(serializedBytes: frame)
        {
            frames.append(decoded)
        }
        return frames
    }

    /// The bodies alone, for who asks for one thing at a time.
    func bodies() -> [Rtm_Client_ServerFrame.OneOf_Body] { take().compactMap(\.body) }

    var isOpen: Bool { channel.isActive }

    /// While it doesn't, what is written to its socket stays there.
    var isReading: Bool {
        get { socket.isOpen }
        set {
            socket.isOpen = newValue
            fixture.pass()
        }
    }

    /// Is called with each write to its socket.
    var isWrittenTo: () -> Void {
        get { socket.isWrittenTo }
        set { socket.isWrittenTo = newValue }
    }

    /// The next write to its socket fails, and the socket is gone.
    func failNextWrite() { socket.fails = true }

    /// How many bytes the edge has for it that it has not read.
    var waitingBytes: Int { handler.waitingBytes }

    /// How much memory the edge holds of a half frame of the client.
    var keptBytes: Int { handler.reader.inbound.keptBytes }

    /// How often the edge has read its socket.
    var reads: Int { socket.reads }

    /// As NIO does before each read: asks the edge for it.
    func offerRead() {
        channel.read()
        fixture.pass()
    }

    /// Its socket is gone, without a word.
    func vanish() {
        channel.close(promise: nil)
        fixture.pass()
    }

    func subscribe(_ id: UInt64, _ channel: String, _ features: SubscriptionFeatures = [.message, .presence])
    {
        send(
            id,
            .subscribe(
                .with {
                    $0.channel = channel
                    $0.features = features.rawValue
                }))
    }

    func publish(_ id: UInt64, to channel: String, bytes: Int) {
        send(id, .publish(Self.message(to: channel, bytes: bytes)))
    }

    /// The edge reads a publish, and time stands still.
    func publishAtOnce(_ id: UInt64, to channel: String) throws {
        let frame = Rtm_Client_ClientFrame.with {
            $0.requestID = id
            $0.body = .publish(Self.message(to: channel, bytes: 1))
        }
        arrive(Self.framed(try frame.serializedBytes()))
    }

    private static func message(to channel: String, bytes: Int) -> Rtm_Client_Publish {
        .with {
            ($0.channelType, $0.channel) = (.message, channel)
            $0.payload = Data(repeating: 1, count: bytes)
        }
    }

    func acquire(_ id: UInt64, _ lock: String, in channel: String = "lobby") {
        send(
            id,
            .acquireLock(
                .with { ($0.channelType, $0.channel, $0.name, $0.retry) = (.message, channel, lock, true) }))
    }

    func release(_ id: UInt64, _ lock: String, in channel: String = "lobby") {
        send(
            id, .releaseLock(.with { ($0.channelType, $0.channel, $0.name) = (.message, channel, lock) }))
    }
}

/// A socket whose other end may stop reading.
private final class SlowSocket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private(set) var reads = 0
    var fails = false
    var isWrittenTo: () -> Void = {}
    private var held: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    var isOpen = true {
        didSet {
            guard isOpen, let context else { return }
            let due = held
            held = []
            for (data, promise) in due { context.write(data, promise: promise) }
            context.flush()
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func read(context: ChannelHandlerContext) {
        reads += 1
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
        held = []
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !fails else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return context.close(promise: nil)
        }
        isWrittenTo()
        if isOpen { context.write(data, promise: promise) } else { held.append((data, promise)) }
    }
}

extension EdgeConfiguration {
    fileprivate static func forTest(
        _ rates: ApplicationRates, sessionsMax: Int, needsTokens: Bool, outboundBytes: Int
    ) -> EdgeConfiguration {
        let app = Application(
            id: needsTokens ? SampleApp.id : "app",
            tokens: needsTokens ? AppTokens(SampleApp.verifier, nil) : nil, subscriptionsMax: 50,
            rates: rates, sessionsMax: sessionsMax)
        let other = Application(id: "other", subscriptionsMax: 50, rates: rates)
        return EdgeConfiguration(
            applications: [app, other],
            limits: EdgeLimits(
                connectionsMax: 1_000, connectionsPerAddressMax: 1_000, frameBytesMax: 64 * 1024,
                outboundBytesMax: 1024 * 1024, outboundLoopBytesMax: outboundBytes,
                handshakeTimeout: .seconds(10)),
            serverName: "test")
    }
}
