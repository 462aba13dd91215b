internal import CPQ
import RTMServiceKit

/// How a database is reached. The URL may name several hosts and all that libpq knows, such as
/// `sslmode=verify-full&sslrootcert=FILE`.
struct PostgresOptions: Sendable {
    var url: String
    /// Replaces the one in the URL, so that it can come from a file of secrets.
    var password: String?
    /// The name of the storage node. No two processes may have one at the same time.
    var node = "storage"
    /// Where callers reach the node; with 0.0.0.0 or [::], at the address with which it reaches the
    /// database. Nil if the others needn't name it.
    var address: HostPort?
    /// In how many shards the channels lie. The number is fixed when the database is made.
    var shards = 4
    /// Counts the open connections.
    var connections: Gauge?
    /// How long it may take to reach one of the hosts.
    var connectTimeout = Duration.seconds(5)
    /// How long a pipeline of statements may take. After it a commit is in doubt.
    var timeout = Duration.seconds(1)
    /// How long a commit may stay in doubt before callers are refused.
    var settleTimeout = Duration.seconds(3)

    /// What is wrong with the URL; nil if libpq can read it.
    static func problem(of url: String) -> String? {
        do throws(PostgresFailure) {
            _ = try PostgresOptions(url: url).parameters()
            return nil
        } catch {
            return error.reason
        }
    }
}

extension PostgresOptions {
    /// What stays as the URL has it, if it does.
    private static let usual = [
        // A machine that is gone is noticed after about ten seconds.
        "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3",
        "tcp_user_timeout": "10000", "application_name": "heliograph",
    ]

    /// What the engine depends on, whatever the URL says.
    ///
    /// A replica is never read, because a compare needs the newest state. An owner that stands still
    /// inside a transaction loses it, so that the next one doesn't wait for it. All statements look rows
    /// up by keys; a scan or a hash of a whole table would be chosen only by statistics that are wrong.
    private static let always = [
        "target_session_attrs": "read-write", "client_encoding": "UTF8",
        "options": "-c search_path=heliograph -c idle_in_transaction_session_timeout=1000 "
            + "-c client_min_messages=warning -c default_transaction_isolation=read\\ committed "
            + "-c client_connection_check_interval=1000 -c lock_timeout=900 "
            + "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off",
    ]

    /// The parameters for libpq by their names.
    func parameters() throws(PostgresFailure) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let parsed = PQconninfoParse(url, &message) else {
            defer { PQfreemem(message) }
            let words = message.map { String(cString: $0) } ?? "no memory"
            throw PostgresFailure(cause: .refused("22023"), reason: PostgresConnection.line(words))
        }
        defer { PQconninfoFree(parsed) }
        var found = Self.usual
        var option = parsed
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { found[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        if let password { found["password"] = password }
        found.merge(Self.always) { $1 }
        return found
    }
}
