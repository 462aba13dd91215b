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
