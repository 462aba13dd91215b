import Foundation
package import RTMServiceKit

/// An engine over a server that several nodes may share. It is a room of its own, so that nobody who stores
/// in a file needs its library: programs that are built with it hand it to `StorageDefinition`.
package protocol DatabaseEngine: Sendable {
    /// What is wrong with a value of `storage.database`; nil if it can be used.
    func problem(of url: String) -> String?
    /// The file with the authorities that the URL names; nil if it names none.
    func authorities(in url: String) -> String?
    /// The stores of a node, which takes its place among the others when the service starts.
    func stores(_ settings: DatabaseSettings) -> ChosenStores
    /// Copies between a file, whose directory the caller holds, and the database.
    ///
    /// - Parameter replacing: whether a file that is there may be replaced.
    /// - Returns: how many rows of which table there are now.
    func migrate(
        to target: MigrationTarget, file: String, _ settings: DatabaseSettings, replacing: Bool
    ) throws(StoreFailure) -> [(table: String, rows: Int)]
}

/// What the configuration says of a database.
package struct DatabaseSettings: Sendable {
    package let url: String
    package let password: String?
    /// In how many shards the channels lie.
    package let shards: Int
    /// The name of the storage node. No two processes may have one at the same time.
    package var node = "storage"
    /// Where callers reach the node; nil if the others needn't name it.
    package var address: HostPort?
    /// Counts the open connections.
    package var connections: Gauge?

    init(_ configuration: Configuration, url: String) {
        self.url = url
        password = configuration[StorageKeys.databasePassword]?.revealed
        shards = configuration[StorageKeys.shards]
    }
}

/// Where everything is copied to, from the other one of the two.
package enum MigrationTarget: String, Sendable {
    case database
    case file
}

/// The stores of the engine that the configuration chooses.
package struct ChosenStores {
    /// By shard.
    let shards: [StorageThreads.Stores]
    /// Nil where no other node can have the stores.
    let membership: (any StorageMembership)?

    package init(shards: [StorageThreads.Stores], membership: (any StorageMembership)?) {
        self.shards = shards
        self.membership = membership
    }

    /// - Parameters:
    ///   - engine: that of `storage.database`; nil in a program that was built without it.
    ///   - isNetworked: whether callers in other processes reach this node.
    ///   - connections: counts the open connections to a server.
    init(
        _ configuration: Configuration, _ engine: (any DatabaseEngine)?, data: String, isNetworked: Bool,
        connections: Gauge
    ) {
        if let engine, let url = configuration[StorageKeys.database] {
            var settings = DatabaseSettings(configuration, url: url)
            settings.node = Self.node(data)
            settings.address = isNetworked ? Self.address(configuration) : nil
            settings.connections = connections
            self = engine.stores(settings)
        } else {
            let options = SQLiteOptions(
                path: StorageCommands.file(data), synchronous: configuration[StorageKeys.synchronous],
                bytesMax: configuration[StorageKeys.bytesMax],
                cacheBytes: configuration[StorageKeys.cacheBytes])
            let stores = StorageThreads.Stores(
                openWriter: { () throws(StoreFailure) in try SQLiteWriter(options) },
                openReader: { () throws(StoreFailure) in try SQLiteReader(options) })
            self.init(shards: [stores], membership: nil)
        }
    }

    /// Who has the directory is the only process that has it, and keeps the name over its restarts.
    private static func node(_ data: String) -> String {
        "\(ProcessInfo.processInfo.hostName):\(URL(fileURLWithPath: data).standardizedFileURL.path)"
    }

    /// Where the other services reach this node, if that is known.
    private static func address(_ configuration: Configuration) -> HostPort? {
        let listen = configuration[StorageKeys.listen]
        return configuration[StorageKeys.advertise] ?? (listen.port == 0 ? nil : listen)
    }
}
