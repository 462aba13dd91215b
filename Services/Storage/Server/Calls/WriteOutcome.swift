import RTMModel
import RTMWire

/// What a group of writes has led to, once it is durable.
struct WriteOutcome: Sendable {
    struct Answered: Sendable {
        let link: UInt64
        let request: UInt64
        let result: Result<any StorageAnswer, RTMError>
    }

    var answers: [Answered] = []
    var settled: [LockStep.Settled] = []
    /// The events in their order.
    var events: [StorageOutboxEvent] = []
    /// All bans, if they were listed.
    var bans: [Ban] = []
    var hasListedBans = false
    /// Whether they should have been listed, and could not.
    var hasNotListedBans = false
    /// The feeds that were collected, and whether their entries were kept.
    var collected: [(feed: EventLogs.FeedKey, isKept: Bool)] = []
    /// The apps that have new events, with the offset of the newest.
    var newEvents: [String: UInt64] = [:]
    var eventsKept = 0
    /// How many events were removed, if the group removed some.
    var eventsExpired: Int?
    /// How many messages were removed, if the group removed expired ones.
    var expired: Int?
    /// How large the store is, if the group removed expired messages, which it does once a second.
    var size: StoreSize?
    /// How many messages of clients were stored.
    var historyStored = 0
    /// What was taken out of the inbox.
    var inbox = InboxOutcome()
    /// Events of which the store should have kept that they are announced, and has not.
    var notAnnounced: [ClosedRange<UInt64>] = []
    /// If set, nothing of the group took place, and the answers say so.
    var failure: StoreFailure?
    /// What the shard learns of its tenure, in the order in which it took place.
    var tenure: [ShardTenure.Change] = []

    /// Whether nobody has to learn of a drained page, because nothing was there.
    var hasNothing: Bool {
        inbox.published == 0 && inbox.refused.isEmpty && failure == nil && tenure.isEmpty
    }

    mutating func append(_ other: WriteOutcome) {
        answers += other.answers
        settled += other.settled
        events += other.events
        bans += other.bans
        hasListedBans = hasListedBans || other.hasListedBans
        hasNotListedBans = hasNotListedBans || other.hasNotListedBans
        collected += other.collected
        notAnnounced += other.notAnnounced
        newEvents.merge(other.newEvents) { $1 }
        eventsKept += other.eventsKept
        eventsExpired = other.eventsExpired ?? eventsExpired
        expired = other.expired ?? expired
        size = other.size ?? size
        historyStored += other.historyStored
        failure = other.failure ?? failure
        tenure += other.tenure
    }
}
