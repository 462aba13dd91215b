/// Up to which revision the metadata, or the locks, of a subscription have been shown to the app.
///
/// A snapshot is true at a revision of its own, which need not be the place in the log where the subscription
/// goes on. Entries that the snapshot already contains may still come, and are passed over (D-45, K-17).
struct RevisionFloor: Sendable {
    private(set) var revision: UInt64 = 0

    /// A snapshot is always shown, even after a reconnect (S-21), and even if storage has begun anew below.
    mutating func begin(at snapshot: UInt64) { revision = snapshot }

    /// Whether an event is newer than what was shown.
    mutating func accepts(_ event: UInt64) -> Bool {
        guard event > revision else { return false }
        revision = event
        return true
    }
}
