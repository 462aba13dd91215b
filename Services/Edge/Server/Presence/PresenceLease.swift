import RTMModel
import RTMWire

/// What presence knows of a loop's sessions hangs on one lease. This value says when everything has to be
/// announced to presence anew: after every loss of the link (what was pushed meanwhile didn't arrive), when
/// presence knows nothing under the lease (it was started anew), and when a join came to nothing. With each
/// renewal those whom presence doesn't list are announced again, because newer logins of the users are in the
/// channels. It also says who gets a new snapshot: all subscribers if presence knew nothing, and otherwise
/// only the subscriptions that lack one.
///
/// A value without I/O.
struct PresenceLease {
    /// Limit: a request of a sync ends with the session that brings it to this many memberships.
    static let syncBatch = 512
    /// Limit: bytes of states in one request of a sync. Beyond it a membership is announced without them, and
    /// its client sets them.
    static let syncStatesBytesMax = 512 * 1024
    /// Limit: sessions that get a new snapshot at the same time.
    static let refreshesMax = 32
    /// Limit: memberships remembered that aren't listed. When there are more, everything is announced
    /// anew.
    static let unlistedMax = 1_024
    /// Limit: subscriptions remembered that lack a snapshot. When there are more, all get a new one.
    static let lackingMax = 65_536
    /// How long the next renewal waits after one that failed.
    static let retryDelay = Duration.seconds(1)
    /// Limit: leaves remembered while presence is away. Presence misses a leave beyond it in the next
    /// sync, and lets that user go when the presence timeout is over.
    static let unannouncedMax = 10_000
    /// Limit: joins remembered that presence may not know of. A user who joins beyond it is a member without
    /// an event.
    static let missedJoinsMax = 10_000
    /// How long a presence that has forgotten everything waits for the syncs of the other edges, before its
    /// snapshots replace what subscribers know. Links come back within this time.
    static let othersDelay = Duration.seconds(5)

    /// A session has left a channel, or has ended.
    enum Leave: Equatable {
        case left(SessionKey, ChannelKey, Caller)
        case ended(Caller, SessionEnd)
    }

    private struct Member: Hashable {
        let session: SessionKey
        let channel: ChannelKey
    }

    let id: UInt64
    /// How many links there have been. By this number presence knows the newest one.
    private(set) var link: UInt64 = 0
    private var isSyncNeeded = true
    private var isSyncing = false
    private var isSyncFirst = true
    /// No subscriber's snapshot is valid any more.
    private var isRefreshNeeded = false
    /// The channel indices of the subscriptions that lack a snapshot, by their sessions.
    private var lacking: [SessionKey: Set<Int>] = [:]
    private var lackingCount = 0
    /// How long the new snapshots have to wait after a sync.
    private(set) var refreshDelay = Duration.zero
    /// The sessions that the sync has yet to announce.
    private var unsynced: [SessionKey] = []
    /// The memberships of the request that is under way, in its order.
    private var reported: [Member] = []
    /// The channels whose joins presence may not know of, by their sessions.
    private var missedJoins: [SessionKey: Set<ChannelKey>] = [:]
    private var missedJoinsCount = 0
    /// What sessions show from their joins on, of which presence may not know, by their channels (P-46).
    private var heldStates: [SessionKey: [ChannelKey: JoinStates]] = [:]
    /// The memberships that presence doesn't list, because newer logins of the users are in the channels.
    private var unlisted: Set<Member> = []
    /// The sync announces these memberships only.
    private var syncedAgain: Set<Member>?
    /// The sessions that have yet to get new snapshots, the last one first. The indices are nil for a session
    /// that gets one wherever it wants presence; that is looked up when its turn comes.
    private var unrefreshed: [(session: SessionKey, channelIndices: [Int]?)] = []
    private var refreshing = 0
    /// Leaves that have yet to be announced to presence, in their order.
    private var unannounced: [Leave] = []
    /// Leaves that were sent over this link and may not have arrived. The answer to a renewal that was
    /// sent behind them shows that they have, because the link keeps the order.
    private var unconfirmed: [Leave] = []
    /// How many of these were sent before the renewal that is under way.
    private var announcedBeforeRenewal = 0
    /// The leaves that were unconfirmed when the link was lost.
    private var doubtful: [Leave] = []

    init(id: UInt64) { self.id = id }

