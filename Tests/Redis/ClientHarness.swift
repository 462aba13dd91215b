import Logging
import NIOCore
import NIOPosix
import RTMRedis
import RTMServiceLink
import RTMTestSupport
import Synchronization
import Testing

/// A client on an event loop of its own, and what it was told.
final class ClientHarness: Sendable {
    private final class Life: RedisClientDelegate, RedisObserver {
        let client: RedisClient
        let state: Mutex<State>

        init(_ client: RedisClient) {
            self.client = client
            state = Mutex(State())
        }

        func redisIsUp() {
            state.withLock {
                $0.isUp = true
                $0.cause = ""
                $0.ups += 1
            }
        }

        func redisIsDown(_ cause: String) {
            state.withLock {
                $0.isUp = false
                $0.cause = cause
            }
        }

        func redisConnected() { state.withLock { $0.connections += 1 } }
        func redisRedirected(_ kind: RedisRedirection) {
            state.withLock { _ = $0.redirections.insert(kind) }
        }
        func redisHasMasters(_ count: Int) { state.withLock { $0.masters = count } }
        func redisAnswered(after time: TimeAmount) {}
    }

    struct State: Sendable {
        var isUp = false
        var cause = ""
        var ups = 0
        var connections = 0
        var masters = 0
        var redirections: Set<RedisRedirection> = []
    }

    private let loop: any EventLoop
    private let life: NIOLoopBound<Life>

    private init(_ configuration: RedisConfiguration, _ scripts: [RedisScript], on loop: any EventLoop)
        async throws
    {
        self.loop = loop
        life = try await loop.submit {
            let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            let life = Life(RedisClient(configuration, scripts: scripts, on: loop, logger: logger))
            life.client.observer = life
            life.client.start(delegate: life)
            return NIOLoopBound(life, eventLoop: loop)
        }.get()
    }

    static func with(
        _ deployment: RedisConfiguration.Deployment, scripts: [RedisScript] = [],
        configure: (inout RedisConfiguration) throws -> Void = { _ in },
        _ body: (ClientHarness) async throws -> Void
    ) async throws {
        var configuration = RedisConfiguration(deployment)
        configuration.backoff = .init(first: .milliseconds(5), longest: .milliseconds(100))
        try configure(&configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let harness = try await ClientHarness(configuration, scripts, on: group.next())
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(harness))
        } catch {
            outcome = .failure(error)
        }
        let life = harness.life
        try await group.next().submit { life.value.client.shutdown() }.get()
        try await group.shutdownGracefully()
        try outcome.get()
    }

    var state: State {
        get async throws {
            let life = self.life
            return try await loop.submit { life.value.state.withLock { $0 } }.get()
        }
    }

    func isUp() async throws {
        try await eventually("Redis is up", within: .seconds(60)) { try await state.isUp }
    }

    @discardableResult
    func send(_ command: RedisCommand) async throws -> RedisReply {
        let promise = loop.makePromise(of: RedisReply.self)
        let life = self.life
        loop.execute {
            life.value.client.send(command) { outcome in
                promise.completeWith(outcome.mapError { $0 as any Error })
            }
        }
        return try await promise.futureResult.get()
    }

    @discardableResult
    func send(_ words: String...) async throws -> RedisReply {
        try await send(RedisCommand(words.map { .text($0) }))
    }
}
