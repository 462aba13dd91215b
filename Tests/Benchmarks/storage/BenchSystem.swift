import Logging
import NIOCore
import NIOPosix
import RTMMessagingServer
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMStorageServer
import RTMWire

#if PostgreSQL
    import RTMStoragePostgreSQL
#endif

/// Storage and messaging run on one event loop, as in a standalone system. The caller runs on another one,
/// as an edge does.
final class BenchSystem: Sendable {
    #if PostgreSQL
        private static let engine: (any DatabaseEngine)? = PostgresDatabase()
    #else
        private static let engine: (any DatabaseEngine)? = nil
    #endif

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
            ServiceDefinition(name: "bench", summary: "", keys: [data.declaration]) {
                Assembly([DataDirectory(data, $0.configuration)])
            },
            StorageDefinition.inProcess(storage, messaging: messaging, data: data, engine: engine),
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
        let caller = try await BenchCaller.connected(to: [.inProcess(storage)], on: loop, logger: logger)
        let result = try await body(BenchSystem(loop: loop, caller: caller, messaging: messaging))
        try await loop.submit { caller.value.close() }.get()
        for service in services.reversed() { await service.shutdown(deadline: .now + .seconds(30)) }
        try await group.shutdownGracefully()
        try await callers.shutdownGracefully()
        return result
    }

    /// Calls storage nodes in other processes.
    static func with<Result>(
        nodes: [ServiceLinkAddress], _ body: (BenchSystem) async throws -> Result
    ) async throws -> Result {
        let callers = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let logger = Logger(label: "bench", factory: { _ in SwiftLogNoOpLogHandler() })
        let loop = callers.next()
        let caller = try await BenchCaller.connected(to: nodes, on: loop, logger: logger)
        let result = try await body(
            BenchSystem(loop: loop, caller: caller, messaging: InProcessEndpoint(name: "messaging")))
        try await loop.submit { caller.value.close() }.get()
        try await callers.shutdownGracefully()
        return result
    }

    /// Makes one call and waits for its answer.
    func call(_ call: some BenchCall & Sendable) async throws {
        _ = try await run(count: 1, callers: 1) { _ in call }
    }

    /// Returns the answers per second of callers that call again as soon as they are answered.
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

    /// Returns two sorted lists of nanoseconds: from the acknowledgement to the subscriber, and from the
    /// call to the subscriber.
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

    /// Returns the events per second of one channel that all callers write to. The time ends when the last
    /// event arrives.
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

    /// Returns the appends per second.
    func append(_ part: HistoryPart, callers: Int) async throws -> Double {
        let start = ContinuousClock.now
        let caller = self.caller
        try await loop.flatSubmit { caller.value.append(part, callers) }.get()
        return Double(part.numbers.count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Asks for pages from all over the store, one after the other, and returns their nanoseconds, sorted.
    func pageTimes(count: Int, of parts: [HistoryPart]) async throws -> [Int64] {
        let stored = parts.last?.numbers.upperBound ?? 0
        var times: [Int64] = []
        for number in 0..<count {
            let wanted = number &* 7_919_009 % stored
            guard let part = parts.first(where: { $0.numbers.contains(wanted) }) else { continue }
            let page = ReadHistory(channel: part.channel(of: wanted), start: part.middle)
            let start = ContinuousClock.now
            try await call(page)
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            times.append(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        }
        return times.sorted()
    }
}

/// Messages by their numbers, dealt out to channels of a thousand each. Every page is therefore a full one,
/// however large the store is.
struct HistoryPart {
    let numbers: Range<Int>
    /// The time of the first message, and what lies between two, in milliseconds.
    var start: UInt64 = 1
    var step: UInt64 = 1

    func channel(of number: Int) -> String {
        "h\(numbers.lowerBound / 1_000 + number % (numbers.count / 1_000))"
    }

    func time(of number: Int) -> UInt64 { start + UInt64(number - numbers.lowerBound) * step }

    /// The position has some hundred messages of its channel before it, in every channel.
    var middle: UInt64 { time(of: (numbers.lowerBound + numbers.upperBound) / 2) }
}
