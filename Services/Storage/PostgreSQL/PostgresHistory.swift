import RTMModel
import RTMStorageServer
import RTMWire

/// What the database has where messages are to be kept.
struct HistoryLookup {
    private struct Place: Hashable {
        let channel: ChannelKey
        let time: UInt64
    }

    private var kept: [StoredMessage.Identity: Bool] = [:]
    private var taken: [Place: Bool] = [:]
    /// The time of the newest message of each channel that was asked about; 0 where there is none.
    private var newest: [ChannelKey: UInt64] = [:]
    /// The last sequence of each publisher that was asked about; 0 where there is none.
    private var sequences: [(channel: ChannelKey, instance: UInt64, sequence: UInt64)] = []

    /// - Parameter sequence: the last one of its publisher in its channel; 0 if there is none.
    mutating func take(_ message: StoredMessage, isKept: Bool, isTaken: Bool, last sequence: UInt64) {
        kept[message.identity] = isKept
        if let origin = message.origin {
            sequences.append((message.channel, origin.instance, sequence))
        }
        taken[Place(channel: message.channel, time: message.content.time.number)] = isTaken
    }

    mutating func take(newest time: UInt64, of channel: ChannelKey) { newest[channel] = time }

    func mark(in marks: inout HistoryMarks) {
        for (channel, time) in newest { marks.found(newest: time, of: channel) }
        for last in sequences {
            marks.found(sequence: last.sequence, of: last.instance, in: last.channel)
        }
    }

    func isKept(_ message: StoredMessage) -> Bool { kept[message.identity] ?? false }

    func covers(_ messages: [StoredMessage]) -> Bool {
        messages.allSatisfy {
            kept[$0.identity] != nil
                && taken[Place(channel: $0.channel, time: $0.content.time.number)] != nil
        }
    }

    /// The messages that have to be added, each at a time of its own: a message is kept once, and one
    /// whose time another message has comes behind the channel's newest. Several messages of a group may
    /// be the same, or have the same time. Pure.
    func placing(_ messages: [StoredMessage]) -> [StoredMessage] {
        var next = self
        return messages.compactMap { next.place($0) }
    }

    private mutating func place(_ message: StoredMessage) -> StoredMessage? {
        guard !isKept(message) else { return nil }
        var placed = message
        let place = Place(channel: message.channel, time: message.content.time.number)
        if taken[place] == true {
            placed.content.time = LogTime(number: (newest[message.channel] ?? 0) + 1)
        }
        let time = placed.content.time.number
        kept[placed.identity] = true
        taken[Place(channel: message.channel, time: time)] = true
        newest[message.channel] = max(newest[message.channel] ?? 0, time)
        return placed
    }
}

/// The question whether the database has messages already, and whether their times are taken.
struct HistorySearch {
    private let messages: [StoredMessage]
    private let channels: [ChannelKey]
    let statements: [PostgresStatement]

    /// - Parameter expired: messages that have expired by then, in milliseconds (UTC), aren't there.
    init(_ messages: [StoredMessage], shard: Int64, expired: UInt64) {
        self.messages = messages
        channels = Array(Set(messages.map(\.channel)))
        let contents = messages.map(\.content)
        statements = [
            // A scalar subquery for each message is looked up by an index, whatever the statistics say.
            PostgresStatement(
                """
                SELECT (SELECT count(*) FROM (SELECT 1 FROM history h WHERE h.shard = $1
                        AND h.channel = c.id AND h.time = u.time AND h.expiry_ms > $12 LIMIT 1) x),
                    CASE WHEN u.instance IS NULL THEN
                        (SELECT count(*) FROM (SELECT 1 FROM history h WHERE h.shard = $1
                            AND h.channel = c.id AND h.time = u.time AND h.publisher = u.publisher
                            AND h.type = u.kind AND h.custom_type = u.custom_type
                            AND h.payload = u.payload AND h.expiry_ms > $12 LIMIT 1) x)
                    ELSE
                        (SELECT count(*) FROM (SELECT 1 FROM history h WHERE h.shard = $1
                            AND h.channel = c.id AND h.instance = u.instance AND h.sequence = u.sequence
                            AND h.expiry_ms > $12 LIMIT 1) x)
                    END,
                    (SELECT max(h.sequence) FROM history h WHERE h.shard = $1 AND h.channel = c.id
                        AND h.instance = u.instance AND h.expiry_ms > $12)
                FROM unnest($2::text[], $3::int8[], $4::text[], $5::int8[], $6::int8[], $7::int8[],
                    $8::text[], $9::int8[], $10::text[], $11::bytea[]) WITH ORDINALITY
                    u (app, type, name, time, instance, sequence, publisher, kind, custom_type, payload, i)
                LEFT JOIN channels c ON c.shard = $1 AND c.app = u.app AND c.type = u.type
                    AND c.name = u.name
                ORDER BY u.i
                """, .integer(shard), .texts(messages.map(\.channel.appID)),
                .integers(messages.map { Int64($0.channel.type.rawValue) }),
                .texts(messages.map(\.channel.name)), .numbers(contents.map(\.time.number)),
                .numbers(messages.map { $0.origin?.instance }),
                .numbers(messages.map { $0.origin?.sequence }), .texts(contents.map(\.publisher)),
                .integers(contents.map { Int64($0.type.rawValue) }), .texts(contents.map(\.customType)),
                .blobs(messages.map { $0.origin == nil ? $0.content.payload : nil }), .number(expired)),
            PostgresStatement(
                """
                SELECT u.i, (SELECT max(h.time) FROM history h
                    WHERE h.shard = $1 AND h.channel = c.id AND h.expiry_ms > $5)
                FROM unnest($2::text[], $3::int8[], $4::text[]) WITH ORDINALITY u (app, type, name, i)
                JOIN channels c ON c.shard = $1 AND c.app = u.app AND c.type = u.type AND c.name = u.name
                """, .integer(shard), .texts(channels.map(\.appID)),
                .integers(channels.map { Int64($0.type.rawValue) }), .texts(channels.map(\.name)),
                .number(expired)),
        ]
    }

