import Logging
import NIOCore
import NIOPosix
import RTMMessagingClient
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMMessagingServer
@testable import RTMPresenceServer

/// A presence node and a messaging node with real links between them, and an edge's links to both.
final class ServiceFixture: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop
    private let messagingEndpoint = InProcessEndpoint(name: "messaging")
    private let presenceEndpoint = InProcessEndpoint(name: "presence")
    private let node: NIOLoopBound<PresenceNode>
    private let presence: ServiceLinkServer
    let toPresence: RawCaller
    let toMessaging: RawCaller
    private let logger: Logger

    static func with(
        _ rules: PresenceRules = StoreHarness.rules, _ snapshots: SnapshotLimits = SnapshotLimits(),
        messagingListens: Bool = true, _ body: (ServiceFixture) async throws -> Void
    ) async throws {
        let fixture = try await ServiceFixture(rules, snapshots)
        let failure: (any Error)?
        do {
            if messagingListens { try await fixture.startMessaging() }
            try await fixture.toPresence.start()
            try await body(fixture)
            failure = nil
        } catch {
            failure = error
        }
        try await fixture.close()
        if let failure { throw failure }
    }

    private init(_ rules: PresenceRules, _ snapshots: SnapshotLimits) async throws {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        self.loop = loop
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        self.logger = logger
        let settings = PresenceNode.Settings(
            messaging: [.inProcess(messagingEndpoint)], link: ServiceLinkConfiguration(),
            states: rules.states,
            leaseTimeToLive: .seconds(15), snapshots: snapshots)
        let node = try await loop.submit {
            let store = InMemoryPresenceStore(rules, source: .random(in: 1...UInt64.max)) {
                NIODeadline.now().uptimeNanoseconds / 1_000_000
            }
            let node = PresenceNode(
                settings, store: store, on: loop, metrics: PresenceMetrics(MetricsRegistry()),
                messagingProbe: nil, logger: logger)
            node.start()
            let bound = NIOLoopBound(node, eventLoop: loop)
            loop.scheduleRepeatedTask(initialDelay: .milliseconds(5), delay: .milliseconds(5)) { _ in
                bound.value.sweep()
            }
            return bound
        }.get()
        self.node = node
        presence = ServiceLinkServer(
            ServiceLinkServerConfiguration(service: "presence"), links: loop, logger: logger
        ) { _ in node.value }
        presence.listen(on: presenceEndpoint)
        toPresence = RawCaller("presence", presenceEndpoint, loop, logger)
        toMessaging = RawCaller("messaging", messagingEndpoint, loop, logger)
    }

    /// Starts a messaging node with empty logs. When this returns, presence has reached it.
    func startMessaging() async throws {
        let logger = self.logger
        let loop = self.loop
        let messaging = try await loop.submit {
            NIOLoopBound(
                MessagingShard(
                    limits: .init(
                        partitionCount: 1, ageMax: 120_000, catchUpEntriesMax: 1_000,
                        catchUpBytesMax: 1 << 20, idleMax: 120_000, channelsMax: 1_000),
                    firstEpoch: 42, metrics: MessagingMetrics(MetricsRegistry()), logger: logger,
                    clock: WallClock.milliseconds),
                eventLoop: loop)
        }.get()
        let server = ServiceLinkServer(
            ServiceLinkServerConfiguration(service: "messaging"), links: loop, logger: logger
        ) { _ in messaging.value }
        server.listen(on: messagingEndpoint)
        try await toMessaging.start()
        let node = self.node
        try await eventually("presence reaches messaging") {
            try await loop.submit { node.value.events.messaging.isUp }.get()
        }
    }

    /// A caller with a newer link to presence than `toPresence` has.
    func withNewerLink(_ body: (RawCaller) async throws -> Void) async throws {
        let caller = RawCaller("presence", presenceEndpoint, loop, logger)
        try await caller.start()
        let failure: (any Error)?
        do {
            try await body(caller)
            failure = nil
        } catch {
            failure = error
        }
        try await caller.stop()
        if let failure { throw failure }
    }

    private func close() async throws {
        let node = self.node
        try await toPresence.stop()
        try await toMessaging.stop()
        try await loop.submit { node.value.shutdown() }.get()
        try await group.shutdownGracefully()
    }
}

