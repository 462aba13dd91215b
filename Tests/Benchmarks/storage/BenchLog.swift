import Logging
import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// A subscriber at messaging that measures how late events come. It is confined to one event loop.
final class BenchLog: ServiceLinkClientDelegate {
    private let link: ServiceLinkClient
    private let channels: [String]
    private let attached: EventLoopPromise<Void>
    private var open = 0
    /// When the calls of each channel were made and acknowledged, the oldest first.
    private var calls: [[ContinuousClock.Instant]]
    private var acknowledgements: [[ContinuousClock.Instant]]
    private var deliveries: [[ContinuousClock.Instant]]
    private var delivered = 0
    private var awaited: (count: Int, promise: EventLoopPromise<Void>)?
    private(set) var fromCall: [Int64] = []
    private(set) var fromAcknowledgement: [Int64] = []

    private init(_ link: ServiceLinkClient, _ channels: [String], _ attached: EventLoopPromise<Void>) {
        self.link = link
        self.channels = channels
        self.attached = attached
        calls = Array(repeating: [], count: channels.count)
        acknowledgements = calls
        deliveries = calls
    }

    static func attached(
        to channels: [String], at messaging: InProcessEndpoint, on loop: any EventLoop, logger: Logger
    ) async throws -> NIOLoopBound<BenchLog> {
        let attached = loop.makePromise(of: Void.self)
        let log = try await loop.submit {
            let link = ServiceLinkClient(
                ServiceLinkClientConfiguration(service: "messaging", node: "bench"),
                to: .inProcess(messaging),
                endOfTurn: .shared(on: loop), logger: logger)
            let log = BenchLog(link, channels, attached)
            link.start(delegate: log)
            return NIOLoopBound(log, eventLoop: loop)
        }.get()
        try await attached.futureResult.get()
        return log
    }

    func close() { link.shutdown() }

    /// Call this once.
    func untilDelivered(_ count: Int) -> EventLoopFuture<Void> {
        let promise = attached.futureResult.eventLoop.makePromise(of: Void.self)
        awaited = (count, promise)
        settleAwaited()
        return promise.futureResult
    }

    private func settleAwaited() {
        guard let awaited, delivered >= awaited.count else { return }
        self.awaited = nil
        awaited.promise.succeed(())
    }

    func called(_ channel: Int) { calls[channel].append(.now) }

    func acknowledged(_ channel: Int) {
        acknowledgements[channel].append(.now)
        match(channel)
    }

    /// An event may arrive before the acknowledgement of its call. Its delay then counts as 0.
    private func match(_ channel: Int) {
        while let delivery = deliveries[channel].first, let acknowledgement = acknowledgements[channel].first,
            let call = calls[channel].first
        {
            deliveries[channel].removeFirst()
            acknowledgements[channel].removeFirst()
            calls[channel].removeFirst()
            fromCall.append(Self.nanoseconds(delivery - call))
            fromAcknowledgement.append(max(0, Self.nanoseconds(delivery - acknowledgement)))
        }
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
    }

    func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) {
        open = channels.count
        for (number, channel) in channels.enumerated() {
            let key = ChannelKey(appID: "app", type: .message, name: channel)
            try? link.request(
                MessagingMethod.attach.number,
                AttachRequest(channel: key, interest: UInt64(number), after: nil),
                timeout: .seconds(10), context: number)
        }
    }

    func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {}

    func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        open -= 1
        if open == 0 { attached.succeed(()) }
    }

    func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        guard let delivery = try? DeliveryPush(scanning: body) else { return }
        let channel = Int(delivery.interest)
        delivered += delivery.count
        settleAwaited()
        deliveries[channel].append(.now)
        match(channel)
    }
}
