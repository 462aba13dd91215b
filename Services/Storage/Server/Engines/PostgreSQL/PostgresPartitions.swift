#if PostgreSQL
    /// A part of a table that is made before it is needed, and dropped as a whole.
    enum PostgresPartition: Sendable, Hashable {
        /// What is committed in an hour, since 1970.
        case batches(hour: Int64)
        case outbox(hour: Int64)
        /// Messages that expire in a week, since 1970.
        case history(week: Int64)

        static let weekMilliseconds: Int64 = 604_800_000

        /// The partition of a message; nil for one that never expires, whose partition is there always.
        static func history(expiring expiry: UInt64?) -> Self? {
            expiry.map { .history(week: Int64(clamping: $0) / weekMilliseconds) }
        }

        var name: String {
            switch self {
            case .batches(let hour): "batches_\(hour)"
            case .outbox(let hour): "outbox_\(hour)"
            case .history(let week): "history_\(week)"
            }
        }

        init?(name: Substring) {
            let parts = name.split(separator: "_")
            guard parts.count == 2, let number = Int64(parts[1]) else { return nil }
            switch parts[0] {
            case "batches": self = .batches(hour: number)
            case "outbox": self = .outbox(hour: number)
            case "history": self = .history(week: number)
            default: return nil
            }
        }

        /// The table that it is a part of, and the first number that it has and the first that it hasn't.
        fileprivate var range: (table: String, from: Int64, to: Int64) {
            switch self {
            case .batches(let hour): ("batches", hour, hour + 1)
            case .outbox(let hour): ("outbox", hour, hour + 1)
            case .history(let week):
                ("history", week * Self.weekMilliseconds, (week + 1) * Self.weekMilliseconds)
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

        /// The hours before this one of which nothing is needed any more. The last batch of a shard says what
        /// was committed, however old it is.
        ///
        /// - Parameter lastBatchHour: of the shard in which the last batch is the oldest.
        func outdated(hour: Int64, lastBatchHour: Int64) -> [PostgresPartition] {
            known.filter { partition in
                switch partition {
                case .batches(let past): past < min(hour, lastBatchHour) - 1
                case .outbox(let past): past < hour - 1
                case .history: false
                }
            }
        }

        /// Drops a partition. One of the outbox stays while an event of it may wait. What somebody reads isn't
        /// waited for: it is tried again an hour later.
        mutating func drop(
            _ partition: PostgresPartition, _ connection: PostgresConnection
        ) throws(PostgresFailure) {
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
            } catch {
                guard connection.isUsable else { throw error }
            }
        }
    }
#endif
