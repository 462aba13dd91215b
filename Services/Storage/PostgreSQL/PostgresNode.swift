import Dispatch
import Foundation
import RTMServiceKit
import RTMStorageServer
import Synchronization

/// This node among those that share a database: a thread of its own keeps the node's place in the table
/// `nodes`, looks who lives and who has which shard, and says which shards this node wants. As long as it
/// keeps the place, no other node takes a shard of this one. Only the clock of the database judges that.
///
/// The lease is about liveness. What is kept depends on the term alone, so a node that stands still
/// beyond its lease can do no harm when it wakes. So nothing waits for the disk here, nor for a standby.
final class PostgresNode: StorageMembership {
    /// How long a node counts as living after it was seen, in milliseconds.
    private static let lease: UInt64 = 2_000
    private static let renewalInterval: UInt64 = 500
    /// How often the server is asked what an acknowledgement means, in milliseconds.
    private static let durabilityInterval: UInt64 = 5_000

    private enum Order {
        case keep, leave, end
    }

    /// Names this process among all that own a shard or have owned it.
    let instance: String
    /// By shard.
    let claims: [ShardClaim]
    private let options: PostgresOptions
    private let order = Mutex(Order.keep)
    private let wake = DispatchSemaphore(value: 0)
    private let hasLeft = DispatchSemaphore(value: 0)
    /// Whether another node lived when this one had left.
    private let others = Atomic(false)
    private let ended = DispatchGroup()

    init(_ options: PostgresOptions) {
        self.options = options
        instance = "\(options.node) \(UUID().uuidString)"
        claims = (0..<options.shards).map { _ in ShardClaim() }
    }

    /// Makes the tables, and takes the place also from an earlier process of the node, which has ended.
    func start(_ report: @escaping @Sendable (StorageNodes) -> Void) throws(StoreFailure) {
        let connection: PostgresConnection
        do throws(PostgresFailure) { connection = try connect() } catch {
            throw StoreFailure(error, doing: "connecting")
        }
        try PostgresSchema(connection: connection, shards: options.shards).migrate()
        var watch = Watch(
            ownership: ShardOwnership(
                of: options.node, instance: instance, shards: options.shards, pause: 2 * Self.lease),
            report: report)
        do throws(PostgresFailure) {
            try renew(connection, &watch, isFirst: true)
            try look(connection, &watch)
        } catch {
            throw StoreFailure(error, doing: "taking a lease")
        }
        // Safety: the two are used by the thread alone from here on.
        nonisolated(unsafe) let handed = (connection: connection, watch: watch)
        ended.enter()
        let thread = Thread { [self] in
            keep(handed.connection, handed.watch)
            ended.leave()
        }
        thread.name = "storage lease"
        thread.start()
    }

    func leave() -> Bool {
        give(.leave)
        return hasLeft.wait(timeout: .now() + .seconds(2)) == .success
            && others.load(ordering: .relaxed)
    }

    func end() {
        give(.end)
        ended.wait()
    }

    private func give(_ order: Order) {
        self.order.withLock { $0 = order }
        wake.signal()
    }

    // MARK: The thread

    /// What the thread knows.
    private struct Watch {
        var ownership: ShardOwnership
        let report: @Sendable (StorageNodes) -> Void
        /// When the lease was renewed last.
        var renewed: UInt64 = 0
        var isLeaving = false
        var hasLeft = false
        /// Why this node has no place; nil if it has one.
        var failure: String?
        /// What an acknowledgement means; nil if the server has to be asked.
        var durability: CommitDurability?
        var durabilityRead: UInt64 = 0
        var reported: StorageNodes?
        var interval = ShardOwnership.usualInterval

        mutating func report(_ nodes: StorageNodes) {
            guard nodes != reported else { return }
            reported = nodes
            report(nodes)
        }
    }

