import RTMModel
import RTMWire

/// What the rules need of a database that keeps everything. SQLite is one; an SQL engine on several machines
/// may take its place without the rules noticing (docs/decisions/0012-storage-on-sqlite.md).
///
/// The writing half. One thread uses it. Between `begin` and `commit` everything is seen by the writer alone,
/// and all of it lasts or none; an acknowledgement may be given once `commit` has returned.
protocol WritableStore: AnyObject {
    func begin() throws(StoreFailure)
    func commit() throws(StoreFailure)
    /// Undoes everything since `begin`. Does nothing when no transaction is open.
    func rollBack()
    /// Keeps something that needs room, and removes it.
    func prove() throws(StoreFailure)
    func close()

    /// Numbers for fencing tokens, revisions of locks and the order of events are taken from it. What is set
    /// lasts with the transaction.
    var counter: UInt64 { get set }
    /// Under which name messaging is told the sequence of new events. Another one each time the store is
    /// opened: after a power cut or in a restored copy the counter may go through the same numbers again.
    var source: UInt64 { get }

    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet
    func save(_ change: MetadataSet.Change, to set: MetadataSet, of channel: ChannelKey) throws(StoreFailure)

    /// Owners come back as being away.
    func locks(of channel: ChannelKey) throws(StoreFailure) -> LockTable
    func save(_ lock: LockTable.Lock, of channel: ChannelKey) throws(StoreFailure)
    func removeLock(_ name: String, of channel: ChannelKey) throws(StoreFailure)
    func channelsWithLockOwners() throws(StoreFailure) -> [ChannelKey]

    /// Keeps a message, unless the channel has it already: one of its origin, or without an origin one of its
    /// time and content. When another one has its time, it gets a time behind the channel's newest.
    func append(_ message: StoredMessage) throws(StoreFailure)
    /// Removes messages that expired by `now`, at most `limit`; returns how many.
    func removeExpired(by now: UInt64, limit: Int) throws(StoreFailure) -> Int

    func usage(of app: String) throws(StoreFailure) -> AppUsage
    func save(_ usage: AppUsage, of app: String) throws(StoreFailure)

    /// Gives back the space of channels about which nothing is kept any more: looks at `limit` of them,
    /// at others each time. Nobody can tell; a channel whose metadata was ever written keeps its revision,
    /// for D-10 has it go on.
    func removeUnusedChannels(limit: Int) throws(StoreFailure)

    func queue(_ event: OutboxEvent) throws(StoreFailure)
    func removeEvents(_ sequences: [ClosedRange<UInt64>]) throws(StoreFailure)
}

/// The reading half. One thread uses it; what it sees within `snapshot` is one state that was committed.
protocol ReadableStore: AnyObject {
    func snapshot<Result>(_ body: () throws(StoreFailure) -> Result) throws(StoreFailure) -> Result
    func close()

    /// As the writer last committed it.
    func committedCounter() throws(StoreFailure) -> UInt64
    func metadata(of channel: ChannelKey) throws(StoreFailure) -> MetadataSet
    func locks(of channel: ChannelKey) throws(StoreFailure) -> LockTable
    /// Without those that expired by `now`.
    func messages(_ query: HistorySelection, now: UInt64) throws(StoreFailure) -> HistoryMatches
    /// Events that wait for messaging, in their order.
    func events(after sequence: UInt64, limit: Int) throws(StoreFailure) -> [OutboxEvent]
}

/// A message that somebody may want to read later.
struct StoredMessage: Sendable, Hashable {
    /// Which message of which client it is.
    struct Origin: Sendable, Hashable {
        let instance: UInt64
        let sequence: UInt64
    }

    let channel: ChannelKey
    var content: HistoryMessage
    /// Nil: it is never sent again.
    var origin: Origin?
    /// UTC in milliseconds; nil = never.
    let expiry: UInt64?
}

/// An event on its way to messaging, kept in the transaction that made it.
struct OutboxEvent: Sendable, Hashable {
    let source: UInt64
    let sequence: UInt64
    let channel: ChannelKey
    let publisher: String
    let feature: SubscriptionFeatures
    /// The one field of Publication.event, with its key.
    let event: [UInt8]
}

/// Why the store could not do what it was asked.
struct StoreFailure: Error, Sendable, Hashable {
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No room is left on the disk.
        case full
        /// Another process holds the database.
        case locked
        case readOnly = "read_only"
        /// The disk or the file system failed.
        case inputOutput = "io"
        /// What is in the file is no database, or a damaged one.
        case corrupt
        /// The request itself can't be carried out; others can.
        case refused
    }

    let kind: Kind
    /// For the operator, with the engine's own words.
    let reason: String
}

extension StoreFailure {
    /// As the client of a call gets it.
    func error(_ code: ErrorCode) -> RTMError {
        RTMError(code, "storage can't keep or read anything now: \(reason)", retryAfter: .seconds(1))
    }
}

extension StoreFailure: CustomStringConvertible {
    var description: String { reason }
}
