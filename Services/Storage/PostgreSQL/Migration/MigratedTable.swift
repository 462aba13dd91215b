/// A table that both engines have, and how its rows pass from one to the other.
///
/// A row is a list of values: where it hangs on a channel the app, the type and the name of that first,
/// then the columns. A channel has another number in each database, so numbers of channels are passed on,
/// and not compared.
struct MigratedTable {
    enum Owner {
        /// The table of channels itself: its number, and who it is.
        case channels
        /// Its first column is the number of a channel.
        case channel
        /// Its first column is the app that it belongs to.
        case app
    }

    struct Column {
        enum Kind {
            case integer
            /// A text in both.
            case text
            /// A text in SQLite, bytes in PostgreSQL, because it may have the character U+0000.
            case characters
            case bytes
        }

        let postgres: String
        let sqlite: String
        let kind: Kind
        /// How SQLite reads it, where that is not the column itself.
        var read: String?
        /// What SQLite keeps of a parameter, where that is not the parameter itself.
        var kept = "?"
    }

    let name: String
    let owner: Owner
    let columns: [Column]

    /// How many values are in front of those of the columns.
    var leading: Int { owner == .channel ? 3 : 0 }
    /// Where a row says which channel it is about, by app, type and name; nil where it is about an app.
    var identity: Int? {
        switch owner {
        case .channels: 1
        case .channel: 0
        case .app: nil
        }
    }
    /// The value that is the number of a channel.
    var channelNumber: Int? {
        switch owner {
        case .channels: 0
        case .channel: 3
        case .app: nil
        }
    }
    /// The kinds of all values of a row.
    var kinds: [Column.Kind] {
        (owner == .channel ? [.text, .integer, .text] : []) + columns.map(\.kind)
    }
}

extension MigratedTable {
    /// In this order, so that what is referred to is there first. What an app uses is counted again, and
    /// the counters of the store are no table of rows.
    static let all: [MigratedTable] = [
        Self(
            name: "channels", owner: .channels,
            columns: [.integer("id"), .text("app"), .integer("type"), .text("name")]
                + [.integer("metadata_revision")]),
        Self(
            name: "metadata", owner: .channel,
            columns: [.integer("channel"), .characters("key"), .integer("place"), .characters("value")]
                + [.integer("revision"), .integer("updated_ms"), .text("author")]),
        Self(
            name: "locks", owner: .channel,
            columns: [.integer("channel"), .text("name"), .integer("ttl_s"), .text("owner")]
                + [.integer("instance"), .integer("token")]),
        Self(
            name: "history", owner: .channel,
            columns: [.integer("channel"), .integer("time"), .expiry, .text("publisher")]
                + [.integer("type"), .text("custom_type"), .bytes("payload")]
                + [.integer("instance"), .integer("sequence")]),
        Self(
            name: "outbox", owner: .channel,
            columns: [.integer("channel"), .integer("sequence"), .integer("source")]
                + [.text("publisher"), .integer("feature"), .bytes("event")]),
        Self(
            name: "bans", owner: .app,
            columns: [.text("app"), .text("username", "user"), .integer("until_ms")]
                + [.characters("reason"), .integer("since_ms"), .characters("operator")]),
        Self(
            name: "revocations", owner: .app,
            columns: [.text("app"), .text("username", "user"), .integer("until_ms")]
                + [.integer("tokens_before_s"), .characters("reason"), .integer("since_ms")]
                + [.characters("operator")]),
        Self(
            name: "event_apps", owner: .app,
            columns: [.text("app"), .integer("newest"), .integer("removed")]),
        Self(
            name: "event_epochs", owner: .app,
            columns: [.eventApp, .integer("after_offset", "after"), .integer("epoch")]),
        Self(
            name: "event_feeds", owner: .app,
            columns: [.eventApp, .integer("feed", "shard"), .integer("epoch"), .integer("sequence")]
                + [.integer("part", "partition"), .integer("position", "offset"), .integer("read_ms")]),
        Self(
            name: "events", owner: .app,
            columns: [.eventApp, .integer("position", "offset"), .integer("type"), .integer("key_type")]
                + [.text("key"), .integer("number"), .integer("time_ms"), .bytes("body")]),
        Self(
            name: "event_marks", owner: .app,
            columns: [.eventApp, .integer("time_ms"), .integer("position", "offset")]),
        Self(
            name: "event_keys", owner: .app,
            columns: [.eventApp, .integer("type"), .text("name"), .integer("number")]
                + [.integer("position", "offset"), .integer("members"), .integer("occupied")]
                + [.integer("due_ms")]),
        Self(
            name: "event_members", owner: .app,
            columns: [.eventApp, .integer("type"), .text("name"), .text("username", "user")]),
        Self(
            name: "event_readers", owner: .app,
            columns: [.text("app"), .characters("name"), .text("owner"), .integer("term")]
                + [.integer("lease_end_ms"), .integer("epoch"), .integer("position", "offset")]
                + [.bytes("state"), .integer("last_letter"), .integer("dropped")]),
        Self(
            name: "dead_letters", owner: .app,
            columns: [.text("app"), .characters("reader"), .integer("number"), .integer("epoch")]
                + [.integer("position", "offset"), .integer("time_ms"), .characters("reason")]
                + [.bytes("body")]),
        Self(
            name: "audit", owner: .app,
            columns: [.text("app"), .integer("number"), .integer("time_ms"), .characters("operator")]
                + [.characters("address"), .characters("what"), .characters("whom")]
                + [.characters("outcome"), .integer("omitted")]),
    ]
}

