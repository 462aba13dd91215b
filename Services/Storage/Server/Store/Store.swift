package import RTMModel
package import RTMWire

/// What the rules need of a database. SQLite is one; an SQL engine on several machines may take its place
/// without a change of the rules (docs/decisions/0012-storage-on-sqlite.md).
///
/// This is the writing half, which one thread uses. A group of calls is one `read` and one `write`, however
/// many calls there are, so an engine over a network needs two round trips for a group. An acknowledgement
/// may be given once `write` has returned.
package protocol WritableStore: AnyObject {
    /// What the rules need to begin with. It is called again after a failure that ends what is known of the
    /// store (`StoreFailure.Kind.endsKnowledge`), and it fails as `.fenced` while another node has the store.
    func start() throws(StoreFailure) -> StoreStart
    /// Reads everything that the calls of a group need. The value has an entry for each key, an empty one for
    /// what isn't there.
    func read(_ keys: GroupKeys) throws(StoreFailure) -> GroupState
    /// Keeps the changes in one transaction. If it throws, nothing has changed, except that after `.stalled`
    /// all of it may have. Nobody else writes between the `read` of a group and its `write`.
    func write(_ changes: GroupChanges) throws(StoreFailure) -> GroupWritten
    /// Fails as `.fenced` if another node has the store by now. What was decided from memory alone holds only
    /// if this succeeds afterwards: a node that stood still doesn't know what others have written.
    func confirm() throws(StoreFailure)
    /// Gives the store up, so that another node may have it at once.
    func release()
    /// Proves that the store can write: keeps something that needs room, and removes it.
    func prove() throws(StoreFailure)
    func close()

    /// Whether apps publish in the database itself.
    var hasInbox: Bool { get }
    /// Reads what apps have committed since what was drained last, at most so many messages. A group with the
    /// cursor of the page says that they are drained.
    func readInbox(rows: Int) throws(StoreFailure) -> InboxPage

    /// The name under which messaging knows the sequence of new events. It is another one each time the store
    /// is opened: after a power cut or in a restored copy the counter may go through the same numbers again.
    var source: UInt64 { get }
}

extension WritableStore {
    /// For a store that no other node can have.
    func release() {}

    /// A file has one process, so nobody publishes in it.
    var hasInbox: Bool { false }
    func readInbox(rows: Int) throws(StoreFailure) -> InboxPage {
        throw StoreFailure(kind: .refused, reason: "the store has no inbox")
    }
}

/// What a store holds when it is opened.
package struct StoreStart: Sendable, Hashable {
    /// In which term this node has the store; nil where no other node can have it.
    var term: UInt64?
    /// What the expiry clock had reached when it was last kept; nil in a new store.
    package var expiryClock: UInt64?
    /// The lock tables in which a lock has an owner, with all owners away.
    package var locks: [ChannelKey: LockTable] = [:]

    package init(term: UInt64? = nil, expiryClock: UInt64? = nil, locks: [ChannelKey: LockTable] = [:]) {
        (self.term, self.expiryClock, self.locks) = (term, expiryClock, locks)
    }
}

/// The reading half, which one thread uses. Within `snapshot` it sees one committed state.
package protocol ReadableStore: AnyObject {
    func snapshot<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result
    func close()

    /// The counter as the writer last committed it.
    func committedCounter() throws(StoreFailure) -> UInt64
    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet
    func locks(of channel: ChannelKey) throws(StoreFailure) -> LockTable
    /// The matching messages, without those that expired by `now`.
    func messages(_ query: HistorySelection, now: UInt64) throws(StoreFailure) -> HistoryMatches
    /// Events that wait for messaging, in their order.
    func events(after sequence: UInt64, limit: Int) throws(StoreFailure) -> [StorageOutboxEvent]
    /// Bans that hold beyond `now`, ordered by app and user, behind the ones that are named.
    func bans(after place: BansRequest, now: UInt64, limit: Int) throws(StoreFailure) -> [Ban]
    func eventFeeds(of app: String) throws(StoreFailure) -> [EventLogs.FeedKey: EventLogs.FeedMark]
    func eventPage(_ request: EventsRequest, limit: Int) throws(StoreFailure) -> EventsResponse
    /// Readers of the events of an app, ordered by name.
    func readers(_ request: ReadersRequest, limit: Int, now: UInt64) throws(StoreFailure) -> [EventReader]
    /// Dead letters of a reader, ordered by number.
    func deadLetters(_ request: DeadLettersRequest, limit: Int) throws(StoreFailure) -> [DeadLetter]
    /// Audit lines of an app, the newest first.
    func audit(_ request: AuditRequest, limit: Int) throws(StoreFailure) -> [AuditLine]
    /// The position of an app's newest event, and the one before its oldest.
    func eventBounds(of app: String) throws(StoreFailure) -> (newest: StreamPosition, oldest: StreamPosition)
}

