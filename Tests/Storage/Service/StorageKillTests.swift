import Foundation
import Logging
import NIOCore
import NIOPosix
import RTMMessagingServer
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMStorageServer

/// A real `rtm-storage` is killed while clients write, again and again over one directory.
@Suite("Storage is killed under load", .serialized)
struct StorageKillTests {
    /// `SOAK=100 swift test --filter StorageKillTests` runs the long form.
    private static let rounds = ProcessInfo.processInfo.environment["SOAK"].flatMap { Int($0) } ?? 5
    private static let writers = 12

    @Test(
        "every acknowledged write is there, none by half, and each change was announced exactly once",
        arguments: [StorageEngine.sqlite])
    func kill(_ engine: StorageEngine) async throws {
        try await with(engine) { host, directory, arguments, _ in
            try await kill(host, directory, arguments) { $0.signal(SIGKILL) }
        }
    }

    /// As `kill`, where the database is killed in place of the service.
    func killDatabase(_ engine: StorageEngine) async throws {
        try await with(engine) { host, directory, arguments, server in
            try await kill(host, directory, arguments) { process in
                server?.kill()
                try? await server?.start()
                process.signal(SIGKILL)
            }
        }
    }

    private func with(
        _ engine: StorageEngine, _ body: (LogHost, String, [String], RunningPostgres?) async throws -> Void
    ) async throws {
        try await engine.with { url, server in
            try await withDirectory { directory in
                try await LogHost.with { host in
                    try await body(host, directory, url.map { ["--database", $0] } ?? [], server)
                }
            }
        }
    }

    private func kill(
        _ host: LogHost, _ directory: String, _ arguments: [String],
        _ strike: @escaping @Sendable (ServiceProcess) async -> Void
    ) async throws {
        let channels = (0..<Self.writers).map { "channel \($0)" }
        let log = try await host.reader(channels.map { ChannelKey.message($0) })
        let ledgers = WriteLedgers()
        var random = SeededGenerator(seed: 6)
        for round in 0..<Self.rounds {
            let enough = Int.random(in: 20...400, using: &random)
            try await host.withStorage(directory, arguments) { process, _ in
                let caller = try await host.router(to: process)
                let goal = ledgers.count + enough
                let isStruck = Shared(false)
                await withTaskGroup(of: Void.self) { group in
                    for channel in channels {
                        group.addTask {
                            await write(to: channel, caller, "round \(round)", ledgers, isStruck)
                        }
                    }
                    group.addTask {
                        try? await eventually("enough writes") { ledgers.count >= goal }
                        isStruck.withLock { $0 = true }
                        await strike(process)
                    }
                }
                try await process.exit()
                try await caller.close()
            }
        }
        try await host.withStorage(directory, arguments) { process, _ in
            let caller = try await host.router(to: process)
            for channel in channels {
                try await ledgers.check(channel, caller, log)
            }
            try await caller.close()
            process.signal(SIGTERM)
            #expect(try await process.exit() == 0)
        }
        try await log.close()
    }

    /// Writes two items with one value until the strike. Before it a write may be refused, too, where a busy
    /// machine lets a server stand still for longer than a commit may take.
    private func write(
        to channel: String, _ caller: RoutedCaller, _ prefix: String, _ ledgers: WriteLedgers,
        _ isStruck: Shared<Bool>
    ) async {
        for number in 0... {
            do {
                try await ledgers.write("\(prefix), \(number)", to: channel, caller)
            } catch {
                if isStruck.present { return }
            }
        }
    }

    /// The timestamps of messages; each message carries its own in its text.
    private struct Stored: Sendable {
        var attempted: Set<UInt64> = []
        var acknowledged: Set<UInt64> = []
    }

    @Test(
        "H-10: every message whose storing was acknowledged is found after the kills, once and whole",
        arguments: [StorageEngine.sqlite])
    func history(_ engine: StorageEngine) async throws {
        try await with(engine) { host, directory, arguments, _ in
            let stored = Shared(Stored())
            for round in 0..<Self.rounds {
                try await host.withStorage(directory, arguments) { process, caller in
                    let goal = stored.present.acknowledged.count + 100 + 37 * (round % 5)
                    let time = WallClock.milliseconds()
                    await withTaskGroup(of: Void.self) { group in
                        for writer in 0..<4 as Range<UInt64> {
                            group.addTask { await store(from: time + writer, caller, stored) }
                        }
                        group.addTask {
                            try? await eventually("enough messages") {
                                stored.present.acknowledged.count >= goal
                            }
                            process.signal(SIGKILL)
                        }
                    }
                    try await process.exit()
                }
            }
            try await host.withStorage(directory, arguments) { process, caller in
                try await check(stored.present, caller)
                process.signal(SIGTERM)
                #expect(try await process.exit() == 0)
            }
        }
    }

    /// Stores messages until the link is lost. The timestamps of a later round may repeat those of an earlier
    /// one.
    private func store(from first: UInt64, _ caller: StorageConnection, _ stored: Shared<Stored>) async {
        for time in stride(from: first, to: .max, by: 4) {
            guard stored.withLock({ $0.attempted.insert(time).inserted }) else { continue }
            let text = Array("message \(time)".utf8)
            do {
                try await caller.appendHistory(to: .message("lobby"), by: "anna", at: time, text)
            } catch {
                return
            }
            stored.withLock { _ = $0.acknowledged.insert(time) }
        }
    }

