import NIOCore
package import RTMModel
import RTMWire

/// Something that may change the store, on its way to the writer.
struct StorageWrite: Sendable {
    enum Work: Sendable {
        case metadata(WriteMetadata, of: ChannelKey)
        case lock(LockRequest, of: ChannelKey, ticket: UInt64)
        case history(StoredMessage)
        case session(SessionPush)
        /// An edge can't be reached any more.
        case linkLost
        /// Messaging has acknowledged the events with these sequences.
        ///
        /// `term` is the one in which they were read; nil where there are no terms. What was read in another
        /// term counts no more: a database that has lost events gives their numbers to new ones.
        case announced([ClosedRange<UInt64>], term: UInt64? = nil)
        case removeExpiredHistory(limit: Int)
        case purgeHistory(HistoryPurge)
        case removeUnusedChannels(limit: Int)
        /// An operator shuts a user out, ends a session, or lets a user in again (S-4).
        case ban(Ban)
        /// Reports who is shut out, once at the start.
        case listBans
        /// A change over HTTP is kept in the audit trail of its app.
        case keepAudit(KeepAudit)
        case claimReader(ClaimReader)
        case keepReader(KeepReader)
        case moveReader(MoveReader)
        /// What messaging has sent of an app becomes events.
        case collect(CollectedFeed)
        /// Everything of the app that happened until then was collected, so what is due by then is announced.
        case settleEvents(appID: String, upTo: UInt64)
        case removeEvents(before: [String: UInt64], limit: Int)
        /// What of the inbox is published from now on.
        case inboxRules(InboxRules)
    }

    let work: Work
    /// The client that asked for the write; nil if no client did.
    let caller: Caller?
    /// The link of the request, and the request that waits for an answer.
    let link: UInt64
    let request: UInt64?

    /// Whether the answer depends on who owns a lock.
    var dependsOnLocks: Bool {
        switch work {
        case .lock: true
        case .metadata(let request, _): !request.lock.isEmpty
        default: false
        }
    }

    /// How much of a database of a limited size the write may fill.
    var room: StorageRoom {
        switch work {
        case .ban, .listBans: .bans
        case .lock, .session, .linkLost, .announced, .removeExpiredHistory, .purgeHistory,
            .removeUnusedChannels, .removeEvents, .inboxRules:
            .locks
        case .metadata(let request, _) where request.kind == .remove: .locks
        case .metadata, .history, .keepAudit, .claimReader, .keepReader, .moveReader, .collect,
            .settleEvents:
            .usual
        }
    }

    init(_ work: Work, caller: Caller? = nil, link: UInt64 = 0, request: UInt64? = nil) {
        self.work = work
        self.caller = caller
        self.link = link
        self.request = request
    }
}

/// The removal of a channel's stored messages, some at a time, so that no other write waits long.
package struct HistoryPurge: Sendable, Hashable {
    package let channel: ChannelKey
    /// Those that are older, in milliseconds; 0 means all.
    let before: UInt64
    /// How many are removed in one write.
    package let limit: Int
    /// How many earlier writes have removed.
    private(set) var removed = 0

    /// Those that are older, by the number of the time; 0 means all.
    package var beforeTime: UInt64 { LogTime.range(ofBound: before).lowerBound.number }

    init(_ request: PurgeHistoryRequest, limit: Int) {
        (channel, before, self.limit) = (request.channel, request.beforeMilliseconds, limit)
    }

    func next(after count: Int) -> HistoryPurge {
        var next = self
        next.removed += count
        return next
    }
}

/// What a group of writes has led to, once it is durable.
struct WriteOutcome: Sendable {
    enum Answer: Sendable {
        /// The answer to the client, in the form in which a `CallResponse` carries it.
        case call(ByteBuffer)
        /// The caller waits in line for a lock.
        case waiting(ticket: UInt64)
        case historyAppended
        /// So many messages were removed now.
        case purged(HistoryPurge, Int)
        /// The ban as it holds now, and what held before.
        case banned(Ban, before: Ban?)
        case keptAudit
        case claimedReader(ReaderClaimed)
        case keptReader(Bool)
        case movedReader(Bool)
    }

    struct Answered: Sendable {
        let link: UInt64
        let request: UInt64
        let result: Result<Answer, RTMError>
    }

    var answers: [Answered] = []
    var settled: [LockStep.Settled] = []
    /// The events in their order.
    var events: [StorageOutboxEvent] = []
    /// All bans, if they were listed.
    var bans: [Ban] = []
    var hasListedBans = false
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
    /// What was taken out of the inbox.
    var inbox = InboxOutcome()
    /// Events of which the store should have kept that they are announced, and has not.
    var notAnnounced: [ClosedRange<UInt64>] = []
    /// If set, nothing of the group took place, and the answers say so.
    var failure: StoreFailure?
    /// Whether memory was thrown away before the group, and what the store has was taken for true. All that
    /// callers have reported of their sessions is forgotten.
    var hasBegunAnew = false
    /// Whether the store was given up for another node.
    var hasReleased = false
    /// In which term it has; nil where no other node can have the store.
    var term: UInt64?

    /// Whether nobody has to learn of a drained page, because nothing was there.
    var hasNothing: Bool {
        inbox.published == 0 && inbox.refused.isEmpty && failure == nil && !hasBegunAnew
    }
}
