import Logging
import NIOCore
import NIOPosix
import RTMMessagingServer
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMStorageServer
import RTMWire

/// Storage and messaging on one event loop, as in a standalone system, and a caller on another one, as an
/// edge is.
final class BenchSystem: Sendable {
    private let loop: any EventLoop
    private let caller: NIOLoopBound<BenchCaller>
    private let messaging: InProcessEndpoint

    private init(loop: any EventLoop, caller: NIOLoopBound<BenchCaller>, messaging: InProcessEndpoint) {
        self.loop = loop
        self.caller = caller
        self.messaging = messaging
    }

    static func with<Result>(
        _ directory: String, _ arguments: [String], _ body: (BenchSystem) async throws -> Result
    ) async throws -> Result {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let callers = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let logger = Logger(label: "bench", factory: { _ in SwiftLogNoOpLogHandler() })
        let storage = InProcessEndpoint(name: "storage")
        let messaging = InProcessEndpoint(name: "messaging")
        let data = ConfigurationKey<String>.string("bench.data", default: directory, "The directory.")
        let definitions = [
            MessagingDefinition.inProcess(messaging),
            ServiceDefinition(name: "bench", summary: "", keys: [data.declaration]) { _ in
                Assembly([DataDirectory(path: directory)])
            },
            StorageDefinition.inProcess(storage, messaging: messaging, data: data),
        ]
        let schema = ConfigurationSchema(definitions.flatMap(\.keys), section: "bench")
        let configuration = try ConfigurationLoader(schema: schema, readFile: { _ in "" })
            .load(arguments: arguments, environment: [:])
        let metrics = MetricsRegistry()
        let readiness = ReadinessRegistry(logger: logger)
        var services: [any Service] = []
        for definition in definitions {
            let context = ServiceContext(
                service: definition.name, configuration: configuration, logger: logger, metrics: metrics,
                readiness: readiness, eventLoopGroup: group)
            for service in try await definition.assemble(context).services {
                try await service.start()
                services.append(service)
            }
        }
        let loop = callers.next()
        let caller = try await BenchCaller.connected(to: storage, on: loop, logger: logger)
        let result = try await body(BenchSystem(loop: loop, caller: caller, messaging: messaging))
        try await loop.submit { caller.value.close() }.get()
        for service in services.reversed() { await service.shutdown(deadline: .now + .seconds(30)) }
        try await group.shutdownGracefully()
        try await callers.shutdownGracefully()
        return result
    }

    /// One call, to its answer.
    func call(_ call: some BenchCall & Sendable) async throws {
        _ = try await run(count: 1, callers: 1) { _ in call }
    }

    /// Answers per second, of callers that call again as soon as they are answered.
    func rate<Call: BenchCall & Sendable>(
        _ duration: Duration, _ callers: Int, _ make: @escaping @Sendable (Int) -> Call
    ) async throws -> Double {
        let start = ContinuousClock.now
        let deadline = start + duration
        let caller = self.caller
        let count = try await loop.flatSubmit {
            caller.value.run(callers, until: { _ in ContinuousClock.now >= deadline }, make)
        }.get()
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private func run<Call: BenchCall & Sendable>(
        count: Int, callers: Int, _ make: @escaping @Sendable (Int) -> Call
    ) async throws -> Int {
        let caller = self.caller
        return try await loop.flatSubmit { caller.value.run(callers, until: { $0 >= count }, make) }.get()
    }

    // MARK: Latency

    /// Nanoseconds, sorted: from the acknowledgement to the subscriber, and from the call to it.
    func latency(_ duration: Duration, _ callers: Int) async throws -> ([Int64], [Int64]) {
        let loop = self.loop
        let caller = self.caller
        let log = try await BenchLog.attached(
            to: (0..<callers).map { "c\($0)" }, at: messaging, on: loop,
            logger: Logger(label: "bench", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await loop.submit {
            caller.value.called = { channel in log.value.called(channel) }
            caller.value.acknowledged = { channel in log.value.acknowledged(channel) }
        }.get()
        _ = try await rate(duration, callers) { CompareAndSet(channel: "c\($0)") }
        return try await loop.submit {
            caller.value.called = nil
            caller.value.acknowledged = nil
            log.value.close()
            return (log.value.fromAcknowledgement.sorted(), log.value.fromCall.sorted())
        }.get()
    }

    /// Events per second of one channel that all callers write to, up to the last one's arrival.
    func hotChannel(_ duration: Duration, _ callers: Int) async throws -> Double {
        let log = try await BenchLog.attached(
            to: ["hot"], at: messaging, on: loop,
            logger: Logger(label: "bench", factory: { _ in SwiftLogNoOpLogHandler() }))
        let start = ContinuousClock.now
        let deadline = start + duration
        let caller = self.caller
        let count = try await loop.flatSubmit {
            caller.value.run(callers, until: { _ in ContinuousClock.now >= deadline }) { _ in
                SetMetadata(channel: "hot")
            }
        }.get()
        try await loop.flatSubmit { log.value.untilDelivered(count) }.get()
        let rate = Double(count) / ((ContinuousClock.now - start) / .seconds(1))
        try await loop.submit { log.value.close() }.get()
        return rate
    }

    // MARK: History

    private static let channels = 10_000

    /// Appends per second.
    func append(_ count: Int, from first: Int, callers: Int) async throws -> Double {
        let start = ContinuousClock.now
        let caller = self.caller
        try await loop.flatSubmit {
            caller.value.append(count, from: first, channels: Self.channels, callers)
        }
        .get()
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Nanoseconds of pages asked for one after the other, sorted.
    func pageTimes(count: Int, stored: Int) async throws -> [Int64] {
        var times: [Int64] = []
        for number in 0..<count {
            let channel = "h\(number &* 7_919 % min(Self.channels, stored))"
            let start = ContinuousClock.now
            try await call(ReadHistory(channel: channel, start: UInt64(stored / 2) + 1_000))
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            times.append(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        }
        return times.sorted()
    }
}
