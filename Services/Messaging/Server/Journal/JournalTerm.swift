import RTMServiceLink
import RTMWire

/// The terms whose logs a term continues, the newest first. Servers that know nothing of each other give
/// terms that lie between those of each other, so the newest one alone doesn't say which are continued.
struct Lineage: Equatable {
    /// Limit: terms that are remembered. Whoever knows only an earlier one has been away for as many changes.
    static let countMax = 16

    private(set) var terms: [UInt64] = []

    init() {}

    /// As the head of the journal has it: numbers with spaces between them.
    init(_ text: String) {
        terms = text.split(separator: " ").compactMap { UInt64($0) }
    }

    var text: String { terms.map { String($0) }.joined(separator: " ") }

    mutating func continued(_ term: UInt64) {
        terms = [term] + terms.prefix(Self.countMax - 1)
    }
}

/// A term of a shard's leadership, as Redis gave it.
struct JournalTerm: Equatable {
    /// Grows with each change of the leader, and each time that the leader is reinstated.
    private(set) var term: UInt64
    /// The terms whose logs this one continues, the newest first; none if the logs are new.
    private(set) var lineage: Lineage
    /// The epoch of the first partition.
    private(set) var epoch: UInt64
    /// The key of `NameHash`, by which channels and clients are numbered; the next leader needs the same one.
    let secret: UInt64

    init(term: UInt64, lineage: Lineage = Lineage(), epoch: UInt64, secret: UInt64) {
        (self.term, self.lineage) = (term, lineage)
        (self.epoch, self.secret) = (epoch, secret)
    }

    /// Whether the term began with new logs.
    var hasNewLogs: Bool { lineage.terms.isEmpty }

    /// What callers receive.
    var announcement: LeaderPush {
        LeaderPush(
            term: term, follows: lineage.terms.first ?? term,
            lineage: lineage.terms.map(EarlierTerm.init(term:)))
    }

    /// The term of new logs that supersedes a later one; nil if this term continues that one's logs, or is
    /// it.
    func superseding(_ later: UInt64) -> JournalTerm? {
        guard !announcement.continues(later) else { return nil }
        var next = self
        next.term = max(term, later) + 1
        return next
    }

    /// The same leadership was reinstated under a later term.
    mutating func reinstated(_ later: UInt64) {
        lineage.continued(term)
        term = later
    }

    /// The term begins with new logs.
    mutating func startAnew(_ epoch: UInt64) { (self.epoch, lineage) = (epoch, Lineage()) }

    /// The new logs have begun under a later term.
    mutating func begunAnew(_ later: UInt64) { (term, lineage) = (later, Lineage()) }

    /// Clients in JavaScript read numbers exactly only below 2^53.
    static func epoch(from random: UInt64) -> UInt64 { random >> 13 | 1 }
}

/// How far a node has read the journal.
struct JournalPosition: Equatable {
    /// The leader token under which it was written.
    let leaderToken: UInt64
    /// The last batch.
    let last: UInt64
}

/// The newest state of the journal that Redis has shown to a node. A Redis that later has less than that has
/// gone back in time, whatever it says about itself. Pure.
struct NewestJournal {
    private var term: UInt64 = 0
    private var last: UInt64 = 0

    mutating func seen(term: UInt64, last: UInt64) {
        if (term, last) > (self.term, self.last) { (self.term, self.last) = (term, last) }
    }

    /// Whether the journal has had more than this.
    func isAhead(of term: UInt64, last: UInt64) -> Bool { (self.term, self.last) > (term, last) }
}
