import RTMServiceKit
package import RTMStorageServer

/// PostgreSQL, as storage knows it.
package struct PostgresDatabase: DatabaseEngine {
    package init() {}

    package func problem(of url: String) -> String? { PostgresOptions.problem(of: url) }

    package func authorities(in url: String) -> String? {
        let path = (try? PostgresOptions(url: url).parameters())?["sslrootcert"]
        return path == "system" ? nil : path
    }

    package func stores(_ settings: DatabaseSettings) -> ChosenStores {
        let options = PostgresOptions(settings)
        let node = PostgresNode(options)
        let shards = (0..<options.shards).map { shard in
            StorageThreads.Stores(
                openWriter: { () throws(StoreFailure) in
                    try PostgresWriter(options, shard: shard, of: node)
                }, openReader: { PostgresReader(options, shard: shard) }, claim: node.claims[shard])
        }
        return ChosenStores(shards: shards, membership: node)
    }

    package func migrate(
        to target: MigrationTarget, file: String, _ settings: DatabaseSettings, replacing: Bool
    ) throws(StoreFailure) -> [(table: String, rows: Int)] {
        try StoreMigration.run(
            to: target, file: file, PostgresOptions(settings), replacing: replacing)
    }
}

extension PostgresOptions {
    init(_ settings: DatabaseSettings) {
        self.init(
            url: settings.url, password: settings.password, node: settings.node,
            address: settings.address, shards: settings.shards, connections: settings.connections)
    }
}
