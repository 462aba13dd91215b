import DequeModule
import RTMModel
import RTMWire

/// Events on their way from the rosters to the logs of their channels. A channel has one append under way at
/// a time. The next one follows when it is acknowledged; when its answer is lost, the same append is sent
/// again. Pure.
///
/// One append at a time, because messaging ignores a number that isn't above a source's last one: an event
/// that is refused must not be overtaken. Events of different channels don't wait for each other.
///
/// Limit: joins and state changes are refused while `Backlog` says so, because messaging is away. Leaves,
/// timeouts and intervals are never refused, but a leave needs a member that has joined, and an interval
/// carries what was taken in before. So the queue is bounded by the backlog and the members.
struct EventOutbox {
    typealias Waiter = UInt64

    struct Append: Equatable {
        let channel: ChannelKey
        let source: UInt64
        let sequence: UInt64
        let event: RosterEvent
    }

    private struct Queue {
        var events = Deque<Append>()
        /// The bytes of the events.
        var bytes = 0
        /// The first event has been sent, and its answer isn't there yet.
        var isUnderWay = false
        /// How many events have been settled.
        var settledCount = 0
        /// Who waits until so many events have been settled. Numbers of events don't say so: after Redis has
        /// lost data, events of the new source may have lower numbers than earlier ones.
        var waiters: [(count: Int, waiter: Waiter)] = []
    }

    /// The queues of the channels that have events waiting.
    private var queues: [ChannelKey: Queue] = [:]
    private(set) var count = 0
    /// The bytes of all waiting events.
    private(set) var bytes = 0

    /// - Throws: `.presenceOperationFailed` (-13013) if so much waits that no event may be added.
    func check(_ limit: Backlog, for channel: ChannelKey) throws(RTMError) {
        try limit.check(events: queues[channel]?.events.count ?? 0, bytes: queues[channel]?.bytes ?? 0)
        try limit.check(allBytes: bytes)
    }

    /// The number of the last waiting event, or nil when no event waits.
    func last(of channel: ChannelKey) -> UInt64? { queues[channel]?.events.last?.sequence }

    /// Adds events. An event that a store reports twice is taken once.
    mutating func add(_ change: NumberedEvents, to channel: ChannelKey) {
        // Taken out and put back: changed in its place, it would cost an allocation for each change.
        var queue = queues.removeValue(forKey: channel) ?? Queue()
        for (sequence, event) in change.events {
            if let last = queue.events.last, last.source == change.source, sequence <= last.sequence {
                continue
            }
            count += 1
            let size = event.byteCount
            bytes += size
            queue.bytes += size
            queue.events.append(
                Append(channel: channel, source: change.source, sequence: sequence, event: event))
        }
        if !queue.events.isEmpty { queues[channel] = queue }
    }

    /// The event to send for the channel now. It counts as under way from this call on.
    mutating func next(of channel: ChannelKey) -> Append? {
        guard var queue = queues[channel], !queue.isUnderWay, let first = queue.events.first else {
            return nil
        }
        queue.isUnderWay = true
        queues[channel] = queue
        return first
    }

    /// Channels whose first event is to be sent.
    var waiting: [ChannelKey] {
        queues.filter { !$0.value.isUnderWay && !$0.value.events.isEmpty }.map(\.key)
    }

    /// The append has failed in a way that may pass, or its answer is lost: it is to be sent again.
    mutating func failed(_ channel: ChannelKey) { queues[channel]?.isUnderWay = false }

    /// The event is in the log, or never will be. Returns the waiters that waited for it.
    mutating func settled(_ channel: ChannelKey) -> [Waiter] {
        guard var queue = queues.removeValue(forKey: channel), let first = queue.events.popFirst() else {
            return []
        }
        count -= 1
        bytes -= first.event.byteCount
        queue.bytes -= first.event.byteCount
        queue.isUnderWay = false
        queue.settledCount += 1
        let settledCount = queue.settledCount
        let ready = queue.waiters.filter { $0.count <= settledCount }.map(\.waiter)
        if !queue.events.isEmpty {
            queue.waiters.removeAll { $0.count <= settledCount }
            queues[channel] = queue
        }
        return ready
    }

    /// Returns true if no event waits that has this number or a lower one. Otherwise `settled` returns the
    /// waiter when all of those have been settled.
    mutating func wait(_ waiter: Waiter, for channel: ChannelKey, through: UInt64) -> Bool {
        guard let queue = queues[channel],
            let last = queue.events.lastIndex(where: { $0.sequence <= through })
        else { return true }
        let ahead = queue.events.distance(from: queue.events.startIndex, to: last) + 1
        queues[channel]?.waiters.append((queue.settledCount + ahead, waiter))
        return false
    }
}
