/// How far the SQL inbox was drained: the table into which apps publish inside their own transactions
/// (docs/decisions/0030-storage-on-postgresql.md, "Publishing from SQL").
///
/// A batch is what one snapshot of the database sees and the one before didn't. So a transaction that takes
/// long delays its own messages and no others. Within a batch the order is that of the ids, and a batch that
/// is large is read in pages.
///
/// Snapshots say which transactions have ended, and an index of transactions is in no order that a page could
/// follow. So what is new is looked for by ids, above a `floor`, and only the few transactions that were
/// running at the last snapshot are looked for by their numbers.
///
/// Pure.
package struct InboxCursor: Sendable, Hashable {
    /// A batch of which pages are left.
    package struct Open: Sendable, Hashable {
        /// The batch is what this snapshot sees.
        package let until: InboxSnapshot
        /// As `InboxCursor.floor`, for this snapshot.
        package let floor: Int64
        /// Rows up to this id were drained.
        package var after: Int64

        package init(until: InboxSnapshot, floor: Int64, after: Int64) {
            (self.until, self.floor, self.after) = (until, floor, after)
        }
    }

    /// The number of the last batch or page that was kept.
    package private(set) var number: Int64
    /// What this snapshot sees was drained.
    package private(set) var before: InboxSnapshot
    /// Transactions that are newer than `before` have only greater ids than this one.
    package private(set) var floor: Int64
    package private(set) var open: Open?
    /// The floor of a snapshot that is taken now.
    ///
    /// The function takes a number for its transaction first, and then an id. A snapshot doesn't count
    /// transactions that run and are newer than all that have ended, so their ids may be lower than the last
    /// id at its time. But it counts everything before a transaction of storage's own that has ended, and
    /// what is newer than that has greater ids than the last one before it.
    private var nextFloor: Int64

    package init(number: Int64, before: InboxSnapshot, floor: Int64, open: Open? = nil) {
        (self.number, self.before, self.floor, self.open) = (number, before, floor, open)
        nextFloor = floor
    }

    /// Rows above this id can be new, or be left of the open batch.
    package var after: Int64 { max(floor, open?.after ?? 0) }

    /// What one read has found.
    package struct Found: Sendable, Hashable {
        let snapshot: InboxSnapshot
        /// The last id that was given out before the snapshot.
        package let lastID: Int64
        /// The id of the last row of the page; nil if there was none.
        let lastRow: Int64?
        let hasMore: Bool

        package init(snapshot: InboxSnapshot, lastID: Int64, lastRow: Int64?, hasMore: Bool) {
            self.snapshot = snapshot
            self.lastID = lastID
            self.lastRow = lastRow
            self.hasMore = hasMore
        }
    }

    /// The cursor behind a page. It counts when it was kept in the transaction that keeps the page, or if
    /// there is nothing to keep.
    package func following(_ found: Found) -> InboxCursor {
        var next = self
        if found.hasMore, let last = found.lastRow {
            next.open = Open(
                until: open?.until ?? found.snapshot, floor: open?.floor ?? nextFloor, after: last)
        } else {
            next.before = open?.until ?? found.snapshot
            next.floor = open?.floor ?? nextFloor
            next.open = nil
        }
        if found.lastRow != nil {
            next.number += 1
            next.nextFloor = found.lastID
        }
        return next
    }
}

/// Which transactions had ended at one moment, in PostgreSQL's words: `xmin:xmax:xip,xip`.
///
/// Pure.
package struct InboxSnapshot: Sendable, Hashable {
    package let text: String

    package init(text: String) {
        self.text = text
    }

    /// The transactions before `xmax` that were still running.
    package var running: [String] {
        text.split(separator: ":", omittingEmptySubsequences: false).dropFirst(2).first.map {
            $0.split(separator: ",").map(String.init)
        } ?? []
    }

    /// As if the running ones had ended, too.
    package var withoutRunning: InboxSnapshot {
        let end = text.split(separator: ":", omittingEmptySubsequences: false).dropFirst().first ?? "1"
        return InboxSnapshot(text: "\(end):\(end):")
    }
}
