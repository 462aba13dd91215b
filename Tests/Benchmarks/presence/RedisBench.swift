import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMPresenceServer
import RTMRedis

/// Measures joins over a redis-server, its round trips and its scripts included.
enum RedisBench {
    static func run(socket: String) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let store = try await loop.submit {
            let store = RedisPresenceStore(
                RedisConfiguration(.server(.unixSocket(socket))),
                prefix: "bench:\(UInt32.random(in: 0...UInt32.max)):",
                rules: PresenceBench.rules, on: loop, probe: nil,
                logger: Logger(label: "bench", factory: { _ in SwiftLogNoOpLogHandler() }),
                clock: WallClock.milliseconds)
            store.start()
            return NIOLoopBound(store, eventLoop: loop)
        }.get()
        while try await !loop.submit({ store.value.isReady }).get() { await Task.yield() }
        for size in [1_000, 10_000] { try await joins(size, store, loop) }
        try await loop.submit { store.value.shutdown() }.get()
        try await group.shutdownGracefully()
    }

    /// Joins 64 users at a time, and reports what each of the last 1,000 costs and sends.
    private static func joins(
        _ size: Int, _ store: NIOLoopBound<RedisPresenceStore>, _ loop: any EventLoop
    ) async throws {
        let channel = PresenceBench.room(size)
        try await enter(0..<(size - 1_000), channel, store, loop)
        let before = try await loop.submit { store.value.commandsSent }.get()
        let start = ContinuousClock.now
        try await enter((size - 1_000)..<size, channel, store, loop)
        let elapsed = (ContinuousClock.now - start) / .microseconds(1)
        let after = try await loop.submit { store.value.commandsSent }.get()
        PresenceBench.report("join of user \(size) in one channel, 64 at a time", elapsed / 1_000, "µs")
        print("  commands to Redis per join: \(Double(after - before) / 1_000)")
    }

    private static func enter(
        _ numbers: Range<Int>, _ channel: ChannelKey, _ store: NIOLoopBound<RedisPresenceStore>,
        _ loop: any EventLoop
    ) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 64) {
            let batch = start..<min(start + 64, numbers.upperBound)
            let all = try await loop.submit {
                batch.map { number in
                    let promise = loop.makePromise(of: Entered.self)
                    store.value.enter(PresenceBench.entry(number), channel, over: .unknown) { outcome in
                        promise.completeWith(outcome.mapError { $0 as any Error })
                    }
                    return promise.futureResult
                }
            }.get()
            for future in all { _ = try await future.get() }
        }
    }
}
