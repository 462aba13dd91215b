/// A part of a table that is made before it is needed, and dropped as a whole.
enum PostgresPartition: Sendable, Hashable {
    /// What is committed in an hour, since 1970.
    case batches(hour: Int64)
    case outbox(hour: Int64)
    /// Messages that expire on a day, or in a week, since 1970.
    case historyOfDay(Int64)
    case historyOfWeek(Int64)

    static let dayMilliseconds: Int64 = 86_400_000
    /// Messages that expire up to so many days ahead have partitions of a day.
    private static let daysAhead: Int64 = 31

    /// The partition of messages that expire on a day.
    ///
    /// A partition of a day ends soon after what it has, and there may be few partitions, because each
    /// search visits all of them. So what is kept for longer than a month lies in weeks. A week that
    /// comes closer stays one, and then has the messages of all apps. Limit: 87 partitions.
    ///
    /// - Parameters:
    ///   - today: the number of the present day.
    ///   - known: the partitions that are there. A week in which a day has one gets no other.
    static func history(expiringOn day: Int64, today: Int64, known: Set<Self>) -> Self {
        let week = day / 7
        if known.contains(.historyOfWeek(week)) { return .historyOfWeek(week) }
        let hasDay = (week * 7..<week * 7 + 7).contains { known.contains(.historyOfDay($0)) }
        return week * 7 > today + daysAhead && !hasDay ? .historyOfWeek(week) : .historyOfDay(day)
    }

    var name: String {
        switch self {
        case .batches(let hour): "batches_\(hour)"
        case .outbox(let hour): "outbox_\(hour)"
        case .historyOfDay(let day): "history_day_\(day)"
        case .historyOfWeek(let week): "history_week_\(week)"
        }
    }

    init?(name: Substring) {
        guard let end = name.lastIndex(of: "_"), let number = Int64(name[end...].dropFirst()) else {
            return nil
        }
        switch name[..<end] {
        case "batches": self = .batches(hour: number)
        case "outbox": self = .outbox(hour: number)
        case "history_day": self = .historyOfDay(number)
        case "history_week": self = .historyOfWeek(number)
        default: return nil
        }
    }

    /// The table that it is a part of, and the first number that it has and the first that it hasn't.
    fileprivate var range: (table: String, from: Int64, to: Int64) {
        switch self {
        case .batches(let hour): ("batches", hour, hour + 1)
        case .outbox(let hour): ("outbox", hour, hour + 1)
        case .historyOfDay(let day):
            ("history", day * Self.dayMilliseconds, (day + 1) * Self.dayMilliseconds)
        case .historyOfWeek(let week):
            ("history", week * 7 * Self.dayMilliseconds, (week + 1) * 7 * Self.dayMilliseconds)
        }
    }
}

extension PostgresPartition {
    /// The condition under which nothing is needed of one that is outdated.
    fileprivate var isOver: String {
        guard case .outbox = self else { return "true" }
        return """
            NOT EXISTS (SELECT 1 FROM heliograph.shards s
                WHERE (SELECT max(sequence) FROM heliograph.\(name) o WHERE o.shard = s.shard)
                    > coalesce((SELECT announced FROM heliograph.batches b WHERE b.shard = s.shard
                        ORDER BY batch DESC LIMIT 1), 0))
            """
    }
}

/// The partitions that are there. The owner of shard 0 makes them some hours ahead, and drops those that
/// are over. Where one is missing, whoever needs it makes it.
struct PostgresPartitions {
    /// How many hours ahead they are made.
    private static let hoursAhead: Int64 = 3
    private static let attempts = 20
    private static let timeout = Duration.seconds(10)

    private(set) var known: Set<PostgresPartition> = []

    /// What a group needs, and for the owner of shard 0 what is needed soon.
    static func wanted(hour: Int64, ofShard shard: Int64) -> Set<PostgresPartition> {
        let last = shard == 0 ? hour + hoursAhead : hour
        return Set((hour...last).flatMap { [.batches(hour: $0), .outbox(hour: $0)] })
    }

    /// Where messages lie that expire on these days.
    func history(expiringOn days: Set<Int64>, hour: Int64) -> Set<PostgresPartition> {
        Set(days.map { .history(expiringOn: $0, today: hour / 24, known: known) })
    }

    mutating func load(_ connection: PostgresConnection) throws(PostgresFailure) {
        let statement = PostgresStatement(
            """
            SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent IN ('heliograph.batches'::regclass, 'heliograph.outbox'::regclass,
                'heliograph.history'::regclass)
            """)
        let names = try connection.run([statement], within: Self.timeout)[0]
        known = Set(names.compactMap { PostgresPartition(name: $0.text(0)[...]) })
    }

    /// Makes what is missing. Another node may do the same at the same time.
    ///
    /// A table is made first and attached then, because that waits for nobody who only reads: making it
    /// as a partition would wait for a dump, and everybody behind it.
    mutating func make(
        _ wanted: Set<PostgresPartition>, _ connection: PostgresConnection
    ) throws(PostgresFailure) {
        guard !wanted.isSubset(of: known) else { return }
        for attempt in 1...Self.attempts {
            let missing = wanted.subtracting(known).sorted { $0.name < $1.name }
            guard !missing.isEmpty else { return }
            do throws(PostgresFailure) {
                try connection.execute(missing.map(Self.making).joined(), within: Self.timeout)
                known.formUnion(missing)
            } catch {
                guard error.isCollision, attempt < Self.attempts else { throw error }
                try load(connection)
            }
        }
    }

    private static func making(_ partition: PostgresPartition) -> String {
        let range = partition.range
        return """
            CREATE TABLE heliograph.\(partition.name) (LIKE heliograph.\(range.table) INCLUDING DEFAULTS);
            ALTER TABLE heliograph.\(range.table) ATTACH PARTITION heliograph.\(partition.name)
                FOR VALUES FROM (\(range.from)) TO (\(range.to));

            """
    }

    /// The hours before this one of which nothing is needed any more, and the history that has expired.
    /// The last batch of a shard says what was committed, however old it is.
    ///
    /// - Parameters:
    ///   - lastBatchHour: of the shard in which the last batch is the oldest.
    ///   - expiryClock: of the shard in which that has come the least far, in milliseconds (UTC).
    func outdated(hour: Int64, lastBatchHour: Int64, expiryClock: Int64) -> [PostgresPartition] {
        known.filter { partition in
            switch partition {
            case .batches(let past): past < min(hour, lastBatchHour) - 1
            case .outbox(let past): past < hour - 1
            case .historyOfDay, .historyOfWeek: partition.range.to <= expiryClock
            }
        }
    }

    /// Drops a partition. One of the outbox stays while an event of it may wait. What somebody reads
    /// isn't waited for.
    ///
    /// - Returns: whether it could be looked at; false if somebody reads it.
    @discardableResult
    mutating func drop(
        _ partition: PostgresPartition, _ connection: PostgresConnection
    ) throws(PostgresFailure) -> Bool {
        let name = "heliograph.\(partition.name)"
        do throws(PostgresFailure) {
            try connection.execute(
                """
                BEGIN; SET LOCAL lock_timeout = '100ms';
                DO $$ BEGIN
                    LOCK TABLE \(name) IN ACCESS EXCLUSIVE MODE;
                    IF \(partition.isOver) THEN
                        DROP TABLE \(name);
                    END IF;
                END $$;
                COMMIT
                """, within: Self.timeout)
            known.remove(partition)
            return true
        } catch {
            guard connection.isUsable else { throw error }
            return false
        }
    }
}
