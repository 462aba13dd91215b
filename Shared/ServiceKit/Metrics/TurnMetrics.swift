import NIOCore
import NIOPosix
internal import RTMServiceLink
internal import Synchronization

/// How long the turns of the process's event loops take. While a turn lasts everybody else on its loop waits,
/// so a long one is what the slowest messages of that loop have in common.
struct TurnMetrics: Sendable {
    private let turns: Histogram
    private let longest = RecentMaximum()

    init(_ registry: MetricsRegistry) {
        turns = registry.histogram(
            "rtm_loop_turn_seconds",
            "Turns of the event loops, from first work to last write. Above 1 ms others wait noticeably.",
            buckets: [
                .microseconds(10), .microseconds(50), .microseconds(100), .microseconds(250),
                .microseconds(500), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10),
                .milliseconds(50), .milliseconds(250), .seconds(1),
            ])
        let longest = self.longest
        registry.observedGauge(
            "rtm_loop_longest_turn_seconds",
            "Longest turn of any loop since the scrape before the last. Much above 1 ms: a loop is held up."
        ) { Double(longest.read()) / 1e9 }
    }

    func watch(_ group: MultiThreadedEventLoopGroup) {
        for eventLoop in group.makeIterator() {
            eventLoop.execute {
                EndOfTurn.shared(on: eventLoop).turnEnded = { time in
                    turns.observe(Int(time.nanoseconds))
                    longest.observe(Int(time.nanoseconds))
                }
            }
        }
    }
}

/// The greatest number since the reading before the last. Two readers who take turns both see every peak.
final class RecentMaximum: Sendable {
    private let present = Atomic<Int>(0)
    private let past = Atomic<Int>(0)

    func observe(_ value: Int) {
        guard value > present.load(ordering: .relaxed) else { return }
        present.max(value, ordering: .relaxed)
    }

    func read() -> Int {
        let peak = present.exchange(0, ordering: .relaxed)
        return max(peak, past.exchange(peak, ordering: .relaxed))
    }
}
