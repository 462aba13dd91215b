/// The latest ends of sessions of one loop, so that an operator sees why a user was away. Pure.
struct SessionEnds {
    /// Limit: ends that are remembered; the oldest makes room.
    static let countMax = 1_024

    struct End: Sendable, Equatable {
        let appID: String
        let userID: String
        let session: UInt64
        /// UTC, milliseconds since 1970.
        let at: UInt64
        let address: String
        /// The code of the Disconnect, or what happened to the connection.
        let cause: String
    }

    private var ring: [End] = []
    /// The index of the oldest one, once the ring is full.
    private var oldest = 0

    mutating func append(_ end: End) {
        guard ring.count == Self.countMax else { return ring.append(end) }
        ring[oldest] = end
        oldest = (oldest + 1) % Self.countMax
    }

    /// The latest one of the user; nil if there was none lately.
    func last(of userID: String, in appID: String?) -> End? {
        ring.filter { $0.userID == userID && (appID == nil || $0.appID == appID) }.max { $0.at < $1.at }
    }
}
