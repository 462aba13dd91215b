import DequeModule
import RTMModel

/// The calls that wait for an answer of the server. What is taken out is completed by who took it: exactly
/// once.
struct RequestTable {
    typealias Instant = ContinuousClock.Instant

    /// Limit: calls in flight. One more is refused with -10021.
    static let capacity = 65_536

    enum Request {
        /// Also a login while connected (S-7): which of the two it is, the completion tells.
        case renewToken(Completion<Void>, token: String)
        case subscribe(Completion<Subscription>, channel: String, features: SubscriptionFeatures)
        case unsubscribe(Completion<Void>, channel: String)
        /// Everything whose answer changes nothing in the link itself.
        case call(ServerCall)
        case userMetadata(UserMetadataRequest)
        case lock(LockRequest)
        /// The link's own, after a gap; its answer is a snapshot.
        case refresh
        /// The link's own, after a reconnect.
        case restore(SubscriptionTable.Restoration)
    }

    private var requests: [UInt64: Request] = [:]
    /// In the order of their ends, as all are given the same time, or none. Requests that are answered leave
    /// later.
    private var deadlines: Deque<(id: UInt64, deadline: Instant)> = []

    var deadline: Instant? { deadlines.first?.deadline }
    var isFull: Bool { requests.count >= Self.capacity }

    /// - Parameter deadline: nil for a request that may wait as long as the connection lives.
    mutating func add(_ id: UInt64, _ request: Request, deadline: Instant?) {
        requests[id] = request
        if let deadline { deadlines.append((id, deadline)) }
    }

    mutating func take(_ id: UInt64) -> Request? {
        let request = requests.removeValue(forKey: id)
        while let first = deadlines.first, requests[first.id] == nil { deadlines.removeFirst() }
        return request
    }

    /// One request whose time is over.
    mutating func takeExpired(now: Instant) -> (id: UInt64, request: Request)? {
        guard let first = deadlines.first, now >= first.deadline, let request = take(first.id) else {
            return nil
        }
        return (first.id, request)
    }

    mutating func takeAll() -> [(id: UInt64, request: Request)] {
        defer {
            requests = [:]
            deadlines = []
        }
        return requests.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
