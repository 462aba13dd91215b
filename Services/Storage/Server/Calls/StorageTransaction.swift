import NIOCore
import RTMModel
import RTMWire

/// What the calls of a group see and change: the store as the group has left it so far, the locks in memory,
/// and what follows when all of it is durable.
struct StorageTransaction {
    let rules: StorageRules
    var now: StorageNow
    /// The store as the present group sees it.
    var group = StoreGroup()
    var registry = LockRegistry()
    var outcome = WriteOutcome()
    /// Who asks for the present change.
    var link: UInt64 = 0
    var request: UInt64?
    /// What is answered with the number of messages that were removed.
    var purges: [(purge: HistoryPurge, link: UInt64, request: UInt64?)] = []
    /// Nil until the apps are known.
    var inboxRules: InboxRules?
    /// In which this node has the store; nil if it has no others beside it.
    private(set) var term: UInt64?
    /// The name under which messaging knows the sequence of events.
    private var source: UInt64 = 0
    private var expiryClock: ExpiryClock
    /// What the store has of the expiry clock.
    private var expiryClockStored: UInt64 = 0

    init(_ rules: StorageRules, now: StorageNow) {
        (self.rules, self.now) = (rules, now)
        expiryClock = ExpiryClock(stored: nil, now: now)
    }

    /// Begins with what the store has. Every owner of a lock counts as away, as no session has been seen.
    mutating func begin(with start: StoreStart, source: UInt64) {
        self.source = source
        expiryClock = ExpiryClock(stored: start.expiryClock, now: now)
        expiryClockStored = start.expiryClock ?? 0
        for (channel, table) in start.locks { registry.set(loaded(table), of: channel) }
        registry.committed()
        term = start.term
    }

    /// Whether what was read in this term still counts. Where there are no terms it always does.
    func isPresent(_ term: UInt64?) -> Bool { term == nil || term == self.term }

    /// Nothing of the group has taken place.
    mutating func undo() {
        group = StoreGroup()
        registry.rolledBack()
        outcome = WriteOutcome()
    }

    // MARK: Answers and events

    mutating func answer(_ result: Result<any StorageAnswer, RTMError>) {
        guard let request else { return }
        outcome.answers.append(.init(link: link, request: request, result: result))
    }

    mutating func announce(
        _ event: some PublicationEvent, in channel: ChannelKey, by publisher: String,
        _ feature: SubscriptionFeatures
    ) {
        queue(event.eventField, in: channel, by: publisher, feature)
    }

    mutating func queue(
        _ event: ByteBuffer, in channel: ChannelKey, by publisher: String, _ feature: SubscriptionFeatures
    ) {
        group.counter += 1
        group.queue(
            StorageOutboxEvent(
                source: source, sequence: group.counter, channel: channel, publisher: publisher,
                feature: feature, event: Array(event.readableBytesView)))
    }

    // MARK: What several changes share

    /// Counts what an app has, and refuses what its quota doesn't allow (L-42).
    mutating func count(
        _ changes: [(kind: AppUsage.Kind, before: Int, after: Int)], of app: String
    ) throws(StoreFailure) -> RTMError? {
        let changed = changes.filter { $0.before != $0.after }
        guard !changed.isEmpty else { return nil }
        let usage = try group.usage(of: app)
        var difference = AppUsage()
        do throws(RTMError) {
            for (kind, before, after) in changed {
                difference.add(try usage.difference(after - before, kind, rules.quotas))
            }
        } catch {
            return error
        }
        group.add(difference, of: app)
        return nil
    }

    /// A start after a crash may find the clock a minute back, which keeps messages a little longer.
    private static let expiryClockInterval: UInt64 = 60_000

    /// The time by which messages expire.
    mutating func expiryTime() -> UInt64 {
        let time = expiryClock.advance(to: now)
        if time >= expiryClockStored + Self.expiryClockInterval { group.save(expiryClock: time) }
        return time
    }

    /// The group is durable.
    mutating func written(_ changes: GroupChanges, _ written: GroupWritten) {
        outcome.events = changes.events
        outcome.eventsKept = changes.collected.events.count
        outcome.eventsExpired = written.eventsExpired
        for event in changes.collected.events { outcome.newEvents[event.key.appID] = event.offset }
        (outcome.expired, outcome.size) = (written.expired, written.size)
        for (asked, count) in zip(purges, written.purged) {
            (link, request) = (asked.link, asked.request)
            answer(.success(PurgedMessages(purge: asked.purge, count: count)))
        }
        if let time = changes.expiryClock { expiryClockStored = time }
    }
}
