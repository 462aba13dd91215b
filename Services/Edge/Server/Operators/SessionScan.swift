import RTMModel
import RTMServiceKit
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

/// Why an operator's request can't be answered: a sentence.
struct QueryRefusal: Error, Equatable {
    let reason: String
}

/// Which sessions of an edge an operator wants to see, and where the page begins. Pure.
struct SessionQuery: Sendable, Equatable {
    /// Limit: rows of a page.
    static let rowsMax = 1_000
    static let rowsDefault = 100

    /// The place of a session: its loop, and its slot there. Sessions that stay keep their places, so whoever
    /// reads page by page sees each of them once.
    struct Place: Sendable, Equatable {
        var loop = 0
        var slot = 0

        var text: String { "\(loop)-\(slot)" }
    }

    var appID: String?
    var userID: String?
    var rows = Self.rowsDefault
    var from = Place()

    init(_ query: [String: String]) throws(QueryRefusal) {
        try Self.check(query, has: ["app", "user", "limit", "after"])
        appID = query["app"]
        userID = query["user"]
        if let text = query["limit"] { rows = try Self.rows(text) }
        guard let after = query["after"] else { return }
        let parts = after.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let loop = parts[0], let slot = parts[1], loop >= 0, slot >= 0 else {
            throw QueryRefusal(reason: "after takes the \"next\" of the page before")
        }
        from = Place(loop: loop, slot: slot)
    }

    static func rows(_ text: String) throws(QueryRefusal) -> Int {
        guard let rows = Int(text), (1...rowsMax).contains(rows) else {
            throw QueryRefusal(reason: "limit takes a number from 1 to \(rowsMax)")
        }
        return rows
    }

    static func check(_ query: [String: String], has names: [String]) throws(QueryRefusal) {
        guard let unknown = query.keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw QueryRefusal(
            reason: "there is no parameter \"\(unknown)\"; there are \(names.joined(separator: ", "))")
    }

    func includes(_ user: String, of app: String) -> Bool {
        (userID == nil || user == userID) && (appID == nil || app == appID)
    }
}

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