extension ServiceFixture {
    func join(
        _ user: String, session: UInt64, snapshot: Bool = true, timeout: Duration = .seconds(5),
        presenceTimeout: Duration = .seconds(5)
    ) async throws -> (position: StreamPosition, frames: [Rtm_Client_ServerFrame], isTooBig: Bool) {
        let answer = try await toPresence.request(
            PresenceMethod.join.number,
            JoinRequest(
                channel: .room, caller: .of(user, session: session, instance: session), lease: 1,
                quiet: false, presenceTimeout: presenceTimeout, wantsSnapshot: snapshot, ownership: 1),
            timeout: timeout)
        let response = try Rtm_Service_JoinResponse(serializedBytes: answer)
        return (response.position.model, try Self.frames(Array(response.frames)), response.tooBig)
    }

    /// A part of a big snapshot, and the number with which the next part is asked for.
    func roster(
        _ snapshot: UInt64 = 0, timeout: Duration = .seconds(30)
    ) async throws -> (frames: [Rtm_Client_PresenceSnapshot], next: UInt64) {
        let answer = try await toPresence.request(
            PresenceMethod.roster.number, RosterRequest(channel: .room, snapshot: snapshot), timeout: timeout)
        let response = try Rtm_Service_RosterResponse(serializedBytes: answer)
        return (try Self.frames(Array(response.frames)).map(\.presenceSnapshot), response.snapshot)
    }

    /// Reports members as an edge does after a loss, each with the session 1.
    func sync(
        _ users: [String], isFirst: Bool = true, isLast: Bool = true, presenceTimeout: Duration = .seconds(5)
    ) async throws {
        let memberships = users.map {
            Membership(
                channel: .room, caller: .of($0, session: 1, instance: 1), quiet: false,
                presenceTimeout: presenceTimeout, ownership: 1)
        }
        _ = try await toPresence.request(
            PresenceMethod.sync.number,
            SyncRequest(lease: 1, memberships: memberships, isFirst: isFirst, isLast: isLast))
    }

    /// Appends an event of another source.
    func appendElsewhere(_ sequence: UInt64) async throws {
        _ = try await toMessaging.request(
            MessagingMethod.append.number, RawAppend(event: [0x3A, 2, 0x08, 3], sequence: sequence))
    }

    /// Sends a client's call and returns the answer.
    func call(
        _ user: String, session: UInt64, _ body: Rtm_Client_ClientFrame.OneOf_Body
    ) async throws -> Rtm_Client_ServerFrame {
        let response = try await response(user, session: session, body)
        return try Rtm_Client_ServerFrame(serializedBytes: response.response)
    }

    /// Sends a client's call and returns what the edge gets.
    func response(
        _ user: String, session: UInt64, _ body: Rtm_Client_ClientFrame.OneOf_Body
    ) async throws -> Rtm_Service_CallResponse {
        let frame: [UInt8] = try Rtm_Client_ClientFrame.with { $0.body = body }.serializedBytes()
        let answer = try await toPresence.request(
            PresenceMethod.call.number,
            RawCall(caller: .of(user, session: session, instance: session), request: frame))
        return try Rtm_Service_CallResponse(serializedBytes: answer)
    }

    /// The channel's log after a position.
    func log(after offset: UInt64 = 0) async throws -> [Rtm_Client_Publication] {
        let head = try await toMessaging.request(
            MessagingMethod.attach.number, AttachRequest(channel: .room, interest: 1, after: nil))
        let epoch = try Rtm_Service_AttachResponse(serializedBytes: head).position.epoch
        let answer = try await toMessaging.request(
            MessagingMethod.read.number,
            ReadRequest(
                channel: .room, after: StreamPosition(epoch: epoch, offset: offset), exceptPublisher: "",
                features: .all))
        let response = try Rtm_Service_ReadResponse(serializedBytes: answer)
        return try Self.frames(Array(response.frames)).map(\.publication)
    }

    private static func frames(_ bytes: [UInt8]) throws -> [Rtm_Client_ServerFrame] {
        var frames: [Rtm_Client_ServerFrame] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            frames.append(
                try Rtm_Client_ServerFrame(serializedBytes: Array(rest.dropFirst(4).prefix(length))))
            rest = rest.dropFirst(4 + length)
        }
        return frames
    }
}

extension Rtm_Client_StreamPosition {
    var model: StreamPosition { StreamPosition(epoch: epoch, offset: offset) }
}

/// An `AppendRequest` whose bytes the test owns.
struct RawAppend: WireMessage, Sendable {
    let event: [UInt8]
    let sequence: UInt64

