import RTMModel

/// Something that a loop remembers for a while.
protocol DatedFact {
    /// UTC, milliseconds since 1970.
    var at: UInt64 { get }
}

/// The latest facts of one kind; one more replaces the oldest. Pure.
struct FactRing<Fact: DatedFact> {
    private let countMax: Int
    private var ring: [Fact] = []
    /// The index of the oldest one, once the ring is full.
    private var oldest = 0
    /// No fact that came since then is missing, in milliseconds since 1970.
    private(set) var since: UInt64

    /// - Parameter now: when it begins, in milliseconds since 1970.
    init(_ countMax: Int, now: UInt64) {
        self.countMax = countMax
        since = now
    }

    mutating func append(_ fact: Fact) {
        guard ring.count == countMax else { return ring.append(fact) }
        // Others of the same millisecond may be gone, too.
        since = max(since, ring[oldest].at + 1)
        ring[oldest] = fact
        oldest = (oldest + 1) % countMax
    }

    /// Changes the newest one.
    ///
    /// - Returns: whether there was one that the body wanted to change.
    mutating func changeNewest(_ body: (inout Fact) -> Bool) -> Bool {
        guard !ring.isEmpty else { return false }
        return body(&ring[(oldest + ring.count - 1) % ring.count])
    }

    /// The newest first.
    var newestFirst: some Sequence<Fact> {
        (0..<ring.count).lazy.map { ring[(oldest + ring.count - 1 - $0) % ring.count] }
    }
}

/// What has become of subscriptions on one loop lately, so that a backend learns why a message did not reach
/// somebody. A subscribe, its end and a gap leave a fact; a message leaves none. Pure.
struct SubscriptionFacts {
    /// Limit: facts that are remembered; one more replaces the oldest.
    static let countMax = 4_096

    enum Kind: Equatable {
        /// The session gets what follows `position`.
        ///
        /// - Parameters:
        ///   - after: up to where the client had the channel before, which was read for it; nil if it began.
        ///   - gap: something behind `after` was lost, which was reported to the client.
        case subscribed(after: StreamPosition?, gap: Bool)
        /// The session was given everything up to `position`.
        case unsubscribed
        /// What lay behind `after` and up to `position` was lost, which was reported to all subscribers.
        case gap(after: StreamPosition)
    }

    struct Fact: DatedFact, Equatable {
        let kind: Kind
        let channel: ChannelKey
        /// Empty if it is about all subscribers.
        let userID: String
        /// 0 if it is about all subscribers.
        let session: UInt64
        let at: UInt64
        /// Nil if it isn't known.
        let position: StreamPosition?
    }

    private(set) var ring: FactRing<Fact>

    /// - Parameter now: when the loop begins, in milliseconds since 1970.
    init(now: UInt64) { ring = FactRing(Self.countMax, now: now) }

    mutating func append(_ fact: Fact) { ring.append(fact) }

    /// The newest facts about a user, or about a channel. Those about the user's inbox are among them: it is
    /// attached at the login, so they say whether all of a session is remembered.
    ///
    /// - Parameters:
    ///   - userID: empty for everybody.
    ///   - channel: nil for all channels of the app.
    func newest(_ countMax: Int, of userID: String, in channel: ChannelKey?, of appID: String) -> [Fact] {
        let found = ring.newestFirst.lazy.filter { fact in
            guard fact.channel.appID == appID, userID.isEmpty || [userID, ""].contains(fact.userID) else {
                return false
            }
            let isOwnInbox = fact.channel.type == .user && fact.channel.name == userID
            return isOwnInbox || fact.channel == channel || channel == nil && !fact.userID.isEmpty
        }
        return Array(found.prefix(countMax))
    }
}

/// Where a session has become a subscriber.
struct SubscriptionStart: Equatable {
    let position: StreamPosition
    /// Up to where the client had the channel before; nil if it has just begun.
    let after: StreamPosition?
    /// Whether something behind that was lost.
    let gap: Bool
}

/// The latest ends of sessions of one loop, so that an operator sees why a user was away. Pure.
struct SessionEnds {
    /// Limit: ends that are remembered; one more replaces the oldest.
    static let countMax = 1_024

    struct End: DatedFact, Sendable, Equatable {
        let appID: String
        let userID: String
        let session: UInt64
        /// UTC, milliseconds since 1970.
        let at: UInt64
        let address: String
        /// The code of the Disconnect, or what happened to the connection.
        let cause: String
    }

    private(set) var ring: FactRing<End>

    /// - Parameter now: when the loop begins, in milliseconds since 1970.
    init(now: UInt64) { ring = FactRing(Self.countMax, now: now) }

    mutating func append(_ end: End) { ring.append(end) }

    /// The latest one of the user; nil if there was none lately.
    func last(of userID: String, in appID: String?) -> End? {
        ring.newestFirst.first { $0.userID == userID && (appID == nil || $0.appID == appID) }
    }
}
