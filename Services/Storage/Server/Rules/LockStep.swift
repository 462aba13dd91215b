import RTMModel
import RTMWire

/// What one call has caused in a lock table, in order. Each transition is reported once (K-17).
struct LockStep: Sendable {
    /// A wait that has ended.
    struct Settled: Sendable, Hashable {
        let ticket: UInt64
        /// The link of the edge that gets the report.
        let link: UInt64
        /// The fencing token, or why the waiter doesn't get the lock.
        let outcome: Result<UInt64, RTMError>
    }

    /// The counter of tokens and revisions. It only grows, over all channels and restarts.
    private(set) var counter: UInt64
    private(set) var events: [LockEvent] = []
    private(set) var settled: [Settled] = []

    init(counter: UInt64) { self.counter = counter }

    mutating func nextToken() -> UInt64 {
        counter += 1
        return counter
    }

    mutating func happened(_ kind: LockEvent.Kind, _ lock: LockDetail) {
        events.append(LockEvent(kind, lock, revision: nextToken()))
    }

    mutating func settle(_ waiter: LockTable.Waiter, _ outcome: Result<UInt64, RTMError>) {
        settled.append(
            Settled(ticket: waiter.ticket, link: waiter.claimant.place.link, outcome: outcome))
    }
}