    mutating func linkUp() {
        link += 1
        isSyncNeeded = true
    }

    mutating func linkDown() {
        isSyncNeeded = true
        isSyncing = false
        unsynced = []
        unlisted = []
        let cutOff = unrefreshed
        unrefreshed = []
        doubtful += unconfirmed.prefix(Self.unannouncedMax - min(doubtful.count, Self.unannouncedMax))
        unconfirmed = []
        announcedBeforeRenewal = 0
        for (session, channelIndices) in cutOff {
            guard let channelIndices else {
                isRefreshNeeded = true
                continue
            }
            for channelIndex in channelIndices { lacksSnapshot(session, at: channelIndex) }
        }
    }

    // MARK: Leaves

    /// The leave could not be announced.
    mutating func remember(_ leave: Leave) {
        if unannounced.count < Self.unannouncedMax { unannounced.append(leave) }
    }

    /// These have to be announced before a sync: a user who unsubscribed has left, and is not lost.
    mutating func takeUnannounced() -> [Leave] {
        defer { unannounced = [] }
        return unannounced
    }

    /// The leave was sent, over a link that was up.
    mutating func announced(_ leave: Leave) {
        if unconfirmed.count < Self.unannouncedMax { unconfirmed.append(leave) }
    }

    /// These have to be announced once more, before the new ones. A leave that is announced twice changes
    /// nothing. A session that has come into the channel again since then must be left out.
    mutating func takeDoubtful() -> [Leave] {
        defer { doubtful = [] }
        return doubtful
    }

    /// A renewal is about to be sent.
    mutating func renewing() { announcedBeforeRenewal = unconfirmed.count }

    /// A membership was not announced to presence, or the announcement may be lost.
    mutating func missed() { isSyncNeeded = true }

    /// A join was not announced to presence, or the announcement may be lost. Where presence knows nothing of
    /// it the next sync makes the event of the join.
    mutating func missedJoin(of session: SessionKey, in channel: ChannelKey) {
        missed()
        guard missedJoinsCount < Self.missedJoinsMax else { return }
        if missedJoins[session, default: []].insert(channel).inserted { missedJoinsCount += 1 }
    }

    /// The next sync announces these states together with the membership, unless presence lists it by then.
    /// Their memory has been taken, which bounds how many are held.
    ///
    /// - Parameter states: nil if there is nothing to announce any more.
    mutating func hold(_ states: JoinStates?, of session: SessionKey, in channel: ChannelKey) {
        guard states != nil || heldStates[session] != nil else { return }
        heldStates[session, default: [:]][channel] = states
        if heldStates[session]?.isEmpty == true { heldStates[session] = nil }
    }

    private mutating func forgetMissedJoin(of session: SessionKey, in channel: ChannelKey) {
        guard missedJoins[session]?.remove(channel) != nil else { return }
        missedJoinsCount -= 1
        if missedJoins[session]?.isEmpty == true { missedJoins[session] = nil }
    }

    /// The subscription gets a snapshot with the next renewal.
    mutating func lacksSnapshot(_ session: SessionKey, at channelIndex: Int) {
        guard !isRefreshNeeded else { return }
        guard lackingCount < Self.lackingMax else {
            isRefreshNeeded = true
            return forgetLacking()
        }
        if lacking[session, default: []].insert(channelIndex).inserted { lackingCount += 1 }
    }

    mutating func ended(_ session: SessionKey) {
        lackingCount -= lacking.removeValue(forKey: session)?.count ?? 0
        missedJoinsCount -= missedJoins.removeValue(forKey: session)?.count ?? 0
        heldStates[session] = nil
    }

    /// Presence has answered that it doesn't list the session in the channel.
    mutating func isUnlisted(_ session: SessionKey, in channel: ChannelKey) {
        guard unlisted.count < Self.unlistedMax else { return missed() }
        unlisted.insert(Member(session: session, channel: channel))
    }

    private mutating func forgetLacking() {
        lacking = [:]
        lackingCount = 0
    }

