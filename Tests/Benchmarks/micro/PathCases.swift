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

/// The whole path of a message through an edge and a messaging node of one process, from the bytes of the
/// publisher's socket to those of its acknowledgement and of the subscriber. Only the kernel is missing.
let pathCases = [
    MicroCase(name: "path/publish-to-1", batch: 2_000, outcome: 2) { try MessagePath(window: 1) },
    MicroCase(name: "path/publish-8-to-1", batch: 500, outcome: 2) { try MessagePath(window: 8) },
]

/// One turn for each publish, or for each window of them.
private struct MessagePath: Step {
    private let loop = EmbeddedEventLoop()
    private let edge: EmbeddedEdge
    private let shard: MessagingShard
    private let server: ServiceLinkServer
    private let publisher: EmbeddedChannel
    private let subscriber: EmbeddedChannel
    private let publishes: ByteBuffer

    init(window: Int) throws {
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
        edge = EmbeddedEdge(
            configuration, named: "edge",
            EmbeddedEdge.Services(
                messaging: [.inProcess(endpoint)],
                presence: [.inProcess(InProcessEndpoint(name: "presence"))],
                storage: .inProcess(InProcessEndpoint(name: "storage")), link: ServiceLinkConfiguration()),
            in: EmbeddedEdge.Environment(
                eventLoop: loop, wallClock: { Sample.timestamp }, random: SystemRandomNumberGenerator(),
                logger: logger))
        edge.start()
        loop.advanceTime(by: .milliseconds(10))
        publisher = try Self.client("alice", of: edge, on: loop)
        subscriber = try Self.client("bob", of: edge, on: loop)
        let subscribe = Rtm_Client_ClientFrame.with {
            $0.requestID = 3
            $0.subscribe.channel = Sample.channel
            $0.subscribe.features = UInt32(SubscriptionFeatures.message.rawValue)
        }
        try subscriber.writeInbound(Self.frame(subscribe))
        loop.run()
        var publishes = ByteBuffer()
        for number in 0..<window {
            let publish = Rtm_Client_ClientFrame.with {
                $0.requestID = 1_000 + UInt64(number)
                $0.publish.channelType = .message
                $0.publish.channel = Sample.channel
                $0.publish.payload = .init(Sample.payload)
            }
            try publishes.writeImmutableBuffer(Self.frame(publish))
        }
        self.publishes = publishes
        guard try subscriber.readOutbound(as: ByteBuffer.self) != nil else {
            throw BenchmarkError("the subscribe wasn't answered")
        }
    }

    /// - Returns: how many writes to sockets there were: one to the publisher, and one to the subscriber.
    func perform(_ count: Int) throws -> Int {
        var writes = 0
        for _ in 0..<count {
            try publisher.writeInbound(publishes)
            loop.run()
            while try publisher.readOutbound(as: ByteBuffer.self) != nil { writes += 1 }
            while try subscriber.readOutbound(as: ByteBuffer.self) != nil { writes += 1 }
        }
        return writes
    }

    /// A client that is logged in.
    private static func client(
        _ userID: String, of edge: EmbeddedEdge, on loop: EmbeddedEventLoop
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: edge.makeConnection(), loop: loop)
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
        let hello = Rtm_Client_ClientFrame.with {
            $0.requestID = 1
            ($0.hello.versionMin, $0.hello.versionMax) = (1, 1)
        }
        let login = Rtm_Client_ClientFrame.with {
            $0.requestID = 2
            ($0.login.appID, $0.login.userID) = (Sample.appID, userID)
            $0.login.heartbeatIntervalS = 1_800
        }
        try channel.writeInbound(frame(hello))
        try channel.writeInbound(frame(login))
        loop.run()
        while try channel.readOutbound(as: ByteBuffer.self) != nil {}
        return channel
    }

    private static func frame(_ frame: Rtm_Client_ClientFrame) throws -> ByteBuffer {
        let bytes: [UInt8] = try frame.serializedBytes()
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(bytes.count))
        buffer.writeBytes(bytes)
        return buffer
    }

    /// Without limits of rates, which would end a case early.
    private static func configuration() throws -> Configuration {
        let definitions = [MessagingDefinition.service, EdgeDefinition.service]
        let schema = ConfigurationSchema(definitions.flatMap(\.keys), section: "bench")
        var variables = [CommonKeys.apps.declaration.variable: Sample.appID]
        for key in schema.keys where key.name.hasPrefix("edge.rates.") { variables[key.variable] = "0" }
        return try ConfigurationLoader(schema: schema) { _ in "" }
            .load(arguments: [], environment: variables)
    }
}