    func take(_ rows: some Collection<PostgresRows>) -> HistoryLookup {
        var lookup = HistoryLookup()
        for channel in channels { lookup.take(newest: 0, of: channel) }
        let rows = Array(rows)
        for (message, row) in zip(messages, rows[0]) {
            lookup.take(
                message, isKept: row.integer(1) > 0, isTaken: row.integer(0) > 0,
                last: row.optionalNumber(2) ?? 0)
        }
        for row in rows[1] { lookup.take(newest: row.number(1), of: channels[Int(row.integer(0)) - 1]) }
        return lookup
    }
}

/// The question which ids channels have.
struct ChannelSearch {
    private let channels: [ChannelKey]
    let statement: PostgresStatement

    init(_ channels: [ChannelKey], shard: Int64) {
        self.channels = channels
        statement = PostgresStatement(
            """
            SELECT u.i, c.id, c.metadata_revision
            FROM unnest($2::text[], $3::int8[], $4::text[]) WITH ORDINALITY u (app, type, name, i)
            JOIN channels c ON c.shard = $1 AND c.app = u.app AND c.type = u.type AND c.name = u.name
            """, .integer(shard), .texts(channels.map(\.appID)),
            .integers(channels.map { Int64($0.type.rawValue) }), .texts(channels.map(\.name)))
    }

    func take(_ rows: PostgresRows) -> [(channel: ChannelKey, id: Int64, revision: Int64)] {
        rows.map { (channels[Int($0.integer(0)) - 1], $0.integer(1), $0.integer(2)) }
    }
}

extension PostgresRow {
    /// Reads app, type and name from three columns, beginning with this one.
    func channelKey(_ column: Int32) -> ChannelKey {
        ChannelKey(
            appID: text(column), type: ChannelType(rawValue: Int(integer(column + 1))) ?? .none,
            name: text(column + 2))
    }

    /// Reads a lock from five columns. Its owner is away.
    func lock(_ column: Int32) -> LockTable.Lock {
        var lock = LockTable.Lock(name: text(column), ttlSeconds: UInt32(clamping: integer(column + 1)))
        if !isNull(column + 2) {
            lock.owner = .init(
                user: text(column + 2), instance: number(column + 3), presence: .away(until: 0))
        }
        lock.token = number(column + 4)
        return lock
    }

    /// Reads an item of metadata from six columns.
    func metadata(_ column: Int32) -> MetadataSet.Entry {
        let item = MetadataItem(
            key: String(decoding: blob(column + 1), as: UTF8.self),
            value: String(decoding: blob(column + 2), as: UTF8.self), revision: integer(column + 3),
            updatedMilliseconds: number(column + 4), author: text(column + 5))
        return .init(place: integer(column), item: item)
    }

    /// Reads a ban from seven columns.
    func ban(_ column: Int32) -> Ban {
        Ban(
            appID: text(column), userID: text(column + 1), untilMilliseconds: number(column + 2),
            reason: String(decoding: blob(column + 4), as: UTF8.self), endsSession: true,
            sinceMilliseconds: number(column + 5),
            by: String(decoding: blob(column + 6), as: UTF8.self), tokensBeforeSeconds: number(column + 3)
        )
    }

    /// Reads epoch and offset from two columns.
    func position(_ column: Int32) -> StreamPosition {
        StreamPosition(epoch: number(column), offset: number(column + 1))
    }

    /// Reads what is known of a channel or user with events from five columns.
    func eventKey(_ column: Int32) -> EventKey {
        EventKey(
            number: number(column), offset: number(column + 1), members: Int(integer(column + 2)),
            isOccupied: integer(column + 3) != 0, due: optionalNumber(column + 4))
    }

    /// Nil for what a newer version has written.
    func appEvent(_ epochs: EventEpochs) -> AppEvent? {
        guard let type = AppEventType(rawValue: Int(integer(1))) else { return nil }
        return AppEvent(
            position: epochs.position(number(0)), type: type,
            keyType: ChannelType(rawValue: Int(integer(2))) ?? .none, key: text(3), number: number(4),
            timeMilliseconds: number(5), body: blob(6))
    }
}

extension LockTable {
    mutating func take(_ lock: Lock) { locks[lock.name] = lock }
}
