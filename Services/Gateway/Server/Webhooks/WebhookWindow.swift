import DequeModule
import NIOCore
import RTMModel

/// The events that were read and lie behind the delivered position, by number, oldest first.
struct WebhookWindow {
    /// Limit: events that were read and lie behind the kept position, delivered or not, and the bytes of
    /// those that are not. It also bounds what another gateway delivers again after this one was killed.
    static let eventsMax = 10_000
    private static let bytesMax = 8 << 20

    private struct Entry {
        var event: WebhookEvent
        let arrival: NIODeadline
        var isDone = false
    }

    private var entries: Deque<Entry> = []
    private var firstNumber = 0
    private var bytes = 0
    /// After which to read on.
    private(set) var readThrough: StreamPosition
    /// Everything up to there is delivered or given up.
    private(set) var delivered: StreamPosition

    init(after position: StreamPosition) { (readThrough, delivered) = (position, position) }

    var count: Int { entries.count }
    /// How many events may be read.
    var room: Int { bytes < Self.bytesMax ? Self.eventsMax - count : 0 }
    var first: (number: Int, event: WebhookEvent)? { entries.first.map { (firstNumber, $0.event) } }

    subscript(number: Int) -> WebhookEvent { entries[number - firstNumber].event }
    func arrival(of number: Int) -> NIODeadline { entries[number - firstNumber].arrival }

    /// - Returns: the event's number.
    mutating func append(_ event: WebhookEvent, now: NIODeadline) -> Int {
        entries.append(Entry(event: event, arrival: now))
        bytes += event.bytes
        return firstNumber + entries.count - 1
    }

    mutating func read(through position: StreamPosition) { readThrough = position }

    /// The event was delivered or given up.
    mutating func finish(_ number: Int) {
        let index = number - firstNumber
        bytes -= entries[index].event.bytes
        entries[index].isDone = true
        entries[index].event.body = ""
    }

    mutating func dropFinished() {
        while let first = entries.first, first.isDone {
            entries.removeFirst()
            firstNumber += 1
            delivered = first.event.position
        }
        if entries.isEmpty { delivered = readThrough }
    }
}
