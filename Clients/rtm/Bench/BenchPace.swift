/// When the lanes of one publisher may send, once the server has refused a message for its rate. Each takes a
/// turn of its own: if all came back at the same moment, all but one of them would be refused again, and who
/// is refused without end is cut off. Pure: told the time.
struct BenchPace {
    typealias Instant = ContinuousClock.Instant

    /// A longer pause has another cause than a rate, and is no distance between messages.
    private static let distanceMax = Duration.milliseconds(50)

    private var distance: Duration?
    private var next: Instant?

    /// - Returns: when the lane may send; nil if that is now.
    mutating func turn(now: Instant) -> Instant? {
        guard let distance else { return nil }
        let turn = max(now, next ?? now)
        next = turn + distance
        return turn > now ? turn : nil
    }

    /// The server has refused a message for so long.
    mutating func putOff(for pause: Duration, now: Instant) {
        // What is refused although everybody waited for his turn came too soon.
        distance = min(max((distance ?? .zero) * 1.02, pause), Self.distanceMax)
        next = max(next ?? now, now + pause)
    }
}
