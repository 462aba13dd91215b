import Logging
import NIOCore
import NIOPosix
import RTMMessagingServer
import RTMModel
import RTMServiceKit
import RTMServiceLink
import Testing

@testable import RTMStorageServer

/// Storage and messaging in this process, with the links of production between them and a real database.
final class RunningStorage: Sendable {
    let group: MultiThreadedEventLoopGroup
    let storage = InProcessEndpoint(name: "storage")
    let messaging = InProcessEndpoint(name: "messaging")
    let readiness: ReadinessRegistry
    let metrics = MetricsRegistry()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private init(group: MultiThreadedEventLoopGroup) {
        self.group = group
        readiness = ReadinessRegistry(logger: logger)
    }

    /// - Parameters:
    ///   - directory: keeps the database from one run to the next.
    ///   - arguments: flags of the storage keys, such as `--storage-history-retention`.
    ///   - engine: that of `storage.database`.
    static func with(
        _ directory: String, _ arguments: [String] = [], engine: (any DatabaseEngine)? = nil,
        _ body: (RunningStorage) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let running = RunningStorage(group: group)
        let outcome: Result<Void, any Error>
        do {
            let services = try await running.start(directory, arguments, engine)
            do {
                try await body(running)
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            for service in services.reversed() { await service.shutdown(deadline: .now + .seconds(10)) }
        } catch {
            outcome = .failure(error)
        }
        try await group.shutdownGracefully()
        try outcome.get()
    }

    private func start(
        _ directory: String, _ arguments: [String], _ engine: (any DatabaseEngine)?
    ) async throws -> [any Service] {
        let data = ConfigurationKey<String>.string("test.data", default: directory, "The directory.")
        let directoryDefinition = ServiceDefinition(name: "test", summary: "", keys: [data.declaration]) {
            Assembly([DataDirectory(data, $0.configuration)])
        }
        let definitions = [
            MessagingDefinition.inProcess(messaging), directoryDefinition,
            StorageDefinition.inProcess(storage, messaging: messaging, data: data, engine: engine),
        ]
        let schema = ConfigurationSchema(definitions.flatMap(\.keys), section: "test")
        let configuration = try ConfigurationLoader(schema: schema, readFile: { _ in "" })
            .load(arguments: arguments, environment: [:])
        var started: [any Service] = []
        do {
            for definition in definitions {
                let context = ServiceContext(
                    service: definition.name, configuration: configuration, logger: logger, metrics: metrics,
                    readiness: readiness, eventLoopGroup: group)
                for service in try await definition.assemble(context).services {
                    try await service.start()
                    started.append(service)
                }
            }
        } catch {
            for service in started.reversed() { await service.shutdown(deadline: .now + .seconds(10)) }
            throw error
        }
        return started
    }

    /// - Parameter waits: whether until the node serves.
    func caller(waits: Bool = true) async throws -> StorageConnection {
        try await StorageConnection.connected(to: .inProcess(storage), on: group.next(), waits: waits)
    }

    func reader(_ channels: ChannelKey...) async throws -> LogReader {
        try await LogReader.attached(to: channels, at: .inProcess(messaging), on: group.next())
    }

    /// Runs the body with one caller, which is closed afterwards.
    static func withCaller(
        _ arguments: [String] = [], engine: (any DatabaseEngine)? = nil,
        _ body: (RunningStorage, StorageConnection) async throws -> Void
    ) async throws {
        try await withDirectory { directory in
            try await with(directory, arguments, engine: engine) { running in
                let caller = try await running.caller()
                do {
                    try await body(running, caller)
                } catch {
                    try await caller.close()
                    throw error
                }
                try await caller.close()
            }
        }
    }
}
