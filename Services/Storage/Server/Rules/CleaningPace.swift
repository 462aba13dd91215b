/// How often a shard of a shared database is cleaned up. Each time is a commit, and a row in the table of
/// batches, so a shard that nobody uses is cleaned up once a minute. Pure.
struct CleaningPace: Sendable {
    static let idleSeconds = 60

    private var seconds = 0
    private var isUsed = true

    /// Somebody has called, or something was published.
    mutating func used() { isUsed = true }

    /// Whether it is time. Called once a second.
    mutating func isDue() -> Bool {
        seconds += 1
        guard isUsed || seconds >= Self.idleSeconds else { return false }
        (seconds, isUsed) = (0, false)
        return true
    }
}
