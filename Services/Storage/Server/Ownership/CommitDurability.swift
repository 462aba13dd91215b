/// What an acknowledgement means over a PostgreSQL: who has a write by then, as the server is set.
///
/// It is judged by the settings alone. Which standbys are connected only a role with more rights may see
/// (`pg_stat_replication`), and it changes nothing about the meaning: a commit waits for those that are away.
///
/// Pure.
package struct CommitDurability: Sendable, Hashable {
    /// `synchronous_commit` of a connection that writes.
    let synchronousCommit: String
    /// For how many standbys a commit waits.
    let standbys: Int
    /// `fsync`: whether the server has the disk take what it writes.
    let isSynced: Bool

    /// - Parameters:
    ///   - synchronousCommit: the value of `synchronous_commit`.
    ///   - standbyNames: that of `synchronous_standby_names`: names, of which one has to answer, or
    ///     `FIRST n (…)`, `ANY n (…)` or `n (…)`. Empty: no standby is waited for.
    ///   - fsync: that of `fsync`.
    package init(synchronousCommit: String, standbyNames: String, fsync: String) {
        self.synchronousCommit = synchronousCommit
        isSynced = fsync == "on"
        let waits = ["on", "remote_write", "remote_apply"].contains(synchronousCommit)
        standbys = waits ? Self.count(standbyNames) : 0
    }

    private static func count(_ names: String) -> Int {
        let words = names.split { " \t\n(".contains($0) }
        guard let first = words.first else { return 0 }
        guard names.contains("(") else { return 1 }
        let isWord = ["FIRST", "ANY"].contains(first.uppercased())
        return words.dropFirst(isWord ? 1 : 0).first.flatMap { Int($0) } ?? 1
    }

    /// For an operator.
    var sentence: String {
        let server =
            synchronousCommit == "off"
            ? "the server has it in memory" : "the server has it \(isSynced ? "on disk" : "in memory")"
        let setting = isSynced ? "" : "fsync=off, "
        return "a write is acknowledged when \(server)\(others) (\(setting)synchronous_commit="
            + "\(synchronousCommit))"
    }

    private var others: String {
        guard standbys > 0 else { return ", and no standby is waited for" }
        let having = standbys == 1 ? "1 synchronous standby has" : "\(standbys) synchronous standbys have"
        return switch synchronousCommit {
        case "remote_write": " and \(having) received it"
        case "remote_apply": " and \(having) applied it"
        default: " and \(having) it on disk"
        }
    }
}
