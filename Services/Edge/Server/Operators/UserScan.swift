import RTMModel

/// Finds the sessions of one or two users, in turns between which others have theirs.
struct UserScan {
    private let appID: String
    private let userID: String
    private let publisher: String
    private var next = 0
    /// The sessions of the user.
    private(set) var sessions: [SessionKey] = []
    /// The newest session of the publisher.
    private(set) var publisherSession: SessionKey?

    init(of appID: String, _ userID: String, publisher: String) {
        self.appID = appID
        self.userID = userID
        self.publisher = publisher
    }

    /// Looks at the next slots.
    ///
    /// - Returns: whether these were the last.
    mutating func look(in all: Sessions) -> Bool {
        let stop = min(all.slotCount, next + SessionScan.slotsPerTurn)
        while next < stop {
            if let session = all[slot: next] { take(session) }
            next += 1
        }
        return next >= all.slotCount
    }

    private mutating func take(_ session: Session) {
        // One that isn't logged in yet has no time.
        guard session.appID == appID, session.connection?.origin.since != nil else { return }
        if !userID.isEmpty, session.userID == userID { sessions.append(session.key) }
        if !publisher.isEmpty, session.userID == publisher,
            publisherSession.map({ $0.id.rawValue < session.id.rawValue }) ?? true
        {
            publisherSession = session.key
        }
    }
}
