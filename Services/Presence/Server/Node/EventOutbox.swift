import DequeModule
import RTMModel
import RTMWire

/// Events between the rosters and the logs of their channels: one append of a channel at a time, the next
/// when the one before is acknowledged, and the same again when its answer was lost. Pure.
///
/// One at a time because messaging passes over what isn't above a source's last number: an event that is
/// refused must not be overtaken. Events of different channels don't wait for each other.
///
/// Limit: joins and state changes are refused while `backlogMax` events of their channel wait (messaging is
/// away). Leaves and timeouts never are, but each needs a member that has joined; so the queue is bounded by
/// the backlog and the members.
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
        /// The first one has been sent, and its answer isn't there yet.
        var isUnderWay = false
        var waiters: [(through: UInt64, waiter: Waiter)] = []
    }

    /// Only of channels with something in them.
    private var queues: [ChannelKey: Queue] = [:]
    private(set) var count = 0

    func backlog(of channel: ChannelKey) -> Int { queues[channel]?.events.count ?? 0 }

    /// The number of the last event that waits; nil when none does.
    func last(of channel: ChannelKey) -> UInt64? { queues[channel]?.events.last?.sequence }

    /// What a store tells twice is taken once.
    mutating func add(_ change: NumberedEvents, to channel: ChannelKey) {
        for (sequence, event) in change.events {
            if let last = queues[channel]?.events.last, last.source == change.source,
                sequence <= last.sequence
            {
                continue
            }
            count += 1
            queues[channel, default: Queue()].events.append(
                Append(channel: channel, source: change.source, sequence: sequence, event: event))
        }
    }

    /// What is to be sent for the channel now; it is under way then.
    mutating func next(of channel: ChannelKey) -> Append? {
        guard let queue = queues[channel], !queue.isUnderWay, let first = queue.events.first else {
            return nil
        }
        queues[channel]?.isUnderWay = true
        return first
    }

    /// Channels that have something to be sent.
    var waiting: [ChannelKey] {
        queues.filter { !$0.value.isUnderWay && !$0.value.events.isEmpty }.map(\.key)
    }

    /// The answer is lost, or was a refusal that may pass: to be sent again.
    mutating func failed(_ channel: ChannelKey) { queues[channel]?.isUnderWay = false }

    /// The event is in the log, or never will be. Gives those who waited for it.
    mutating func settled(_ channel: ChannelKey) -> [Waiter] {
        guard var queue = queues.removeValue(forKey: channel), let first = queue.events.popFirst() else {
            return []
        }
        count -= 1
        queue.isUnderWay = false
        let isDone = queue.events.isEmpty
        let ready = queue.waiters.filter { isDone || $0.through <= first.sequence }.map(\.waiter)
        if !isDone {
            queue.waiters.removeAll { $0.through <= first.sequence }
            queues[channel] = queue
        }
        return ready
    }

    /// True if everything up to that event has been settled; else the waiter comes with it.
    mutating func wait(_ waiter: Waiter, for channel: ChannelKey, through: UInt64) -> Bool {
        guard let first = queues[channel]?.events.first, first.sequence <= through else { return true }
        queues[channel]?.waiters.append((through, waiter))
        return false
    }
}
