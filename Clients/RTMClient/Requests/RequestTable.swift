import DequeModule

/// The requests that wait for an answer of the server. Whoever takes a request out of the table ends it, so
/// that each request ends exactly once.
struct RequestTable {
    typealias Instant = ContinuousClock.Instant

    /// Limit: requests that wait at once. A call beyond it is refused with `.operationRateExceedLimitation`
    /// (-10021).
    static let capacity = 65_536

    private var requests: [UInt64: any Request] = [:]
    /// In the order of time. A request that has been answered leaves the queue when it has reached its head.
    private var deadlines: Deque<(id: UInt64, deadline: Instant)> = []

    /// When the next request expires.
    var deadline: Instant? { deadlines.first?.deadline }
    var isFull: Bool { requests.count >= Self.capacity }

    /// The request with this id, which stays in the table.
    subscript(id: UInt64) -> (any Request)? { requests[id] }

    /// The requests that may be sent again on another path, the oldest first.
    var repetitions: [(id: UInt64, body: ClientBody)] {
        requests.compactMap { id, request in request.repetition.map { (id, $0) } }.sorted { $0.id < $1.id }
    }

    /// The oldest first.
    func ids(where isMeant: (any Request) -> Bool) -> [UInt64] {
        requests.filter { isMeant($0.value) }.keys.sorted()
    }

    /// - Parameter deadline: `nil` for a request that may wait as long as the connection lives.
    mutating func add(_ id: UInt64, _ request: some Request, deadline: Instant?) {
        requests[id] = request
        guard let deadline else { return }
        // Nearly all requests have the same time to be answered, so the new one belongs near the end.
        var index = deadlines.endIndex
        while index > deadlines.startIndex, deadlines[index - 1].deadline > deadline { index -= 1 }
        deadlines.insert((id, deadline), at: index)
    }

    @discardableResult
    mutating func take(_ id: UInt64) -> (any Request)? {
        let request = requests.removeValue(forKey: id)
        while let first = deadlines.first, requests[first.id] == nil { deadlines.removeFirst() }
        return request
    }

    /// Takes one request whose time is over.
    mutating func takeExpired(now: Instant) -> (id: UInt64, request: any Request)? {
        guard let first = deadlines.first, now >= first.deadline, let request = take(first.id) else {
            return nil
        }
        return (first.id, request)
    }

    /// Takes all requests except those with these ids, whose time runs on. The oldest request comes first.
    mutating func takeAll(except kept: Set<UInt64> = []) -> [(id: UInt64, request: any Request)] {
        let taken = requests.filter { !kept.contains($0.key) }.sorted { $0.key < $1.key }
        requests = requests.filter { kept.contains($0.key) }
        deadlines = deadlines.filter { requests[$0.id] != nil }
        return taken.map { ($0.key, $0.value) }
    }
}
