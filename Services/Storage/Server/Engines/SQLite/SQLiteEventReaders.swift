import RTMModel
import RTMWire

/// The readers of events whose positions are kept, and their dead letters, in a SQLite file.
struct SQLiteEventReaders {
    let connection: SQLiteConnection

    func reader(_ key: EventReaderKey) throws(StoreFailure) -> EventReaderState? {
        var found: EventReaderState?
        try connection.rows(
            """
            SELECT owner, term, lease_end_ms, epoch, offset, state, last_letter FROM event_readers
            WHERE app = ?1 AND name = ?2
            """, .text(key.appID), .text(key.name)
        ) { row in
            var reader = EventReaderState(at: row.position(3))
            (reader.owner, reader.term, reader.leaseEnd) = (row.text(0), row.number(1), row.number(2))
            (reader.state, reader.lastLetter) = (row.blob(5), row.number(6))
            found = reader
        }
        return found
    }

    func count(of app: String) throws(StoreFailure) -> Int {
        var count = 0
        try connection.rows("SELECT count(*) FROM event_readers WHERE app = ?1", .text(app)) { row in
            count = Int(row.integer(0))
        }
        return count
    }

    /// Keeps a reader, or forgets it with its dead letters.
    func set(_ reader: EventReaderState?, _ key: EventReaderKey) throws(StoreFailure) {
        guard let reader else {
            try connection.run(
                "DELETE FROM dead_letters WHERE app = ?1 AND reader = ?2", .text(key.appID), .text(key.name))
            try connection.run(
                "DELETE FROM event_readers WHERE app = ?1 AND name = ?2", .text(key.appID), .text(key.name))
            return
        }
        try connection.run(
            """
            INSERT INTO event_readers (app, name, owner, term, lease_end_ms, epoch, offset, state, last_letter)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (app, name) DO UPDATE SET owner = excluded.owner, term = excluded.term,
                lease_end_ms = excluded.lease_end_ms, epoch = excluded.epoch, offset = excluded.offset,
                state = excluded.state, last_letter = excluded.last_letter
            """,
            .text(key.appID), .text(key.name), .text(reader.owner), .number(reader.term),
            .number(reader.leaseEnd), .number(reader.position.epoch), .number(reader.position.offset),
            .blob(reader.state), .number(reader.lastLetter))
    }

    /// Keeps the newest dead letters, and counts those that it drops for them. A later letter of the same
    /// event replaces the earlier one: an owner that got no answer keeps its letters again, and the next
    /// owner may give up what the last one did.
    func keep(
        _ letters: [DeadLetter], removing removed: [UInt64], of key: EventReaderKey
    ) throws(StoreFailure) {
        for number in removed {
            try connection.run(
                "DELETE FROM dead_letters WHERE app = ?1 AND reader = ?2 AND number = ?3", .text(key.appID),
                .text(key.name), .number(number))
        }
        for letter in letters {
            try connection.run(
                "DELETE FROM dead_letters WHERE app = ?1 AND reader = ?2 AND epoch = ?3 AND offset = ?4",
                .text(key.appID), .text(key.name), .number(letter.position.epoch),
                .number(letter.position.offset))
            try connection.run(
                """
                INSERT INTO dead_letters (app, reader, number, epoch, offset, time_ms, reason, body)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                """,
                .text(key.appID), .text(key.name), .number(letter.number), .number(letter.position.epoch),
                .number(letter.position.offset), .number(letter.timeMilliseconds), .text(letter.reason),
                .blob(letter.body))
        }
        guard let last = letters.last?.number, last > UInt64(EventReaderState.lettersMax) else { return }
        let dropped = try connection.run(
            "DELETE FROM dead_letters WHERE app = ?1 AND reader = ?2 AND number <= ?3", .text(key.appID),
            .text(key.name), .number(last - UInt64(EventReaderState.lettersMax)))
        try connection.run(
            "UPDATE event_readers SET dropped = dropped + ?3 WHERE app = ?1 AND name = ?2", .text(key.appID),
            .text(key.name), .integer(Int64(dropped)))
    }

    // MARK: Lists

    func page(_ request: ReadersRequest, limit: Int, now: UInt64) throws(StoreFailure) -> [EventReader] {
        var found: [EventReader] = []
        try connection.rows(
            """
            SELECT name, owner, term, lease_end_ms, epoch, offset, state, dropped,
                (SELECT count(*) FROM dead_letters WHERE dead_letters.app = event_readers.app AND reader = name)
            FROM event_readers WHERE app = ?1 AND name > ?2 ORDER BY name LIMIT ?3
            """, .text(request.appID), .text(request.after), .integer(Int64(limit))
        ) { row in
            let leaseEnd = row.number(3)
            found.append(
                EventReader(
                    name: row.text(0), owner: leaseEnd > now ? row.text(1) : "", term: row.number(2),
                    lease: .milliseconds(leaseEnd > now ? Int64(leaseEnd - now) : 0),
                    position: row.position(4), state: row.blob(6),
                    letters: UInt32(clamping: row.integer(8)), dropped: row.number(7)))
        }
        return found
    }

    func letters(_ request: DeadLettersRequest, limit: Int) throws(StoreFailure) -> [DeadLetter] {
        var found: [DeadLetter] = []
        try connection.rows(
            """
            SELECT number, epoch, offset, time_ms, reason, body FROM dead_letters
            WHERE app = ?1 AND reader = ?2 AND number > ?3 ORDER BY number LIMIT ?4
            """, .text(request.appID), .text(request.name), .number(request.after), .integer(Int64(limit))
        ) { row in
            found.append(
                DeadLetter(
                    number: row.number(0), position: row.position(1), timeMilliseconds: row.number(3),
                    reason: row.text(4), body: row.blob(5)))
        }
        return found
    }
}

extension SQLiteStatement {
    /// Reads epoch and offset from two columns, beginning with this one.
    func position(_ column: Int32) -> StreamPosition {
        StreamPosition(epoch: number(column), offset: number(column + 1))
    }
}
