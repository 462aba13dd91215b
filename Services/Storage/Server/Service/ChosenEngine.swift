import Foundation
import RTMServiceKit

/// The engine that the configuration chooses.
struct ChosenEngine {
    /// The stores of each shard.
    let shards: [StorageThreads.Stores]
    /// Nil where no other node can have the stores.
    var membership: (any StorageMembership)?

    /// - Parameters:
    ///   - isNetworked: whether callers in other processes reach this node.
    ///   - connections: counts the open connections to a server.
    init(_ configuration: Configuration, data: String, isNetworked: Bool, connections: Gauge) {
        #if PostgreSQL
            if let url = configuration[StorageKeys.database] {
                let options = PostgresOptions(
                    url: url, password: configuration[StorageKeys.databasePassword]?.revealed,
                    node: Self.node(data), address: isNetworked ? Self.address(configuration) : nil,
                    shards: configuration[StorageKeys.shards], connections: connections)
                let node = PostgresNode(options)
                shards = (0..<options.shards).map { .postgres(options, shard: $0, of: node) }
                membership = node
                return
            }
        #endif
        shards = [
            .sqlite(
                SQLiteOptions(
                    path: StorageCommands.file(data), synchronous: configuration[StorageKeys.synchronous],
                    bytesMax: configuration[StorageKeys.bytesMax],
                    cacheBytes: configuration[StorageKeys.cacheBytes]))
        ]
    }

    #if PostgreSQL
        /// Who has the directory is the only process that has it, and keeps the name over its restarts.
        private static func node(_ data: String) -> String {
            "\(ProcessInfo.processInfo.hostName):\(URL(fileURLWithPath: data).standardizedFileURL.path)"
        }

        /// Reports when the authorities end that the URL names. libpq reads them for each connection.
        static func reportAuthorities(_ context: ServiceContext) {
            guard let url = context.configuration[StorageKeys.database],
                let path = (try? PostgresOptions(url: url).parameters())?["sslrootcert"],
                path != "system"
            else { return }
            context.certificates.follow(StorageKeys.database, authoritiesIn: path)
        }

        /// Where the other services reach this node, if that is known.
        private static func address(_ configuration: Configuration) -> HostPort? {
            let listen = configuration[StorageKeys.listen]
            return configuration[StorageKeys.advertise] ?? (listen.port == 0 ? nil : listen)
        }
    #endif
}

extension StorageThreads.Stores {
    #if PostgreSQL
        fileprivate static func postgres(_ options: PostgresOptions, shard: Int, of node: PostgresNode)
            -> Self
        {
            Self(
                openWriter: { () throws(StoreFailure) in
                    try PostgresWriter(options, shard: shard, of: node)
                }, openReader: { PostgresReader(options, shard: shard) }, claim: node.claims[shard])
        }
    #endif

    fileprivate static func sqlite(_ options: SQLiteOptions) -> Self {
        Self(
            openWriter: { () throws(StoreFailure) in try SQLiteWriter(options) },
            openReader: { () throws(StoreFailure) in try SQLiteReader(options) })
    }
}
