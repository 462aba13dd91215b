import DequeModule
import RTMModel
import RTMProtocol

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
        case publish(UnansweredPublish)
        /// Everything whose answer changes nothing in the link itself.
        case call(ServerCall)
        case userMetadata(UserMetadataRequest)
        case lock(LockRequest)
        /// The link's own, after a gap; its answer is a snapshot.
        case refresh(Refresh)
        /// The link's own, after a reconnect.
        case restore(SubscriptionTable.Restoration)
    }

    /// A publish, with what is needed to send it once more.
    struct UnansweredPublish {
        let call: ServerCall
        let request: Rtm_Client_Publish
        /// The first time.
        let sentAt: Instant
        /// Of the inbox at that time: by it the server knows whether its logs go back so far.
        let epoch: UInt64
        /// Nil while an answer is awaited; else it waits for its turn to be sent.
        var waiting: Waiting?
    }

    enum Waiting {
        /// Behind others that have to be sent again first.
        case unsent
        /// Once more: the server had no messaging service at that moment.
        case refused(RTMError)
    }

    private var requests: [UInt64: Request] = [:]
    /// In the order of their ends, as all are given the same time, or none. Requests that are answered leave
    /// later.
    private var deadlines: Deque<(id: UInt64, deadline: Instant)> = []

    var deadline: Instant? { deadlines.first?.deadline }
    var isFull: Bool { requests.count >= Self.capacity }
    /// Publishes without an answer that have been sent, once at least.
    private(set) var sentPublishes = 0

    /// - Parameter deadline: nil for a request that may wait as long as the connection lives.
    mutating func add(_ id: UInt64, _ request: Request, deadline: Instant?) {
        requests[id] = request
        if request.isSentPublish { sentPublishes += 1 }
        if let deadline { deadlines.append((id, deadline)) }
    }

    /// Whether its answer is awaited.
    func isOpen(_ id: UInt64) -> Bool { requests[id] != nil }

    @discardableResult
    mutating func take(_ id: UInt64) -> Request? {
        let request = requests.removeValue(forKey: id)
        if request?.isSentPublish == true { sentPublishes -= 1 }
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

    /// The publishes in the order in which they were sent first.
    var publishes: [(id: UInt64, publish: UnansweredPublish)] {
        requests.compactMap { id, request in
            if case .publish(let publish) = request { (id, publish) } else { nil }
        }
        .sorted { $0.publish.request.sequence < $1.publish.request.sequence }
    }

    /// A publish that was refused for the moment waits to be sent again. False: it is none, or nobody waits.
    mutating func postpone(_ id: UInt64, _ refusal: RTMError) -> Bool {
        guard case .publish(var publish) = requests[id] else { return false }
        publish.waiting = .refused(refusal)
        requests[id] = .publish(publish)
        return true
    }

    /// It is sent now, and waits for an answer.
    mutating func resume(_ id: UInt64) {
        guard case .publish(var publish) = requests[id] else { return }
        if case .unsent = publish.waiting { sentPublishes += 1 }
        publish.waiting = nil
        requests[id] = .publish(publish)
    }

    /// The connection is lost: what can't be sent once more on the next one. The oldest `keptMax` publishes
    /// stay, and their time runs on.
    mutating func takeLost(keptMax: Int) -> [(id: UInt64, request: Request)] {
        let kept = publishes.prefix(keptMax)
        for (id, _) in kept { requests[id] = nil }
        let ends = Dictionary(uniqueKeysWithValues: deadlines.lazy.map { ($0.id, $0.deadline) })
        let lost = takeAll()
        for (id, publish) in kept { requests[id] = .publish(publish) }
        sentPublishes = kept.count { Request.publish($0.publish).isSentPublish }
        deadlines = Deque(kept.compactMap { kept in ends[kept.id].map { (kept.id, $0) } })
        return lost
    }

    mutating func takeAll() -> [(id: UInt64, request: Request)] {
        defer {
            requests = [:]
            deadlines = []
            sentPublishes = 0
        }
        return requests.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension RequestTable.Request {
    fileprivate var isSentPublish: Bool {
        guard case .publish(let publish) = self else { return false }
        if case .unsent = publish.waiting { return false }
        return true
    }
}
