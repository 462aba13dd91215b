import RTMServiceKit

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