/// How much room a store takes, in bytes.
package struct StoreSize: Sendable, Hashable {
    var total = 0
    package var historyByApp: [String: Int] = [:]

    package init(total: Int = 0) { self.total = total }
}

/// A message that was published to be stored.
package struct StoredMessage: Sendable, Hashable {
    /// Identifies a message of a client.
    package struct Origin: Sendable, Hashable {
        package let instance: UInt64
        package let sequence: UInt64
    }

    package let channel: ChannelKey
    package var content: HistoryMessage
    /// Nil for a message that is never sent again.
    package var origin: Origin?
    /// When the message expires, in milliseconds (UTC); nil if it never does.
    package let expiry: UInt64?

    /// What the message counts in the quota of its app: its content, and about what its row takes.
    package var bytes: Int {
        content.payload.count + content.publisher.utf8.count + content.customType.utf8.count
            + Self.rowBytes
    }

    package static let rowBytes = 64
}

/// An event on its way to messaging. It is kept in the transaction that made it.
package struct StorageOutboxEvent: Sendable, Hashable {
    package let source: UInt64
    package let sequence: UInt64
    package let channel: ChannelKey
    package let publisher: String
    package let feature: SubscriptionFeatures
    /// The one field of `Publication.event`, with its key.
    package let event: [UInt8]

    package init(
        source: UInt64, sequence: UInt64, channel: ChannelKey, publisher: String,
        feature: SubscriptionFeatures, event: [UInt8]
    ) {
        self.source = source
        self.sequence = sequence
        self.channel = channel
        self.publisher = publisher
        self.feature = feature
        self.event = event
    }
}

/// Why the store could not do what it was asked to do.
package struct StoreFailure: Error, Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No room is left on the disk.
        case full
        /// Another process holds the database.
        case locked
        case readOnly = "read_only"
        /// The disk or the file system failed.
        case inputOutput = "io"
        /// The file is damaged, or it is not a database.
        case corrupt
        /// The file was deleted or replaced while the service uses it.
        case missing
        /// The server of the database can't be reached, or it doesn't serve at the moment.
        case unreachable
        /// This request can't be carried out; others can.
        case refused
        /// Nobody could say in time whether the last changes were kept: the connection was lost during the
        /// commit, or a standby doesn't confirm it.
        case stalled
        /// Another node writes to the store now.
        case fenced
        /// The store has an earlier state than this process has written: a standby that was behind is the
        /// server now, or a backup was restored.
        case wentBack = "went_back"

        /// Whether memory may differ from the store, so that everything has to begin anew with `start`.
        var endsKnowledge: Bool { self == .stalled || self == .fenced || self == .wentBack }
    }

    let kind: Kind
    /// The reason for the operator, with the engine's own words.
    let reason: String

    package init(kind: Kind, reason: String) {
        (self.kind, self.reason) = (kind, reason)
    }
}

extension StoreFailure {
    /// The reason, and what an operator can do about it.
    var sentence: String {
        let advice: String? =
            switch kind {
            case .full: "Free space on the disk"
            case .locked: "End the process that holds it"
            case .readOnly, .inputOutput:
                "Check that this user may read and write the file, and that the disk works"
            case .corrupt: "Put a backup in its place, or move it away to begin with an empty one"
            case .stalled: "Check the server of the database, and the standbys that it waits for"
            case .unreachable: "Check that the server of the database runs and can be reached from here"
            case .wentBack: "Wait for a standby at each commit, so that none that is behind takes over"
            case .fenced, .missing, .refused: nil
            }
        return advice.map { "\(reason). \($0)" } ?? reason
    }

    /// The error that the client of a call gets. The engine's own words are for the operator alone.
    ///
    /// - Parameter bytesMax: the limit of the database, which an error about a full one names.
    func error(_ code: ErrorCode, bytesMax: Int? = nil) -> RTMError {
        let limit = kind == .full ? bytesMax : nil
        let reason =
            switch kind {
            case .stalled: "the database stalls: the call may have taken place"
            case .fenced: "another storage node leads from now on"
            default: "storage can't write or read at the moment"
            }
        return RTMError(
            code, reason, retryAfter: kind == .fenced ? .milliseconds(100) : .seconds(1),
            limit: limit.map { .init(name: "storage bytes", value: UInt64($0)) })
    }
}

extension StoreFailure: CustomStringConvertible {
    package var description: String { reason }
}
