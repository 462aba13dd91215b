// The book-keeping of one publisher and its subscribers: no message is lost, doubled (M-25) or out of order
// (M-24).
//
// For each subscriber and lane the sequence numbers must be 1, 2, 3 …; for each subscriber the offsets in the
// channel's log must rise.

import RTMClient

/// Counts what was sent and what arrived. It has no clock: instants come with the messages.
struct BenchTally: Sendable {
    enum Outcome: Sendable, Hashable {
        /// The message is counted, and other subscribers don't have it yet.
        case counted
        /// The last subscriber has the message, so the lane may send again.
        case delivered
        /// The message is not the one that had to come next. It isn't counted as a delivery.
        case faulty
    }

    private let subscribers: Int
    private let lanes: Int
    /// By lane: the number of the last message.
    private var sent: [UInt32]
    private var received: [Int]
    /// By subscriber and lane: the sequence number of the last message that arrived.
    private var last: [UInt32]
    /// By subscriber: the offset of the last message that arrived.
    private var lastOffset: [UInt64]

    private(set) var published = 0
    private(set) var deliveries = 0
    /// Messages that came twice, too late, or before a missing one.
    private(set) var faults = 0
    /// By the server's limit: how many messages were put off because they came too fast for it.
    private(set) var putOff: [RTMError.Limit: Int] = [:]
    private(set) var latencies = LatencyHistogram()

    init(subscribers: Int, lanes: Int) {
        self.subscribers = subscribers
        self.lanes = lanes
        sent = Array(repeating: 0, count: lanes)
        received = Array(repeating: 0, count: lanes)
        last = Array(repeating: 0, count: subscribers * lanes)
        lastOffset = Array(repeating: 0, count: subscribers)
    }

    /// Deliveries that are missing.
    var lost: Int { published * subscribers - deliveries }

    /// Returns the sequence number of the lane's next message.
    mutating func send(lane: Int) -> UInt32 {
        sent[lane] += 1
        received[lane] = 0
        published += 1
        return sent[lane]
    }

    mutating func receive(
        _ message: BenchMessage, offset: UInt64, subscriber: Int, nowNanoseconds: UInt64
    ) -> Outcome {
        let lane = Int(message.lane)
        guard lane < lanes, message.sequence == last[subscriber * lanes + lane] + 1,
            message.sequence == sent[lane], offset > lastOffset[subscriber]
        else {
            faults += 1
            return .faulty
        }
        last[subscriber * lanes + lane] = message.sequence
        lastOffset[subscriber] = offset
        deliveries += 1
        latencies.add(nowNanoseconds &- message.sentNanoseconds)
        received[lane] += 1
        return received[lane] == subscribers ? .delivered : .counted
    }

    /// Takes back a message that the server refused, so it isn't on its way.
    ///
    /// - Parameter limit: the rate for which it came too early, if that is why the server refused it.
    mutating func withdraw(lane: Int, limit: RTMError.Limit? = nil) {
        sent[lane] -= 1
        published -= 1
        if let limit { putOff[limit, default: 0] += 1 }
    }
}

/// The sum over all publishers.
struct BenchTotal: Sendable {
    private(set) var published = 0
    private(set) var deliveries = 0
    private(set) var lost = 0
    private(set) var faults = 0
    private(set) var putOff: [RTMError.Limit: Int] = [:]
    private(set) var latencies = LatencyHistogram()

    init(_ tallies: some Sequence<BenchTally>) {
        for tally in tallies {
            published += tally.published
            deliveries += tally.deliveries
            lost += tally.lost
            faults += tally.faults
            putOff.merge(tally.putOff, uniquingKeysWith: +)
            latencies.merge(tally.latencies)
        }
    }
}