    private var now: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000 }

    private func keep(_ first: PostgresConnection, _ begun: Watch) {
        var connection: PostgresConnection? = first
        var watch = begun
        while true {
            _ = wake.wait(timeout: .now() + .milliseconds(Int(watch.interval)))
            let order = order.withLock { $0 }
            if order == .end { break }
            do throws(PostgresFailure) {
                if connection == nil {
                    connection = try connect()
                    // It may be another server.
                    watch.durability = nil
                }
                guard let usable = connection else { continue }
                let leaves = order == .leave && !watch.isLeaving
                if leaves || now >= watch.renewed + Self.renewalInterval {
                    watch.isLeaving = order == .leave
                    try renew(usable, &watch, isFirst: false)
                }
                try look(usable, &watch)
            } catch {
                connection?.close()
                connection = nil
                watch.interval = ShardOwnership.usualInterval
                watch.report(StorageNodes(failure: "the lease can't be renewed: \(error.reason)"))
            }
        }
        // Without it the lease ends by itself.
        let place: [PostgresValue] = [.text(options.node), .text(instance)]
        _ = try? connection?.run(
            [PostgresStatement("DELETE FROM nodes WHERE name = $1 AND instance = $2", values: place)],
            within: options.timeout)
        connection?.close()
    }

    /// A lease may be lost where a server crashes. It is set here, so that what the server would have a
    /// connection do can still be asked.
    private func connect() throws(PostgresFailure) -> PostgresConnection {
        let connection = try PostgresConnection(options)
        _ = try connection.run(
            [PostgresStatement("SET synchronous_commit = off")], within: options.timeout)
        return connection
    }

    /// Where callers reach this node, as HOST:PORT; empty if the others needn't name it, or only this
    /// machine would reach it.
    private func address(_ connection: PostgresConnection) -> String {
        guard var place = options.address else { return "" }
        if place.isEverywhere {
            guard let host = connection.ownHost else { return "" }
            place.host = host
        }
        return "\(place)"
    }

    private func renew(
        _ connection: PostgresConnection, _ watch: inout Watch, isFirst: Bool
    ) throws(PostgresFailure) {
        watch.renewed = now
        let rows = try connection.run(
            [
                PostgresStatement(
                    """
                    INSERT INTO nodes AS n (name, instance, address, leaving, lease_end)
                    VALUES ($1, $2, $3, $6, clock_timestamp() + $4 * interval '1 millisecond')
                    ON CONFLICT (name) DO UPDATE SET instance = excluded.instance,
                        address = excluded.address, leaving = excluded.leaving,
                        lease_end = excluded.lease_end
                    WHERE $5 = 1 OR n.instance = $2 OR n.lease_end < clock_timestamp()
                    RETURNING name
                    """, .text(options.node), .text(instance), .text(address(connection)),
                    .number(Self.lease), .integer(isFirst ? 1 : 0), .integer(watch.isLeaving ? 1 : 0)),
                PostgresStatement(
                    "DELETE FROM nodes WHERE lease_end < clock_timestamp() - interval '1 hour'"),
            ], within: options.timeout)
        watch.failure =
            rows[0].count > 0 ? nil : "another process has the place of this node: \(options.node)"
    }

    /// What connections that write have, whatever this one has.
    private func durability(
        _ connection: PostgresConnection
    ) throws(PostgresFailure) -> CommitDurability? {
        let rows = try connection.run(
            [
                PostgresStatement(
                    """
                    SELECT reset_val FROM pg_settings
                    WHERE name IN ('fsync', 'synchronous_commit', 'synchronous_standby_names')
                    ORDER BY name
                    """)
            ], within: options.timeout)[0]
        let values = rows.map { $0.text(0) }
        guard values.count == 3 else { return nil }
        return CommitDurability(
            synchronousCommit: values[1], standbyNames: values[2], fsync: values[0])
    }

    /// Looks who lives and who has what, and wants shards accordingly.
    private func look(_ connection: PostgresConnection, _ watch: inout Watch) throws(PostgresFailure) {
        if watch.durability == nil || now >= watch.durabilityRead + Self.durabilityInterval {
            watch.durabilityRead = now
            watch.durability = try durability(connection)
        }
        let rows = try connection.run(
            [
                PostgresStatement(
                    """
                    SELECT name, instance, address, leaving FROM nodes WHERE lease_end > clock_timestamp()
                    ORDER BY name
                    """), PostgresStatement("SELECT owner FROM shards ORDER BY shard"),
            ], within: options.timeout)
        let nodes = StorageNodes(
            living: rows[0].map {
                .init(
                    name: $0.text(0), instance: $0.text(1), address: $0.text(2),
                    isLeaving: $0.integer(3) != 0)
            }, owners: rows[1].map { $0.text(0) }, durability: watch.durability, failure: watch.failure)
        let decision = watch.ownership.learned(nodes, now: now)
        for (claim, isWanted) in zip(claims, decision.wanted) { claim.set(isWanted) }
        watch.interval = decision.interval
        if decision.hasLeft, !watch.hasLeft {
            watch.hasLeft = true
            others.store(nodes.living.contains { !$0.isLeaving }, ordering: .relaxed)
            hasLeft.signal()
        }
        watch.report(nodes)
    }
}
