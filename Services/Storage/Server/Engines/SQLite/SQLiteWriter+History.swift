import RTMModel
import RTMWire

/// Messages that are kept for later readers.
extension SQLiteWriter {
    func append(_ message: StoredMessage) throws(StoreFailure) {
        let id = try idMaking(message.channel)
        if try !insert(message, id) {
            guard try !isKept(message, id) else { return }
            var moved = message
            moved.content.time = LogTime(number: try newestTime(id) + 1)
            _ = try insert(moved, id)
        }
        try addHistory(message.bytes, of: message.channel.appID)
    }

    func has(_ message: StoredMessage) throws(StoreFailure) -> Bool {
        guard let id = try id(of: message.channel) else { return false }
        return try isKept(message, id)
    }

    /// Returns false if the channel has a message of this origin, or of this time.
    private func insert(_ message: StoredMessage, _ id: Int64) throws(StoreFailure) -> Bool {
        let content = message.content
        return try connection.run(
            """
            INSERT INTO history (channel, time, expiry_ms, publisher, type, custom_type, payload,
                instance, sequence)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING
            """,
            .integer(id), .number(content.time.number),
            message.expiry.map { .number($0) } ?? .null, .text(content.publisher),
            .integer(Int64(content.type.rawValue)), .text(content.customType), .blob(content.payload),
            message.origin.map { .number($0.instance) } ?? .null,
            message.origin.map { .number($0.sequence) } ?? .null) > 0
    }

    private func isKept(_ message: StoredMessage, _ id: Int64) throws(StoreFailure) -> Bool {
        var isKept = false
        let content = message.content
        if let origin = message.origin {
            try connection.rows(
                "SELECT 1 FROM history WHERE channel = ?1 AND instance = ?2 AND sequence = ?3", .integer(id),
                .number(origin.instance), .number(origin.sequence)
            ) { _ in isKept = true }
        } else {
            try connection.rows(
                """
                SELECT 1 FROM history WHERE channel = ?1 AND time = ?2 AND publisher = ?3
                    AND type = ?4 AND custom_type = ?5 AND payload = ?6
                """,
                .integer(id), .number(content.time.number), .text(content.publisher),
                .integer(Int64(content.type.rawValue)), .text(content.customType), .blob(content.payload)
            ) { _ in isKept = true }
        }
        return isKept
    }

    /// By its number.
    private func newestTime(_ id: Int64) throws(StoreFailure) -> UInt64 {
        var time: UInt64 = 0
        try connection.rows(
            "SELECT time FROM history WHERE channel = ?1 ORDER BY time DESC LIMIT 1",
            .integer(id)
        ) { row in time = row.number(0) }
        return time
    }

    func expiryClock() throws(StoreFailure) -> UInt64? {
        var clock: UInt64?
        try connection.rows("SELECT expiry_clock_ms FROM store WHERE expiry_clock_ms IS NOT NULL") { row in
            clock = row.number(0)
        }
        return clock
    }

    func save(expiryClock: UInt64) throws(StoreFailure) {
        try connection.run("UPDATE store SET expiry_clock_ms = ?1", .number(expiryClock))
    }

    func removeExpired(by now: UInt64, limit: Int) throws(StoreFailure) -> Int {
        var count = 0
        var bytes: [Int64: Int] = [:]
        try connection.rows(
            """
            DELETE FROM history WHERE (channel, time) IN (
                SELECT channel, time FROM history WHERE expiry_ms <= ?1 ORDER BY expiry_ms LIMIT ?2)
            RETURNING channel,
                length(payload) + length(CAST(publisher AS BLOB)) + length(CAST(custom_type AS BLOB))
            """, .number(now), .integer(Int64(limit))
        ) { row in
            count += 1
            bytes[row.integer(0), default: 0] += Int(row.integer(1)) + StoredMessage.rowBytes
        }
        for (channel, removed) in bytes { try addHistory(-removed, of: try app(of: channel)) }
        return count
    }

    /// Returns how many messages it has removed.
    func remove(_ purge: HistoryPurge) throws(StoreFailure) -> Int {
        guard let id = try id(of: purge.channel) else { return 0 }
        var (count, bytes) = (0, 0)
        try connection.rows(
            """
            DELETE FROM history WHERE channel = ?1 AND time IN (
                SELECT time FROM history WHERE channel = ?1 AND (?2 = 0 OR time < ?2)
                ORDER BY time LIMIT ?3)
            RETURNING length(payload) + length(CAST(publisher AS BLOB)) + length(CAST(custom_type AS BLOB))
            """, .integer(id), .number(purge.beforeTime), .integer(Int64(purge.limit))
        ) { row in
            count += 1
            bytes += Int(row.integer(0)) + StoredMessage.rowBytes
        }
        if count > 0 { try addHistory(-bytes, of: purge.channel.appID) }
        return count
    }

    private func app(of channel: Int64) throws(StoreFailure) -> String {
        var app = ""
        try connection.rows("SELECT app FROM channels WHERE id = ?1", .integer(channel)) { row in
            app = row.text(0)
        }
        return app
    }
}
