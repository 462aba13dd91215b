#if PostgreSQL
    import Dispatch
    import Foundation

    /// This node's place in the table `nodes`, which a thread of its own keeps. As long as it does, no other
    /// node takes a shard of this one. Only the clock of the database judges that.
    ///
    /// The lease is about liveness. What is kept depends on the term alone, so a node that stands still
    /// beyond its lease can do no harm when it wakes. So nothing waits for the disk here, nor for a standby.
    final class PostgresLease: Sendable {
        /// How long a node counts as living after it was seen, in milliseconds.
        private static let duration: Int64 = 2_000
        private static let interval = DispatchTimeInterval.milliseconds(500)

        /// Names this process among all that own a shard or have owned it.
        let instance: String
        private let options: PostgresOptions
        private let report: @Sendable (StorageNodes) -> Void
        private let stop = DispatchSemaphore(value: 0)
        private let ended = DispatchGroup()

        init(
            _ options: PostgresOptions, instance: String, report: @escaping @Sendable (StorageNodes) -> Void
        ) {
            var options = options
            options.isLease = true
            self.options = options
            self.instance = instance
            self.report = report
        }

        /// Takes the place of this node, also from an earlier process of it, which has ended.
        func start() throws(PostgresFailure) {
            let connection = try PostgresConnection(options)
            report(try renew(connection, isFirst: true))
            // Safety: the connection is used by the thread alone from here on.
            nonisolated(unsafe) let handed = connection
            ended.enter()
            let thread = Thread { [self] in
                keep(handed)
                ended.leave()
            }
            thread.name = "storage lease"
            thread.start()
        }

        /// Gives the place up.
        func end() {
            stop.signal()
            ended.wait()
        }

        private func keep(_ first: PostgresConnection) {
            var connection: PostgresConnection? = first
            while stop.wait(timeout: .now() + Self.interval) == .timedOut {
                do throws(PostgresFailure) {
                    if connection == nil { connection = try PostgresConnection(options) }
                    if let connection { report(try renew(connection, isFirst: false)) }
                } catch {
                    connection?.close()
                    connection = nil
                    report(StorageNodes(failure: "the lease can't be renewed: \(error.reason)"))
                }
            }
            if let connection {
                // Without it the lease ends by itself.
                let place: [PostgresValue] = [.text(options.node), .text(instance)]
                _ = try? connection.run(
                    [PostgresStatement("DELETE FROM nodes WHERE name = $1 AND instance = $2", values: place)],
                    within: options.timeout)
            }
            connection?.close()
        }

        private func renew(
            _ connection: PostgresConnection, isFirst: Bool
        ) throws(PostgresFailure) -> StorageNodes {
            let rows = try connection.run(
                [
                    PostgresStatement(
                        """
                        INSERT INTO nodes AS n (name, instance, address, lease_end)
                        VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
                        ON CONFLICT (name) DO UPDATE SET instance = excluded.instance,
                            address = excluded.address, lease_end = excluded.lease_end
                        WHERE $5 = 1 OR n.instance = $2 OR n.lease_end < clock_timestamp()
                        RETURNING name
                        """, .text(options.node), .text(instance), .text(options.address),
                        .integer(Self.duration), .integer(isFirst ? 1 : 0)),
                    PostgresStatement(
                        """
                        SELECT address FROM nodes WHERE lease_end > clock_timestamp() AND address <> ''
                        ORDER BY address
                        """),
                    PostgresStatement(
                        """
                        SELECT CASE n.address WHEN '' THEN n.name ELSE n.address END
                        FROM shards s JOIN nodes n ON n.instance = s.owner WHERE s.shard = 0
                        """),
                    PostgresStatement(
                        "DELETE FROM nodes WHERE lease_end < clock_timestamp() - interval '1 hour'"),
                ], within: options.timeout)
            return StorageNodes(
                addresses: rows[1].map { $0.text(0) }, leader: rows[2].first?.text(0) ?? "",
                failure: rows[0].count > 0
                    ? nil : "another process has the place of this node: \(options.node)")
        }
    }
#endif
