import RTMModel
import RTMWire

/// Finds the sessions of an app for a gateway, ordered by user and session, or before that by what waits for
/// them (W-28). A loop's sessions aren't
/// ordered, so all of them are looked at, in turns between which others have theirs.
struct SessionScan {
    /// Limit: slots that one turn looks at.
    static let slotsPerTurn = 4_096
    /// Limit: sessions of an answer.
    private static let rowsMax: UInt32 = 1_000

    /// By what sessions are ordered.
    private struct Place: Comparable {
        /// The most comes first. It is 0 where nobody orders by it.
        let queuedBytes: UInt64
        let user: String
        let session: UInt64

        static func < (left: Self, right: Self) -> Bool {
            (right.queuedBytes, left.user, left.session) < (left.queuedBytes, right.user, right.session)
        }
    }

    private let query: EdgeQuery
    private let countMax: Int
    private let after: Place
    private var next = 0
    private var found: [(place: Place, key: SessionKey)] = []
    /// What isn't before it is behind as many as are wanted.
    private var end: Place?
    private var total: UInt64 = 0

    init(_ query: EdgeQuery) {
        self.query = query
        // One more says that more follow.
        countMax = Int(min(query.limit, Self.rowsMax)) + 1
        let isFirstPage = query.afterUser.isEmpty
        after = Place(
            queuedBytes: query.isByQueue ? isFirstPage ? .max : query.afterQueued : 0, user: query.afterUser,
            session: query.afterSession)
    }

    /// Looks at the next slots.
    ///
    /// - Parameter channels: how many channels a session is subscribed to.
    /// - Returns: what was found if these were the last.
    mutating func look(in sessions: Sessions, channels: (SessionKey) -> Int) -> EdgeFindings? {
        let stop = min(sessions.slotCount, next + Self.slotsPerTurn)
        while next < stop {
            if let session = sessions[slot: next] { take(session) }
            next += 1
        }
        guard next >= sessions.slotCount else { return nil }
        cut()
        let hasMore = found.count == countMax
        if hasMore { found.removeLast() }
        let rows = found.compactMap { found in
            sessions[found.key].map { session in
                var row = session.row(channelCount: channels(found.key))
                // More may wait by now, but this is its place.
                if query.isByQueue { row.queuedBytes = found.place.queuedBytes }
                return row
            }
        }
        return EdgeFindings(sessions: rows, hasMore: hasMore, total: total)
    }

    private mutating func take(_ session: Session) {
        guard session.appID == query.appID, session.connection?.origin.since != nil,
            query.userID.isEmpty || session.userID == query.userID,
            query.sessionID == 0 || session.id.rawValue == query.sessionID,
            session.userID.utf8.starts(with: query.prefix.utf8)
        else { return }
        total += 1
        let queued = query.isByQueue ? UInt64(session.connection?.waitingBytes ?? 0) : 0
        let place = Place(queuedBytes: queued, user: session.userID, session: session.id.rawValue)
        guard place > after, end.map({ place < $0 }) ?? true else { return }
        found.append((place, session.key))
        if found.count >= 2 * countMax { cut() }
    }

    private mutating func cut() {
        found.sort { $0.place < $1.place }
        guard found.count >= countMax else { return }
        found.removeLast(found.count - countMax)
        end = found.last?.place
    }
}

extension Session {
    func row(channelCount: Int) -> EdgeSession {
        let origin = connection?.origin
        return EdgeSession(
            userID: userID, sessionID: id.rawValue, address: origin?.address ?? "",
            client: origin?.client ?? "", sinceMilliseconds: origin?.since ?? 0,
            queuedBytes: UInt64(connection?.waitingBytes ?? 0), channelCount: UInt32(channelCount))
    }
}
