import RTMModel
import RTMServiceKit
import RTMWire

/// What operators see of one loop. Each call is one turn, so it looks at a limited number of slots; the
/// caller comes again for the next ones, and whatever waits on the loop goes in between.
extension EdgeLoop {
    /// Limits: slots that one turn looks at, rows that it makes, and channels that it lists of one session.
    private static let slotsPerTurn = 4_096
    private static let rowsPerTurn = 100
    static let channelsPerSession = 1_000

    /// What one turn has found.
    struct Slice<Found: Sendable>: Sendable {
        var found: [Found] = []
        /// Where the next turn continues; nil if this was all.
        var next: Int?
    }

    /// One session as JSON.
    struct SessionRow: Sendable {
        let json: String
        /// It counts once, and once for each channel that it lists.
        let rows: Int
    }

    /// - Parameter rows: as many are wanted; a session that lists many channels may bring more.
    func sessions(_ query: SessionQuery, from slot: Int, rows: Int) -> Slice<SessionRow> {
        var slice = Slice<SessionRow>()
        var left = min(rows, Self.rowsPerTurn)
        slice.next = eachSession(from: slot) { session in
            guard query.includes(session.userID, of: session.appID) else { return true }
            let row = row(of: session, listsChannels: query.userID != nil)
            slice.found.append(row)
            left -= row.rows
            return left > 0
        }
        return slice
    }

    /// Returns where to continue; nil behind the last slot.
    ///
    /// - Parameter body: returns whether to continue.
    private func eachSession(from slot: Int, _ body: (Session) -> Bool) -> Int? {
        let end = min(sessions.slotCount, slot + Self.slotsPerTurn)
        var index = slot
        while index < end {
            let session = sessions[slot: index]
            index += 1
            if let session, !body(session) { break }
        }
        return index < sessions.slotCount ? index : nil
    }

    private func row(of session: Session, listsChannels: Bool) -> SessionRow {
        let origin = session.connection?.origin
        let subscriptions = subscribing.overview(
            of: session.key, limit: listsChannels ? Self.channelsPerSession : 0)
        var fields: [(name: String, json: String)] = [
            ("app", JSONText.quoted(session.appID)), ("user", JSONText.quoted(session.userID)),
            // Numbers of 64 bits are texts, because most readers of JSON have no such numbers.
            ("session", JSONText.quoted("\(session.id.rawValue)")),
            ("since", origin.flatMap(\.since).map { JSONText.quoted(Timestamp.text($0)) } ?? "null"),
            ("address", JSONText.quoted(origin?.address ?? "")),
            ("client", JSONText.quoted(origin?.client ?? "")),
            ("queuedBytes", "\(session.connection?.waitingBytes ?? 0)"),
            ("channelCount", "\(subscriptions.count)"),
        ]
        if listsChannels {
            fields.append(("channels", JSONText.array(subscriptions.channels.map(\.json))))
            fields.append(("channelsOmitted", "\(subscriptions.count - subscriptions.channels.count)"))
        }
        return SessionRow(json: JSONText.object(fields), rows: 1 + subscriptions.channels.count)
    }

}

/// Where the connection of a session comes from.
struct ConnectionOrigin: Sendable, Equatable {
    var address = ""
    /// The name that the client gives its software; empty if it is unknown.
    var client = ""
    /// When the login was accepted, in milliseconds since 1970 (UTC); nil before that.
    var since: UInt64?
}

/// A channel of a session.
struct SubscriptionOverview: Sendable, Equatable {
    let channel: ChannelKey
    /// Up to where the session has been sent what came; nil until the channel is attached.
    let position: StreamPosition?
    /// Whether the subscribe has ended.
    let isLive: Bool

    fileprivate var json: String {
        JSONText.object([
            ("channel", JSONText.quoted(channel.name)), ("type", JSONText.quoted("\(channel.type)")),
            ("epoch", position.map { JSONText.quoted("\($0.epoch)") } ?? "null"),
            ("offset", position.map { "\($0.offset)" } ?? "null"), ("subscribed", "\(isLive)"),
        ])
    }
}

/// The names that clients give their software, each of them once: a connection keeps a number of one byte.
/// Pure.
struct ClientNames {
    private var names = [""]
    private var numbers: [String: UInt8] = [:]

    /// 0 for no name, and for one more than there are numbers.
    mutating func number(of name: WireText) -> UInt8 {
        guard !name.isEmpty else { return 0 }
        let name = name.string
        if let number = numbers[name] { return number }
        guard names.count <= UInt8.max else { return 0 }
        names.append(name)
        numbers[name] = UInt8(names.count - 1)
        return UInt8(names.count - 1)
    }

    /// Empty for 0.
    subscript(number: UInt8) -> String { names[Int(number)] }
}
