/// What the owner of a shard knows of the groups in the database: the term in which it writes them, and the
/// number of the last one. It judges what the database says of that after a commit in doubt, and behind a new
/// connection.
///
/// Pure.
struct ShardGroups {
    /// What became of a group whose commit was in doubt.
    enum Settlement: Equatable {
        case kept
        case notKept
        /// The server is one that lacks groups of before.
        case wentBack
    }

    /// 0 before the first term.
    private(set) var term: Int64 = 0
    private(set) var last: Int64 = 0
    /// Whether `last` is the last group of this term; not while a term is being taken, nor while a commit is
    /// in doubt.
    private(set) var isLastKnown = false

    /// The number of the next group.
    var next: Int64 { last + 1 }

    /// A term is about to be taken, or a commit is in doubt.
    mutating func forgetLast() { isLastKnown = false }

    mutating func take(term: Int64) { self.term = term }

    /// In a new term the database was asked for its last group.
    mutating func begin(after last: Int64) { (self.last, isLastKnown) = (last, true) }

    /// The next group was kept.
    mutating func keep() { last += 1 }

    /// Whether the server behind a new connection, whose last group this is, has all that this owner has
    /// committed. If it hasn't, nothing is known until the next term.
    mutating func isComplete(_ found: Int64) -> Bool {
        guard isLastKnown else { return true }
        isLastKnown = found >= last
        return isLastKnown
    }

    /// The commit of the next group is in doubt, and in a term behind it the database was asked for its last
    /// group.
    mutating func settle(_ found: Int64) -> Settlement {
        guard found >= last else { return .wentBack }
        defer { begin(after: found) }
        return found == next ? .kept : .notKept
    }
}