    func write(to sink: inout some FieldSink) {
        sink.field(Schema.AppendRequest.channel, ChannelKey.room)
        sink.field(Schema.AppendRequest.source, 9)
        event.withUnsafeBytes { event in
            let appended = AppendedEvent(
                publisher: .empty, feature: .presence, event: WireText(event), sequence: sequence)
            sink.field(Schema.AppendRequest.events, [appended])
        }
    }
}

/// A `CallRequest` whose bytes the test owns.
struct RawCall: WireMessage, Sendable {
    let caller: Caller
    let request: [UInt8]

    func write(to sink: inout some FieldSink) {
        sink.field(Schema.CallRequest.caller, caller)
        request.withUnsafeBytes { sink.field(Schema.CallRequest.request, WireText($0)) }
    }
}

/// An edge's end of a link: requests become calls that can be awaited.
final class RawCaller: Sendable {
    private final class Link: ServiceLinkClientDelegate {
        let client: ServiceLinkClient
        let up: EventLoopPromise<Void>
        var downCount = 0
        var promises = RequestContexts<EventLoopPromise<[UInt8]>>()

        init(_ client: ServiceLinkClient, up: EventLoopPromise<Void>) {
            self.client = client
            self.up = up
        }

        func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) { up.succeed() }
        func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) { downCount += 1 }
        func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {}

        func response(
            _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
        ) {
            promises.remove(context).completeWith(
                outcome.result { Array($0) }.mapError { failure -> any Error in
                    if case .refused(let error) = failure { error } else { failure }
                })
        }
    }

    private let loop: any EventLoop
    private let link: EventLoopFuture<NIOLoopBound<Link>>
    private let up: EventLoopPromise<Void>

    init(_ service: String, _ endpoint: InProcessEndpoint, _ loop: any EventLoop, _ logger: Logger) {
        self.loop = loop
        let up = loop.makePromise(of: Void.self)
        self.up = up
        link = loop.submit {
            var configuration = ServiceLinkClientConfiguration(service: service, node: "edge")
            configuration.backoff = Backoff(first: .milliseconds(5), longest: .milliseconds(20))
            let client = ServiceLinkClient(
                configuration, to: .inProcess(endpoint), endOfTurn: EndOfTurn.shared(on: loop),
                logger: logger)
            return NIOLoopBound(Link(client, up: up), eventLoop: loop)
        }
    }

    /// How many links this caller has lost.
    var downCount: Int {
        get async throws {
            let link = try await self.link.get()
            return try await loop.submit { link.value.downCount }.get()
        }
    }

    func start() async throws {
        let link = try await self.link.get()
        try await loop.submit { link.value.client.start(delegate: link.value) }.get()
        try await up.futureResult.get()
    }

    func stop() async throws {
        let link = try await self.link.get()
        try await loop.submit { link.value.client.shutdown() }.get()
        up.fail(CancellationError())
    }

    /// Sends the same request many times in one turn, and returns the lengths of the answers.
    func lengths(of count: Int, _ method: UInt32, _ body: some WireMessage & Sendable) async throws -> [Int] {
        let link = try await self.link.get()
        let loop = self.loop
        return try await loop.flatSubmit {
            let answers = (0..<count).map { _ in
                let promise = loop.makePromise(of: [UInt8].self)
                Self.send(method, body, .seconds(30), promise, over: link.value)
                return promise.futureResult.map(\.count)
            }
            return EventLoopFuture.whenAllSucceed(answers, on: loop)
        }.get()
    }

    func request(
        _ method: UInt32, _ body: some WireMessage & Sendable, timeout: Duration = .seconds(5)
    ) async throws -> [UInt8] {
        let link = try await self.link.get()
        let promise = loop.makePromise(of: [UInt8].self)
        loop.execute { Self.send(method, body, timeout, promise, over: link.value) }
        return try await promise.futureResult.get()
    }

    private static func send(
        _ method: UInt32, _ body: some WireMessage, _ timeout: Duration,
        _ promise: EventLoopPromise<[UInt8]>, over link: Link
    ) {
        let context = link.promises.insert(promise)
        do {
            try link.client.request(method, body, timeout: timeout, context: context)
        } catch {
            link.promises.remove(context).fail(error)
        }
    }

    func push(_ method: UInt32, _ body: some WireMessage & Sendable) async throws {
        let link = try await self.link.get()
        _ = try await loop.submit { link.value.client.push(method, body) }.get()
    }
}
