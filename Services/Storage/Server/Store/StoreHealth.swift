/// Whether the store can keep what it is given. After a failure only a proof clears it: a group of writes
/// that happens to need no room also succeeds in a database that is full. A store that another node has is
/// well.
struct StoreHealth {
    private static let proofIntervalMilliseconds: UInt64 = 1_000

    private(set) var failure: StoreFailure?
    /// When the store is to be proven, on the steady clock; nil while it is well.
    private(set) var proofDeadline: UInt64?

    func isProofDue(_ now: StorageNow) -> Bool { proofDeadline.map { $0 <= now.steady } ?? false }

    /// A group of writes failed.
    ///
    /// - Returns: whether the failure is news.
    mutating func failed(_ failure: StoreFailure, _ now: StorageNow) -> Bool {
        change(to: failure, now)
    }

    /// A proof was made, and it failed unless the failure is nil.
    ///
    /// - Returns: whether the outcome is news.
    mutating func proven(_ failure: StoreFailure?, _ now: StorageNow) -> Bool {
        proofDeadline = nil
        return change(to: failure, now)
    }

    private mutating func change(to failure: StoreFailure?, _ now: StorageNow) -> Bool {
        let failure = failure?.kind == .fenced ? nil : failure
        proofDeadline = failure.map { _ in proofDeadline ?? now.steady + Self.proofIntervalMilliseconds }
        defer { self.failure = failure }
        return failure != self.failure
    }
}