extension MigratedTable.Column {
    fileprivate static func integer(_ name: String, _ sqlite: String? = nil) -> Self {
        Self(postgres: name, sqlite: sqlite ?? name, kind: .integer)
    }
    fileprivate static func text(_ name: String, _ sqlite: String? = nil) -> Self {
        Self(postgres: name, sqlite: sqlite ?? name, kind: .text)
    }
    fileprivate static func characters(_ name: String) -> Self {
        Self(postgres: name, sqlite: name, kind: .characters)
    }
    fileprivate static func bytes(_ name: String) -> Self {
        Self(postgres: name, sqlite: name, kind: .bytes)
    }

    /// In SQLite NULL for a message that never expires, in PostgreSQL the greatest number.
    fileprivate static let expiry = Self(
        postgres: "expiry_ms", sqlite: "expiry_ms", kind: .integer,
        read: "coalesce(t.expiry_ms, 9223372036854775807)", kept: "nullif(?, 9223372036854775807)")

    /// In SQLite the app's number, in PostgreSQL its name.
    fileprivate static let eventApp = Self(
        postgres: "app", sqlite: "app", kind: .text,
        read: "(SELECT a.app FROM event_apps a WHERE a.id = t.app)",
        kept: "(SELECT id FROM event_apps WHERE app = ?)")
}

/// A value of a row, the same in both engines.
enum MigratedValue: Hashable {
    case integer(Int64)
    case bytes([UInt8])
    case null

    var integer: Int64 {
        if case .integer(let value) = self { value } else { 0 }
    }

    var text: String {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { "" }
    }

    var byteCount: Int {
        if case .bytes(let bytes) = self { bytes.count } else { 8 }
    }
}

/// What the rows of a table are, whatever their order. Two tables with the same summary have the same
/// rows: every value of every row is in it.
struct RowSummary: Equatable {
    private(set) var count = 0
    private var sum = (UInt64(0), UInt64(0))

    mutating func add(_ row: [MigratedValue], of table: MigratedTable) {
        count += 1
        var values = row
        if let number = table.channelNumber { values[number] = .null }
        sum.0 &+= Self.hash(values, 1)
        sum.1 &+= Self.hash(values, 2)
    }

    private static func hash(_ values: [MigratedValue], _ salt: UInt8) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(values)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    static func == (one: Self, other: Self) -> Bool { one.count == other.count && one.sum == other.sum }
}
