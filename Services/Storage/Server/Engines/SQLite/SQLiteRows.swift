import RTMModel
import RTMWire

/// The reads that both halves of the store need. A channel without a row has nothing.
extension SQLiteConnection {
    func channelID(_ channel: ChannelKey) throws(StoreFailure) -> Int64? {
        var id: Int64?
        try rows(
            "SELECT id FROM channels WHERE app = ?1 AND type = ?2 AND name = ?3", .text(channel.appID),
            .integer(Int64(channel.type.rawValue)), .text(channel.name)
        ) { row in id = row.integer(0) }
        return id
    }

    func counter() throws(StoreFailure) -> UInt64 {
        var counter: UInt64 = 0
        try rows("SELECT counter FROM store") { row in counter = row.number(0) }
        return counter
    }

    func metadata(of id: Int64) throws(StoreFailure) -> MetadataSet {
        var revision: Int64 = 0
        try rows("SELECT metadata_revision FROM channels WHERE id = ?1", .integer(id)) { row in
            revision = row.integer(0)
        }
        var entries: [MetadataSet.Entry] = []
        try rows(
            """
            SELECT place, key, value, revision, updated_ms, author FROM metadata
            WHERE channel = ?1 ORDER BY place
            """, .integer(id)
        ) { row in
            let item = MetadataItem(
                key: row.text(1), value: row.text(2), revision: row.integer(3),
                updatedMilliseconds: row.number(4), author: row.text(5))
            entries.append(.init(place: row.integer(0), item: item))
        }
        return MetadataSet(majorRevision: revision, entries: entries)
    }

    func locks(of id: Int64) throws(StoreFailure) -> LockTable {
        var table = LockTable()
        try rows(
            "SELECT name, ttl_s, owner, instance, token FROM locks WHERE channel = ?1", .integer(id)
        ) { row in
            var lock = LockTable.Lock(name: row.text(0), ttlSeconds: UInt32(clamping: row.integer(1)))
            let owner = row.text(2)
            if !owner.isEmpty {
                lock.owner = .init(user: owner, instance: row.number(3), presence: .away(until: 0))
            }
            lock.token = row.number(4)
            table.locks[lock.name] = lock
        }
        return table
    }
}

extension SQLiteStatement {
    /// Reads app, type and name from three columns, beginning with this one.
    func channelKey(_ column: Int32) -> ChannelKey {
        ChannelKey(
            appID: text(column), type: ChannelType(rawValue: Int(integer(column + 1))) ?? .none,
            name: text(column + 2))
    }
}
