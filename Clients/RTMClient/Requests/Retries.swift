/// What the client tries again later on the present connection, and when.
///
/// The earliest time that was asked for one retry of a kind is the time of all retries of that kind. A new
/// connection begins without any, because logging in restores what is missing.
struct Retries {
    typealias Instant = ContinuousClock.Instant

    enum Retry: Hashable {
        /// Publishes that the server refused for the moment are sent again.
        case publishes
        /// Publishes whose time has come are sent.
        case pacedPublishes
        /// Postponed messages of the outbox are sent again.
        case outbox
        /// Subscribes that the server refused for the moment are sent again.
        case subscribes
        /// A subscription is restored that the server had no time for.
        case restoration(of: ChannelID)
        /// The states of this user in a channel are set again.
        case states(of: ChannelID)
        /// Acquisitions that were removed from the queue of a lock queue again (K-6).
        case lockQueues
        /// A snapshot is requested again.
        case snapshot(Refresh)
        /// A user's metadata are followed again.
        case followedUser(String)
    }

    /// Several kinds that are due at the same time are tried in this order.
    private enum Kind: CaseIterable {
        case publishes, pacedPublishes, outbox, subscribes, restorations, states, lockQueues, snapshots,
            followedUsers

        init(_ retry: Retry) {
            switch retry {
            case .publishes: self = .publishes
            case .pacedPublishes: self = .pacedPublishes
            case .outbox: self = .outbox
            case .subscribes: self = .subscribes
            case .restoration: self = .restorations
            case .states: self = .states
            case .lockQueues: self = .lockQueues
            case .snapshot: self = .snapshots
            case .followedUser: self = .followedUsers
            }
        }
    }

    private struct Batch {
        var time: Instant
        var retries: Set<Retry>
    }

    private var batches: [Kind: Batch] = [:]

    /// When the next retry is due.
    var deadline: Instant? { batches.values.lazy.map(\.time).min() }

    mutating func put(_ retry: Retry, at time: Instant) {
        let kind = Kind(retry)
        var batch = batches[kind] ?? Batch(time: time, retries: [])
        batch.time = min(batch.time, time)
        batch.retries.insert(retry)
        batches[kind] = batch
    }

    /// - Returns: whether this retry was waiting.
    @discardableResult
    mutating func remove(_ retry: Retry) -> Bool {
        let kind = Kind(retry)
        let wasWaiting = batches[kind]?.retries.remove(retry) != nil
        if batches[kind]?.retries.isEmpty == true { batches[kind] = nil }
        return wasWaiting
    }

    /// Takes all retries of one kind that is due. None are left when the result is empty.
    mutating func takeDue(now: Instant) -> Set<Retry> {
        for kind in Kind.allCases {
            if let batch = batches[kind], now >= batch.time {
                batches[kind] = nil
                return batch.retries
            }
        }
        return []
    }
}
