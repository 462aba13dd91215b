import Foundation
import Logging
import NIOCore
import NIOEmbedded
import RTMEdgeServer
import RTMMessagingServer
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMServiceLink
import SwiftProtobuf

/// The whole path of a message or a login through an edge and a messaging node of one process, from the bytes
/// of a client's socket to those that answer. Only the kernel is missing.
let pathCases = [
    MicroCase(name: "path/publish-to-1", batch: 2_000, outcome: 2) { try MessagePath(window: 1) },
    MicroCase(name: "path/publish-8-to-1", batch: 500, outcome: 2) { try MessagePath(window: 8) },
    MicroCase(name: "path/login", batch: 200, outcome: 1) { try LoginPath(users: 200) },
]

/// One turn for each publish, or for each window of them: to the acknowledgement and the subscriber.
private struct MessagePath: Step {
    private let node: InMemoryNode
    private let publisher: EmbeddedChannel
    private let subscriber: EmbeddedChannel
    private let publishes: ByteBuffer

    init(window: Int) throws {
        node = try InMemoryNode()
        publisher = try node.connection()
        subscriber = try node.connection()
        try node.send(node.login(of: "alice"), to: publisher)
        try node.send(node.login(of: "bob"), to: subscriber)
        _ = try node.writes(to: publisher) + node.writes(to: subscriber)
        try node.send(node.subscribe(to: Sample.channel), to: subscriber)
        var publishes = ByteBuffer()
        for number in 0..<window {
            let publish = Rtm_Client_ClientFrame.with {
                $0.requestID = 1_000 + UInt64(number)
                $0.publish.channelType = .message
                $0.publish.channel = Sample.channel
                $0.publish.payload = .init(Sample.payload)
            }
            try publishes.writeImmutableBuffer(node.frame(publish))
        }
        self.publishes = publishes
        guard try node.writes(to: subscriber) > 0 else {
            throw BenchmarkError("the subscribe wasn't answered")
        }
    }

    /// - Returns: how many writes to sockets there were: one to the publisher, and one to the subscriber.
    func perform(_ count: Int) throws -> Int {
        var writes = 0
        for _ in 0..<count {
            try node.send(publishes, to: publisher)
            writes += try node.writes(to: publisher) + node.writes(to: subscriber)
        }
        return writes
    }
}

/// A user connects, logs in, subscribes to a channel of his own, and goes. Presence can't be reached.
private struct LoginPath: Step {
    private let node: InMemoryNode
    /// What each user sends. It is encoded before, because clients do that.
    private let users: [(login: ByteBuffer, subscribe: ByteBuffer)]

    init(users count: Int) throws {
        let node = try InMemoryNode()
        users = try (0..<count).map {
            try (node.login(of: "user-\($0)"), node.subscribe(to: "channel-\($0)"))
        }
        self.node = node
    }

    /// - Returns: how many subscribes were answered.
    func perform(_ count: Int) throws -> Int {
        var answered = 0
        for number in 0..<count {
            let user = users[number % users.count]
            let connection = try node.connection()
            try node.send(user.login, to: connection)
            _ = try node.writes(to: connection)
            try node.send(user.subscribe, to: connection)
            answered += try min(1, node.writes(to: connection))
            connection.close(promise: nil)
            node.loop.run()
        }
        return answered
    }
}

/// An edge and a messaging node on one loop.
private struct InMemoryNode {
    let loop = EmbeddedEventLoop()
    private let edge: EmbeddedEdge
    private let shard: MessagingShard
    private let server: ServiceLinkServer

    init() throws {
        let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        let configuration = try Self.configuration()
        let endpoint = InProcessEndpoint(name: "messaging")
        let shard = MessagingShard(
            limits: BrokerLimits(configuration), firstEpoch: 1, secret: 1,
            metrics: MessagingMetrics(MetricsRegistry()), logger: logger, clock: { Sample.timestamp })
        self.shard = shard
        let bound = NIOLoopBound(shard, eventLoop: loop)
        server = ServiceLinkServer(.init(service: "messaging"), links: loop, logger: logger) { _ in
            bound.value
        }
        server.listen(on: endpoint)
        edge = try EmbeddedEdge(
            configuration, named: "edge",
            EmbeddedEdge.Services(
                messaging: [.inProcess(endpoint)],
                presence: [.inProcess(InProcessEndpoint(name: "presence"))],
                storage: [.inProcess(InProcessEndpoint(name: "storage"))], link: ServiceLinkConfiguration()),
            in: EmbeddedEdge.Environment(
                eventLoop: loop, wallClock: { Sample.timestamp }, random: SystemRandomNumberGenerator(),
                logger: logger))
        edge.start()
        loop.advanceTime(by: .milliseconds(10))
    }

    func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: edge.makeConnection(), loop: loop)
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
        return channel
    }

    /// A client sends something, and the loop does what comes of it.
    func send(_ frames: ByteBuffer, to client: EmbeddedChannel) throws {
        try client.writeInbound(frames)
        loop.run()
    }

    func login(of userID: String) throws -> ByteBuffer {
        let hello = Rtm_Client_ClientFrame.with {
            $0.requestID = 1
            ($0.hello.versionMin, $0.hello.versionMax) = (1, 1)
        }
        let login = Rtm_Client_ClientFrame.with {
            $0.requestID = 2
            ($0.login.appID, $0.login.userID) = (Sample.appID, userID)
            $0.login.heartbeatIntervalS = 1_800
        }
        var frames = try frame(hello)
        try frames.writeImmutableBuffer(frame(login))
        return frames
    }

    func subscribe(to channel: String) throws -> ByteBuffer {
        let subscribe = Rtm_Client_ClientFrame.with {
            $0.requestID = 3
            $0.subscribe.channel = channel
            $0.subscribe.features = UInt32(SubscriptionFeatures.message.rawValue)
        }
        return try frame(subscribe)
    }

    /// How many writes to the client's socket there were since the last time.
    func writes(to client: EmbeddedChannel) throws -> Int {
        var writes = 0
        while try client.readOutbound(as: ByteBuffer.self) != nil { writes += 1 }
        return writes
    }

    func frame(_ frame: Rtm_Client_ClientFrame) throws -> ByteBuffer {
        let bytes: [UInt8] = try frame.serializedBytes()
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(bytes.count))
        buffer.writeBytes(bytes)
        return buffer
    }

    /// Without limits of rates, which would end a case early.
    private static func configuration() throws -> Configuration {
        let definitions = [MessagingDefinition.service, EdgeDefinition.service(hooks: nil, keys: nil)]
        let schema = ConfigurationSchema(definitions.flatMap(\.keys), section: "bench")
        var variables = [CommonKeys.apps.declaration.variable: Sample.appID]
        for key in schema.keys where key.name == "edge.rates.unlimited" { variables[key.variable] = "true" }
        return try ConfigurationLoader(schema: schema) { _ in "" }
            .load(arguments: [], environment: variables)
    }
}
