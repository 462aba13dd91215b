import DequeModule
import HeapModule
import RTMModel

/// The publishes that wait for their time, in the order of their times; those with one time are in the order
/// in which they came. Pure.
///
/// Thousands may wait, so no step looks at all of them: a heap knows who is next, and each target knows who
/// came last. What is removed stays in both until it is first or last there, or until such leftovers
/// outnumber the rest.
struct WaitingPublishes {
    typealias Instant = ContinuousClock.Instant

    struct Entry {
        let id: UInt64
        let message: OutgoingMessage
        let time: Instant
        fileprivate let number: UInt64

        fileprivate var turn: Turn { Turn(time: time, number: number, id: id) }
    }

    fileprivate struct Turn: Comparable {
        let time: Instant
        /// Counts what came.
        let number: UInt64
        let id: UInt64

        static func < (first: Turn, second: Turn) -> Bool {
            (first.time, first.number) < (second.time, second.number)
        }
    }

    /// What waits for one target.
    private struct Line {
        var turns = Deque<Turn>()
        /// How many of the turns are no leftovers.
        var count = 0
    }

    private var entries: [UInt64: Entry] = [:]
    private var turns = Heap<Turn>()
    private var lines: [MessageDestination: Line] = [:]
    private var lastNumber: UInt64 = 0

    var next: Entry? { turns.min.flatMap { entries[$0.id] } }
    /// How much is remembered, leftovers included.
    var size: Int { turns.count + lines.values.reduce(0) { $0 + $1.turns.count } }
    /// Everything that waits, in its order.
    var all: [Entry] { entries.values.sorted { $0.turn < $1.turn } }

    /// The publish that came last of those to the target.
    func last(to target: MessageDestination) -> Entry? {
        lines[target]?.turns.last.flatMap { entries[$0.id] }
    }

    /// The publish that leaves first of those to the target, or `nil` if fewer than so many wait for it.
    func first(to target: MessageDestination, unlessFewerThan count: Int) -> Entry? {
        guard let line = lines[target], line.count >= count else { return nil }
        return line.turns.first.flatMap { entries[$0.id] }
    }

    /// - Parameter time: not before the time of what waits for the same target.
    mutating func add(_ id: UInt64, _ message: OutgoingMessage, at time: Instant) {
        lastNumber += 1
        let entry = Entry(id: id, message: message, time: time, number: lastNumber)
        entries[id] = entry
        turns.insert(entry.turn)
        lines[message.destination, default: Line()].turns.append(entry.turn)
        lines[message.destination]?.count += 1
    }

    mutating func takeDue(now: Instant) -> [Entry] {
        var due: [Entry] = []
        while let entry = next, entry.time <= now {
            remove(entry.id)
            due.append(entry)
        }
        return due
    }

    /// Returns whether it has waited.
    @discardableResult
    mutating func remove(_ id: UInt64) -> Bool {
        guard let entry = entries.removeValue(forKey: id) else { return false }
        while let first = turns.min, !isWaiting(first) { turns.removeMin() }
        if turns.count > 2 * entries.count + 64 { turns = Heap(entries.values.map(\.turn)) }
        lines[entry.message.destination]?.count -= 1
        tidyLine(to: entry.message.destination)
        return true
    }

    private mutating func tidyLine(to target: MessageDestination) {
        while let first = lines[target]?.turns.first, !isWaiting(first) {
            lines[target]?.turns.removeFirst()
        }
        while let last = lines[target]?.turns.last, !isWaiting(last) { lines[target]?.turns.removeLast() }
        if lines[target]?.turns.isEmpty == true { lines[target] = nil }
    }

    private func isWaiting(_ turn: Turn) -> Bool { entries[turn.id]?.number == turn.number }
}
