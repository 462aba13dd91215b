import DequeModule
import RTMModel

/// Which events go to messaging next. Pure; the shell is `StorageOutbox`.
///
/// The oldest events of a channel go as one run, and the next run follows when messaging has acknowledged
/// that one: if a later event arrived first, the earlier one would look like a repetition. So a busy channel
/// waits for messaging once per run and not once per event. Channels don't wait for one another.
///
/// Memory holds a part of the outbox. The rest is in the store and is fetched when there is room.
struct OutboxSchedule {
    struct Limits: Sendable, Hashable {
        /// Events in memory.
        var eventsMax = 20_000
        /// Their bytes, and those of one more fetch.
        var bytesMax = 64 * 1024 * 1024
        /// Runs that are under way at the same time, each of another channel.
        var openMax = 1_024
        /// Events of one fetch.
        var fetchMax = 2_000
        /// Events of one run, and their bytes unless the run is a single event.
        var runMax = 256
        var runBytesMax = 256 * 1024
    }

    /// Events of one channel and one source, in their order.
    struct Run {
        /// Names the line in the answer.
        let line: Int
        let events: Deque<StorageOutboxEvent>.SubSequence
    }

    /// The events of one channel that are in memory; there is at least one.
    private struct Line {
        let channel: ChannelKey
        var events: Deque<StorageOutboxEvent>
        /// How many of the first events are under way.
        var open = 0
    }

    private let limits: Limits
    private var lines: [Line?] = []
    /// The number of the first line. Answers to runs of an earlier life name smaller ones.
    private var firstLine = 0
    private var freeLines: [Int] = []
    private var linesOfChannels: [ChannelKey: Int] = [:]
    /// Lines whose first events wait to be sent.
    private var ready: Deque<Int> = []
    private var openCount = 0
    /// Lines whose first events messaging did not take; they are tried again.
    private var refused: [Int] = []
    /// The sequences that are in memory or acknowledged, in ascending order, each with the one before it at
    /// the time at which it came. The store has nothing between the two that waits.
    private var sequences: Deque<(before: UInt64, sequence: UInt64)> = []
    private var acknowledged: Set<UInt64> = []
    private var putBack: [ClosedRange<UInt64>] = []
    private(set) var count = 0
    private var bytes = 0
    /// The last event that went into memory, and the last one that is known.
    private var taken: UInt64 = 0
    private var known: UInt64 = 0
    /// Whether the store has events that are not in memory. At the start this is not known, so it is true.
    private var isBehind = true
    private var isFetching = false
    /// Whether the fetch that is under way may have begun too early to see everything.
    private var isFetchStale = false

    init(limits: Limits = Limits()) { self.limits = limits }

    // MARK: What comes in

    /// Takes new events, in their order.
    mutating func committed(_ events: [StorageOutboxEvent]) {
        guard let last = events.last else { return }
        known = max(known, last.sequence)
        if count + events.count > limits.eventsMax || bytes > limits.bytesMax { isBehind = true }
        if !isBehind { take(events) }
    }

    /// What to ask of the store now: events after this sequence.
    mutating func nextFetch() -> (after: UInt64, limit: Int)? {
        guard isBehind, !isFetching, count <= limits.eventsMax / 2, bytes <= limits.bytesMax / 2 else {
            return nil
        }
        isFetching = true
        return (taken, limits.fetchMax)
    }

    /// - Parameter events: nil if the store could not be read.
    mutating func fetched(_ events: [StorageOutboxEvent]?) {
        isFetching = false
        defer { isFetchStale = false }
        guard let events, !isFetchStale else { return }
        take(events)
        isBehind = events.count == limits.fetchMax || taken < known
    }

    /// The store has been taken anew, so what is known of it counts no more: it may have events that were
    /// never reported, others may have been announced by another node, and where it has lost events, their
    /// numbers come again. Everything that the store says to wait is fetched and sent again.
    mutating func beginAnew() {
        var next = OutboxSchedule(limits: limits)
        next.firstLine = firstLine + lines.count
        (next.isFetching, next.isFetchStale) = (isFetching, isFetching)
        self = next
    }

    private mutating func take(_ events: [StorageOutboxEvent]) {
        // A fetch may have seen events whose commit is reported only afterwards.
        for event in events where event.sequence > taken {
            sequences.append((taken, event.sequence))
            taken = event.sequence
            count += 1
            bytes += event.event.count
            if let line = linesOfChannels[event.channel] {
                lines[line]?.events.append(event)
            } else {
                ready.append(begin(event))
            }
        }
    }

    private mutating func begin(_ event: StorageOutboxEvent) -> Int {
        let line = Line(channel: event.channel, events: [event])
        let place = freeLines.popLast() ?? lines.count
        if place == lines.count { lines.append(line) } else { lines[place] = line }
        linesOfChannels[event.channel] = place
        return place
    }

    // MARK: What goes out

    /// The next run to send. Each run gets an answer.
    mutating func next() -> Run? {
        guard openCount < limits.openMax, let place = ready.popFirst(), let line = lines[place] else {
            return nil
        }
        let length = length(of: line.events)
        lines[place]?.open = length
        openCount += 1
        return Run(line: firstLine + place, events: line.events.prefix(length))
    }

    private func length(of events: Deque<StorageOutboxEvent>) -> Int {
        var length = 0
        var bytes = 0
        for event in events.prefix(limits.runMax) {
            bytes += event.event.count
            guard length == 0 || bytes <= limits.runBytesMax && event.source == events[0].source else {
                break
            }
            length += 1
        }
        return length
    }

    /// Messaging has the run, or did not take it. In the second case its events are sent again after `retry`.
    mutating func answered(_ line: Int, isAppended: Bool) {
        let place = line - firstLine
        guard place >= 0, let length = lines[place]?.open, length > 0 else { return }
        openCount -= 1
        lines[place]?.open = 0
        guard isAppended else { return refused.append(place) }
        for _ in 0..<length {
            guard let event = lines[place]?.events.popFirst() else { break }
            acknowledged.insert(event.sequence)
            bytes -= event.event.count
        }
        count -= length
        guard let line = lines[place], line.events.isEmpty else { return ready.append(place) }
        linesOfChannels[line.channel] = nil
        lines[place] = nil
        freeLines.append(place)
    }

    /// Tries again the events that were not taken.
    mutating func retry() {
        ready.append(contentsOf: refused)
        refused = []
    }

    /// The acknowledged events, each of which is returned once. There are as few ranges as possible, and no
    /// event that waits lies in one. A range begins behind the event before it, so those of neighbours touch
    /// each other, and together they say up to where nothing waits (`OutboxPosition`).
    mutating func takeAcknowledged() -> [ClosedRange<UInt64>] {
        defer { putBack = [] }
        guard !acknowledged.isEmpty else { return putBack }
        var ranges = putBack
        var isOpen = false
        var waiting: Deque<(before: UInt64, sequence: UInt64)> = []
        for (before, sequence) in sequences {
            guard acknowledged.contains(sequence) else {
                waiting.append((before, sequence))
                isOpen = false
                continue
            }
            let first = isOpen ? ranges.removeLast().lowerBound : before + 1
            ranges.append(first...sequence)
            isOpen = true
        }
        sequences = waiting
        acknowledged.removeAll(keepingCapacity: true)
        return ranges
    }

    /// Takes back ranges that could not be handed over or kept; `takeAcknowledged` returns them again.
    mutating func putBack(_ ranges: [ClosedRange<UInt64>]) { putBack += ranges }
}
