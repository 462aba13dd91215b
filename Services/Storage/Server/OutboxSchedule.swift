import DequeModule
import RTMModel

/// Which event goes to messaging next. Pure; the shell is `Outbox`.
///
/// Events of one channel go one after the other, each when the one before was acknowledged: a later one that
/// arrived first would make the earlier one look like a repetition. Channels don't wait for one another.
/// Memory holds a part of the outbox; what lies beyond it is in the store and is fetched when there is room.
struct OutboxSchedule {
    struct Limits: Sendable, Hashable {
        /// Events in memory.
        var eventsMax = 20_000
        /// Events under way at one time, of different channels.
        var openMax = 1_024
        /// Events of one fetch.
        var fetchMax = 2_000
    }

    private let limits: Limits
    private var queues: [ChannelKey: Deque<OutboxEvent>] = [:]
    /// Channels whose first event waits to be sent.
    private var ready: Deque<ChannelKey> = []
    private var open: Set<ChannelKey> = []
    /// Channels whose first event was not taken; to be tried again.
    private var refused: [ChannelKey] = []
    private var acknowledged: [UInt64] = []
    private(set) var count = 0
    /// The last event that went into memory, and the last one that is known of.
    private var taken: UInt64 = 0
    private var known: UInt64 = 0
    /// Whether the store has events that are not in memory. At first nobody knows.
    private var isBehind = true
    private var isFetching = false

    init(limits: Limits = Limits()) { self.limits = limits }

    // MARK: What comes in

    /// New events, in their order.
    mutating func committed(_ events: [OutboxEvent]) {
        guard let last = events.last else { return }
        known = max(known, last.sequence)
        if count + events.count > limits.eventsMax { isBehind = true }
        if !isBehind { take(events) }
    }

    /// What is to be asked of the store now: events after this sequence.
    mutating func nextFetch() -> (after: UInt64, limit: Int)? {
        guard isBehind, !isFetching, count <= limits.eventsMax / 2 else { return nil }
        isFetching = true
        return (taken, limits.fetchMax)
    }

    /// - Parameter events: nil: the store could not be read.
    mutating func fetched(_ events: [OutboxEvent]?) {
        isFetching = false
        guard let events else { return }
        take(events)
        isBehind = events.count == limits.fetchMax || taken < known
    }

    private mutating func take(_ events: [OutboxEvent]) {
        for event in events {
            taken = max(taken, event.sequence)
            count += 1
            if queues[event.channel, default: []].isEmpty { ready.append(event.channel) }
            queues[event.channel, default: []].append(event)
        }
    }

    // MARK: What goes out

    /// The next event to be sent; each has an answer.
    mutating func next() -> OutboxEvent? {
        guard open.count < limits.openMax, let channel = ready.popFirst(),
            let event = queues[channel]?.first
        else { return nil }
        open.insert(channel)
        return event
    }

    /// Messaging has the event, or did not take it; then it is sent again after `retry`.
    mutating func answered(_ channel: ChannelKey, isAppended: Bool) {
        guard open.remove(channel) != nil else { return }
        guard isAppended else { return refused.append(channel) }
        guard let event = queues[channel]?.popFirst() else { return }
        acknowledged.append(event.sequence)
        count -= 1
        if queues[channel]?.isEmpty == true { queues[channel] = nil } else { ready.append(channel) }
    }

    /// Tries again what was not taken.
    mutating func retry() {
        ready.append(contentsOf: refused)
        refused = []
    }

    /// Acknowledged events, to be removed from the store; each is returned once.
    mutating func takeAcknowledged() -> [UInt64] {
        defer { acknowledged = [] }
        return acknowledged
    }

    /// They could not be handed over and come again.
    mutating func putBack(_ sequences: [UInt64]) { acknowledged += sequences }
}