    /// Returns whether a sync of these sessions begins.
    mutating func renewed(isKnown: Bool, _ sessions: @autoclosure () -> [SessionKey]) -> Bool {
        unconfirmed.removeFirst(announcedBeforeRenewal)
        announcedBeforeRenewal = 0
        if !isKnown {
            isSyncNeeded = true
            isRefreshNeeded = true
        }
        guard isSyncNeeded || !unlisted.isEmpty, !isSyncing else { return false }
        syncedAgain = isSyncNeeded ? nil : unlisted
        unsynced = isSyncNeeded ? sessions() : Array(Set(unlisted.map(\.session)))
        unlisted = []
        isSyncNeeded = false
        isSyncing = true
        isSyncFirst = true
        refreshDelay = isKnown ? .zero : Self.othersDelay
        return true
    }

    /// The next request of the sync. The memberships of a session are looked up when its turn comes: presence
    /// already knows what the session has left meanwhile.
    mutating func nextSync(_ memberships: (SessionKey) -> [Membership]) -> SyncRequest {
        var batch: [Membership] = []
        reported = []
        var statesBytes = 0
        while batch.count < Self.syncBatch, statesBytes < Self.syncStatesBytesMax,
            let session = unsynced.popLast()
        {
            let members = memberships(session)
            for channel in missedJoins[session] ?? []
            where !members.contains(where: { $0.channel == channel }) {
                forgetMissedJoin(of: session, in: channel)
            }
            for var membership in members {
                let member = Member(session: session, channel: membership.channel)
                guard syncedAgain?.contains(member) != false else { continue }
                reported.append(member)
                membership.unannounced = missedJoins[session]?.contains(member.channel) ?? false
                if statesBytes < Self.syncStatesBytesMax, let states = heldStates[session]?[member.channel] {
                    membership.states = states.items
                    statesBytes += states.byteCount
                }
                batch.append(membership)
            }
        }
        defer { isSyncFirst = false }
        let isWhole = syncedAgain == nil
        return SyncRequest(
            lease: id, memberships: batch, isFirst: isWhole && isSyncFirst,
            isLast: isWhole && unsynced.isEmpty)
    }

    enum Synced: Equatable {
        case more
        /// Presence knows everything. New snapshots are given now if there is a need.
        case done(refreshes: Bool)
    }

    /// - Parameter indices: which memberships of the request presence doesn't list.
    mutating func synced(unlisted indices: [Int] = [], _ sessions: @autoclosure () -> [SessionKey]) -> Synced
    {
        guard isSyncing else { return .done(refreshes: false) }
        for index in indices where reported.indices.contains(index) {
            isUnlisted(reported[index].session, in: reported[index].channel)
        }
        for member in reported {
            forgetMissedJoin(of: member.session, in: member.channel)
            hold(nil, of: member.session, in: member.channel)
        }
        reported = []
        guard unsynced.isEmpty else { return .more }
        isSyncing = false
        return .done(refreshes: queueRefreshes(sessions))
    }

    /// The next renewal of the lease tries again.
    mutating func syncFailed() {
        isSyncNeeded = true
        isSyncing = false
        unsynced = []
    }

    // MARK: New snapshots

    /// Called with a renewal that needs no sync. Only snapshots that failed the last time are asked for
    /// again.
    ///
    /// - Returns: whether new snapshots are to be given now.
    mutating func beginRefreshes(_ sessions: @autoclosure () -> [SessionKey]) -> Bool {
        guard !isSyncing, unrefreshed.isEmpty else { return false }
        return queueRefreshes(sessions)
    }

    private mutating func queueRefreshes(_ sessions: () -> [SessionKey]) -> Bool {
        if isRefreshNeeded {
            isRefreshNeeded = false
            unrefreshed = sessions().map { ($0, nil) }
        } else {
            unrefreshed += lacking.map { ($0.key, Array($0.value)) }
        }
        forgetLacking()
        return !unrefreshed.isEmpty
    }

    /// The next subscription to get a snapshot; nil if enough are under way, or if there are no more.
    mutating func nextRefresh(_ channelIndices: (SessionKey) -> [Int]) -> (
        session: SessionKey, channelIndex: Int
    )? {
        guard refreshing < Self.refreshesMax else { return nil }
        while let next = unrefreshed.popLast() {
            var left = next.channelIndices ?? channelIndices(next.session)
            guard let channelIndex = left.popLast() else { continue }
            if !left.isEmpty { unrefreshed.append((next.session, left)) }
            refreshing += 1
            return (next.session, channelIndex)
        }
        return nil
    }

    /// One that is in no queue begins.
    mutating func refreshBegan() { refreshing += 1 }

    mutating func refreshed() { refreshing -= 1 }
}