    private func check(_ stored: Stored, _ caller: StorageConnection) async throws {
        var found: [UInt64] = []
        var start: UInt64 = 0
        repeat {
            let page = try await caller.history(start: start)
            for message in page.messages {
                #expect(message.payload == Data("message \(message.timestampMs)".utf8))
                found.append(message.timestampMs)
            }
            start = page.newStartMs
        } while start != 0
        #expect(Set(found).count == found.count, "a message twice")
        #expect(stored.acknowledged.subtracting(found) == [], "an acknowledged message is lost")
        #expect(Set(found).subtracting(stored.attempted) == [])
    }

    @Test(
        "a lock has one owner over every crash, and its tokens only grow", arguments: [StorageEngine.sqlite])
    func locks(_ engine: StorageEngine) async throws {
        try await with(engine) { host, directory, arguments, _ in
            var tokens: [UInt64] = []
            for round in 0..<Self.rounds {
                try await host.withStorage(directory, arguments) { process, caller in
                    if round == 0 { try await caller.setLock() }
                    // Nobody is away long enough to lose the lock, so each owner hands it over itself.
                    let previous = Caller.user("user \(round - 1)", session: 1)
                    if round > 0 {
                        #expect(
                            await failure { try await caller.acquire(by: .user("x", session: 9)) }?.code
                                == .lockAcquireFailed)
                        #expect(
                            try await caller.acquire(held: tokens[round - 1], by: previous)
                                == tokens[round - 1])
                        try await caller.release(by: previous)
                    }
                    tokens.append(try await caller.acquire(by: .user("user \(round)", session: 2)))
                    try await process.kill9()
                }
            }
            #expect(tokens == tokens.sorted() && Set(tokens).count == tokens.count)
        }
    }
}

/// Messaging at a port of this process, so that its logs outlive the storage processes that append to it.
final class LogHost: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let messaging: HostPort

    private init(_ group: MultiThreadedEventLoopGroup, messaging: HostPort) {
        self.group = group
        self.messaging = messaging
    }

    static func with(_ body: (LogHost) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let definition = MessagingDefinition.service
        let schema = ConfigurationSchema(definition.keys, section: "messaging")
        let configuration = try ConfigurationLoader(schema: schema, readFile: { _ in "" })
            .load(
                arguments: ["--listen", "127.0.0.1:0", "--catch-up-entries-max", "1000000"], environment: [:])
        let context = ServiceContext(
            service: "messaging", configuration: configuration, logger: logger, metrics: MetricsRegistry(),
            readiness: ReadinessRegistry(logger: logger), eventLoopGroup: group)
        let services = try await definition.assemble(context).services
        for service in services { try await service.start() }
        var address: HostPort?
        for service in services { address = await service.listening.first?.address ?? address }
        let outcome: Result<Void, any Error>
        do {
            try await body(LogHost(group, messaging: #require(address)))
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        for service in services.reversed() { await service.shutdown(deadline: .now + .seconds(10)) }
        try await group.shutdownGracefully()
        try outcome.get()
    }

    func reader(_ channels: [ChannelKey]) async throws -> LogReader {
        try await LogReader.attached(
            to: channels, at: .tcp(host: messaging.host, port: messaging.port), on: group.next())
    }

    func publisher() async throws -> LogPublisher {
        try await LogPublisher.connected(
            to: .tcp(host: messaging.host, port: messaging.port), on: group.next())
    }

    /// A storage process over the directory.
    func start(_ directory: String, _ arguments: [String], port: Int = 0) throws -> ServiceProcess {
        try ServiceProcess(
            "rtm-storage",
            [
                "--listen", "127.0.0.1:\(port)", "--admin", "127.0.0.1:0", "--data", directory + "/data",
                "--messaging", "\(messaging)",
            ] + arguments, directory: URL(fileURLWithPath: directory))
    }

    func router(to process: ServiceProcess) async throws -> RoutedCaller {
        try await router(to: try await address(of: process))
    }

    private func address(of process: ServiceProcess) async throws -> ServiceLinkAddress {
        let parts = try #require(try await process.listening()["storage"]).split(separator: ":")
        return .tcp(host: String(parts[0]), port: try #require(Int(parts[1])))
    }

    /// A caller that finds the nodes that lead by itself.
    func router(to address: ServiceLinkAddress) async throws -> RoutedCaller {
        try await RoutedCaller.connected(to: address, on: group.next())
    }

    func connection(to address: ServiceLinkAddress) async throws -> StorageConnection {
        try await StorageConnection.connected(to: address, on: group.next())
    }

    /// A storage process over the directory, and a caller of it. The body ends the process.
    func withStorage(
        _ directory: String, _ arguments: [String] = [],
        _ body: (ServiceProcess, StorageConnection) async throws -> Void
    ) async throws {
        let process = try start(directory, arguments)
        let caller = try await connection(to: try await address(of: process))
        do {
            try await body(process, caller)
        } catch {
            Issue.record("log of rtm-storage: \(process.log)")
            process.signal(SIGKILL)
            try await caller.close()
            throw error
        }
        try await caller.close()
    }
}
