import RTMModel
import RTMWire

/// What presence knows of a loop's sessions hangs on one lease, and this says when it has to be told anew:
/// after every loss of the link (what was pushed meanwhile didn't arrive), when it knows nothing under the
/// lease (it was started anew), and when a join came to nothing.
///
/// A value without I/O.
struct PresenceLease {
    /// Limit: memberships in one request of a sync.
    static let syncBatch = 512
    /// Limit: sessions that get a new snapshot at the same time.
    static let refreshesMax = 32
    /// How long to wait with a renewal when the last one failed.
    static let retryDelay = Duration.seconds(1)
    /// Limit: departures remembered while presence is away. Who goes beyond it is lost to presence with the
    /// next sync, and gone when the presence timeout is over.
    static let untoldMax = 10_000
    /// How long a presence that has forgotten everything gets to hear of the other edges before its snapshots
    /// replace what subscribers know: links come back after at most so long.
    static let othersDelay = Duration.seconds(5)

    /// A session has left a channel, or has ended.
    enum Departure: Equatable {
        case left(ChannelKey, Caller)
        case ended(Caller, SessionEnd)
    }

    let id: UInt64
    private var isSyncNeeded = true
    private var isSyncing = false
    private var isSyncFirst = true
    /// Sessions that lack a snapshot, or have one that means nothing any more.
    private var isRefreshNeeded = false
    /// How long the new snapshots have to wait after a sync.
    private(set) var refreshDelay = Duration.zero
    /// Sessions that the sync has yet to tell of.
    private var unsynced: [Session] = []
    private var unrefreshed: [Session] = []
    private var unrefreshedPlaces: (session: Session, places: [Int])?
    private var refreshing = 0
    /// In order.
    private var untold: [Departure] = []
    /// Told over this link, but perhaps not heard: the answer to a renewal that was asked for later says that
    /// they were, because the link keeps the order.
    private var unconfirmed: [Departure] = []
    /// How many of them were told before the renewal that is under way.
    private var toldBeforeRenewal = 0
    /// What was unconfirmed when the link was lost.
    private var doubtful: [Departure] = []

    init(id: UInt64) { self.id = id }

    mutating func linkUp() { isSyncNeeded = true }

    mutating func linkDown() {
        isSyncNeeded = true
        isSyncing = false
        unsynced = []
        if !unrefreshed.isEmpty || unrefreshedPlaces != nil { isRefreshNeeded = true }
        unrefreshed = []
        unrefreshedPlaces = nil
        doubtful += unconfirmed.prefix(Self.untoldMax - min(doubtful.count, Self.untoldMax))
        unconfirmed = []
        toldBeforeRenewal = 0
    }

    // MARK: Departures

    /// Presence could not be told.
    mutating func remember(_ departure: Departure) {
        if untold.count < Self.untoldMax { untold.append(departure) }
    }

    /// To be told before a sync: a user who unsubscribed has left, and is not lost.
    mutating func takeUntold() -> [Departure] {
        defer { untold = [] }
        return untold
    }

    /// Presence was told, over a link that was up.
    mutating func told(_ departure: Departure) {
        if unconfirmed.count < Self.untoldMax { unconfirmed.append(departure) }
    }

    /// To be told again before those: a second time it changes nothing. Who has come into the channel again
    /// since, in the same session, is there.
    mutating func takeDoubtful() -> [Departure] {
        defer { doubtful = [] }
        return doubtful
    }

    /// A renewal is asked for.
    mutating func renewing() { toldBeforeRenewal = unconfirmed.count }

    /// A membership that presence was not told of, or not for certain.
    mutating func missed(snapshot: Bool) {
        isSyncNeeded = true
        if snapshot { isRefreshNeeded = true }
    }

    /// Whether a sync begins, which is about these sessions.
    mutating func renewed(isKnown: Bool, _ sessions: @autoclosure () -> [Session]) -> Bool {
        unconfirmed.removeFirst(toldBeforeRenewal)
        toldBeforeRenewal = 0
        if !isKnown {
            isSyncNeeded = true
            isRefreshNeeded = true
        }
        guard isSyncNeeded, !isSyncing else { return false }
        isSyncNeeded = false
        isSyncing = true
        isSyncFirst = true
        refreshDelay = isKnown ? .zero : Self.othersDelay
        unsynced = sessions()
        return true
    }

    /// The next part of the sync. Sessions are asked when their turn comes: what they have left meanwhile
    /// presence knows already.
    mutating func nextSync(_ memberships: (Session) -> [Membership]) -> SyncRequest {
        var batch: [Membership] = []
        while batch.count < Self.syncBatch, let session = unsynced.popLast() {
            batch += memberships(session)
        }
        defer { isSyncFirst = false }
        return SyncRequest(
            lease: id, memberships: batch, isFirst: isSyncFirst, isLast: unsynced.isEmpty)
    }

    enum Synced: Equatable {
        case more
        /// Presence knows everything; these sessions get new snapshots, if any.
        case done(refreshes: Bool)
    }

    mutating func synced(_ sessions: @autoclosure () -> [Session]) -> Synced {
        guard isSyncing else { return .done(refreshes: false) }
        guard unsynced.isEmpty else { return .more }
        isSyncing = false
        guard isRefreshNeeded else { return .done(refreshes: false) }
        isRefreshNeeded = false
        unrefreshed = sessions()
        return .done(refreshes: true)
    }

    /// The next renewal of the lease tries again.
    mutating func syncFailed() {
        isSyncNeeded = true
        isSyncing = false
        unsynced = []
    }

    // MARK: New snapshots

    /// The next subscription to get one; nil when enough are under way, or all have got theirs.
    mutating func nextRefresh(_ places: (Session) -> [Int]) -> (session: Session, place: Int)? {
        guard refreshing < Self.refreshesMax else { return nil }
        while true {
            if let place = unrefreshedPlaces?.places.popLast(), let session = unrefreshedPlaces?.session {
                refreshing += 1
                return (session, place)
            }
            guard let session = unrefreshed.popLast() else {
                unrefreshedPlaces = nil
                return nil
            }
            unrefreshedPlaces = (session, places(session))
        }
    }

    mutating func refreshed() { refreshing -= 1 }
}
