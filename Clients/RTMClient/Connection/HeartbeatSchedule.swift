/// When to send heartbeats, and when a missing answer means that the link is lost (S-40, T5).
///
/// The heartbeat decides, never the socket alone, because a half-open connection looks alive for hours.
struct HeartbeatSchedule: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Due: Sendable, Equatable {
        case nothing
        case beat
        case lost
    }

    private let interval: Duration
    private let answerWithin: Duration
    private var nextBeat: Instant
    /// The heartbeats without an answer, the oldest first. When its time is over, the connection ends.
    private var unanswered: [(id: UInt64, deadline: Instant)] = []

    init(interval: Duration, answerWithin: Duration, now: Instant) {
        self.interval = interval
        self.answerWithin = answerWithin
        nextBeat = now + interval
    }

    var deadline: Instant { unanswered.first.map { min($0.deadline, nextBeat) } ?? nextBeat }

    func due(now: Instant) -> Due {
        if let oldest = unanswered.first, now >= oldest.deadline { return .lost }
        return now >= nextBeat ? .beat : .nothing
    }

    mutating func sent(_ id: UInt64, now: Instant) {
        unanswered.append((id, now + answerWithin))
        nextBeat = now + interval
    }

    /// Bytes came, and an answer may follow them, because on a slow connection a megabyte of publications
    /// takes longer than a heartbeat may. Whether this side's frames arrive, the server judges itself (S-41).
    mutating func receivedBytes(now: Instant) {
        guard !unanswered.isEmpty else { return }
        unanswered[0].deadline = max(unanswered[0].deadline, now + answerWithin)
    }

    /// An answer speaks for all heartbeats before it.
    mutating func answered(_ id: UInt64) {
        guard let index = unanswered.firstIndex(where: { $0.id == id }) else { return }
        unanswered.removeSubrange(...index)
    }
}
