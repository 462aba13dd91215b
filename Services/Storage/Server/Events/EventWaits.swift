import RTMModel
import RTMWire

/// Reads of events that wait for one: what became of a read, and when it is repeated. Pure.
struct EventWaits {
    /// A read that waits.
    struct Wait: Sendable {
        var request: EventsRequest
        let link: UInt64
        let id: UInt64
        /// In milliseconds, on a clock that doesn't go back.
        let deadline: UInt64
    }

    enum Next {
        case answer
        /// There may be something now.
        case readAgain(EventsRequest)
        case wait
    }

    private var waiting: [UInt64: Wait] = [:]
    /// By app: the offset of the newest event that was kept since the start.
    private var newest: [String: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    var count: Int { waiting.count }

    /// What follows the answer of a read.
    func next(after response: EventsResponse, _ wait: Wait, now: UInt64) -> Next {
        guard response.events.isEmpty, !wait.request.fromNewest, now < wait.deadline else { return .answer }
        var request = wait.request
        request.after = response.next
        // Events may have been kept between the read and its answer.
        let isBehind = newest[request.appID].map { $0 > response.next.offset } ?? false
        return response.hasMore || isBehind ? .readAgain(request) : .wait
    }

    /// - Returns: the number of the wait.
    mutating func park(_ wait: Wait) -> UInt64 {
        lastNumber += 1
        waiting[lastNumber] = wait
        return lastNumber
    }

    /// The app has new events. Returns those that waited for them.
    mutating func kept(_ app: String, newest offset: UInt64) -> [Wait] {
        newest[app] = offset
        let found = waiting.filter { $0.value.request.appID == app }
        for number in found.keys { waiting[number] = nil }
        return Array(found.values)
    }

    mutating func expired(_ number: UInt64) -> Wait? { waiting.removeValue(forKey: number) }

    mutating func linkClosed(_ link: UInt64) {
        waiting = waiting.filter { $0.value.link != link }
    }
}
