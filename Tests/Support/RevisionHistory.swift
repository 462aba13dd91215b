/// The observations that many callers made of one metadata set, with the begin and the answer of each call by
/// one clock. Afterwards the question is whether all of them fit one order that agrees with real time (D-17).
///
/// The revisions state that order, so nothing has to be searched. It is enough that each revision has one
/// writer who compared with the revision before, that readers saw what its writer wrote, and that no call saw
/// less than what had been answered before it began, or anything that began after its end.
package struct RevisionHistory: Sendable {
    package enum Outcome: Sendable, Hashable {
        /// The write made this revision.
        case wrote(Int64)
        /// The present revision and value. A refused write learns only the revision.
        case saw(Int64, value: String?)
        /// Nobody knows whether the write took place.
        case unanswered
    }

    package struct Call: Sendable {
        package let begin: ContinuousClock.Instant
        package let end: ContinuousClock.Instant
        package let outcome: Outcome
        /// For a write: the revision that it compared with, and the value that it wanted to write.
        package let write: (compared: Int64, value: String)?

        package init(
            begin: ContinuousClock.Instant, end: ContinuousClock.Instant = .now, outcome: Outcome,
            write: (compared: Int64, value: String)? = nil
        ) {
            self.begin = begin
            self.end = end
            self.outcome = outcome
            self.write = write
        }

        /// What happened, as far as the caller knows.
        fileprivate var revision: Int64? {
            switch outcome {
            case .wrote(let revision), .saw(let revision, _): revision
            case .unanswered: nil
            }
        }

        fileprivate var written: Int64? { if case .wrote(let revision) = outcome { revision } else { nil } }
    }

    private var calls: [Call] = []

    package init() {}

    package mutating func add(_ call: Call) { calls.append(call) }

    /// The number of acknowledged writes.
    package var writtenCount: Int { calls.count { $0.written != nil } }

    /// The number of writes that were refused because of their revision.
    package var refusedCount: Int {
        calls.count { $0.write != nil && $0.revision != nil && $0.written == nil }
    }

    /// The observations that don't fit one order; empty if all fit.
    ///
    /// - Parameters:
    /// - start: the revision before all calls, and its value.
    /// - end: the revision after them.
    package func violations(from start: (revision: Int64, value: String), to end: Int64) -> [String] {
        var found: [String] = []
        var values = [start.revision: start.value]
        var begins: [Int64: ContinuousClock.Instant] = [:]
        for call in calls {
            guard let revision = call.written, let write = call.write else { continue }
            if values.updateValue(write.value, forKey: revision) != nil {
                found.append("the revision \(revision) has two writers")
            }
            if write.compared != revision - 1 {
                found.append("the revision \(revision) was written over \(write.compared)")
            }
            begins[revision] = call.begin
        }
        for revision in start.revision + 1..<max(start.revision, end) + 1 where values[revision] == nil {
            guard let call = unanswered(over: revision - 1) else {
                found.append("nobody has written the revision \(revision)")
                continue
            }
            begins[revision] = call
        }
        found += values.keys.filter { $0 > end }.map { "the revision \($0) is gone" }
        return found + misread(values) + outOfTime(begins, from: start.revision)
    }

    /// When the first write began that may have overwritten this revision.
    private func unanswered(over revision: Int64) -> ContinuousClock.Instant? {
        calls.filter { $0.outcome == .unanswered && $0.write?.compared == revision }.map(\.begin).min()
    }

    private func misread(_ values: [Int64: String]) -> [String] {
        calls.compactMap { call in
            guard case .saw(let revision, let value) = call.outcome else { return nil }
            if call.write?.compared == revision { return "a write over the present \(revision) was refused" }
            guard let value, let written = values[revision], written != value else { return nil }
            return "\"\(value)\" was read at the revision \(revision), which is \"\(written)\""
        }
    }

    /// Walks twice through time: a call must have seen everything that had been answered before it began, and
    /// can't have seen anything that began after its end.
    private func outOfTime(_ begins: [Int64: ContinuousClock.Instant], from start: Int64) -> [String] {
        var found: [String] = []
        let ended = calls.filter { $0.revision != nil }.sorted { $0.end < $1.end }
        var place = 0
        var newest = start
        for call in calls.sorted(by: { $0.begin < $1.begin }) {
            guard let revision = call.revision else { continue }
            while place < ended.count, ended[place].end < call.begin {
                newest = max(newest, ended[place].revision ?? newest)
                place += 1
            }
            if call.written == nil ? revision < newest : revision <= newest {
                found.append("the revision \(revision) came after \(newest) had been seen")
            }
        }
        for call in calls {
            guard let revision = call.revision, revision > start else { continue }
            if let begin = begins[revision], begin > call.end {
                found.append("the revision \(revision) was seen before its write began")
            }
        }
        return found
    }
}
