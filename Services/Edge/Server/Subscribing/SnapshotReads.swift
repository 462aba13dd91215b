import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// Asks for what a subscriber begins with: presence lets its user in and says who is there, storage says what
/// is stored. Both are asked at once, and what can't be had is said, not waited for (M-3, M-4).
final class SnapshotReads {
    private let presence: PresenceClient
    private let storage: StorageClient
    /// The loop's lease, under which its members are listed.
    private let lease: UInt64
    private let memory: OutboundMemory
    private let pages: PageTurns
    weak var subscribing: Subscribing?
    /// What presence and storage have not answered yet.
    private var joins = RequestContexts<PendingJoin>()
    private var stored = RequestContexts<StoredSnapshot>()
    private var rosterReads = RosterReads<SubscribeID>()
    /// The memory for the pages that are under way.
    private var rosterShares: [ChannelKey: SharedMemory.Share] = [:]
    private var isReadingRosters = false

    /// Limits: bytes of metadata and locks, and of a page of a big channel's users.
    private static let storedBytesMax = 272 * 1024
    private static let rosterBytesMax = 1_152 * 1024

    init(
        presence: PresenceClient, storage: StorageClient, lease: UInt64,
        memory: OutboundMemory, pages: PageTurns
    ) {
        self.presence = presence
        self.storage = storage
        self.lease = lease
        self.memory = memory
        self.pages = pages
    }

    /// Asks for the first snapshots of a subscribe.
    ///
    /// - Returns: what presence is known to answer without being asked; nil if its answer is on the way, or
    ///   if it isn't asked.
    func ask(_ query: SnapshotQuery, for session: Session) -> PresenceAnswer? {
        askStorage(query, for: session)
        return query.join.flatMap { join($0, query, session) }
    }

    /// Asks for the snapshots of a session that is a member already.
    func collect(_ query: SnapshotQuery, for session: Session) {
        askStorage(query, for: session)
        guard query.wantsRoster else { return }
        rosterReads.wait(query.id, for: query.channel)
        readRosters()
    }

    private func askStorage(_ query: SnapshotQuery, for session: Session) {
        guard !query.stored.isEmpty else { return }
        pages.ask(Self.storedBytesMax, for: session) { [self] outcome in
            switch outcome {
            case .success(let share):
                storage.snapshot(
                    SnapshotRequest(
                        channel: query.channel, metadata: query.stored.contains(.metadata),
                        locks: query.stored.contains(.lock)),
                    context: stored.insert(StoredSnapshot(id: query.id, share: share)))
            case .failure(let error): subscribing?.snapshotRefused(query.id, error)
            }
        }
    }

    /// While presence is away, the lease's sync will announce the membership.
    private func join(
        _ join: SnapshotQuery.Join, _ query: SnapshotQuery, _ session: Session
    ) -> PresenceAnswer? {
        guard presence.isUp else { return .unavailable }
        guard query.channel.type != .topics || !join.isQuiet else {
            // A quiet subscriber of the topics of a stream channel is no member of them. It needs the
            // snapshot, which all who wait for it at the same time share.
            return join.wantsSnapshot ? .bigSnapshot : .snapshot([])
        }
        presence.join(
            JoinRequest(
                channel: query.channel, caller: session.caller, lease: lease, quiet: join.isQuiet,
                presenceTimeout: .seconds(Int64(session.presenceTimeout)),
                wantsSnapshot: join.wantsSnapshot, ownership: session.ownership, states: join.states),
            context: joins.insert(PendingJoin(id: query.id, session: session.key, channel: query.channel)))
        return nil
    }

    // MARK: Answers

    /// What has to be remembered of a join until its answer.
    struct PendingJoin {
        let id: SubscribeID
        let session: SessionKey
        let channel: ChannelKey
    }

    /// What has to be remembered of a stored snapshot until it is there.
    struct StoredSnapshot {
        let id: SubscribeID
        let share: SharedMemory.Share
    }

    /// The join that presence has answered.
    func joined(_ context: Int) -> PendingJoin { joins.remove(context) }

    /// The stored snapshot that storage has answered.
    func storedRead(_ context: Int) -> StoredSnapshot { stored.remove(context) }

    static func answer(
        _ outcome: ServiceLinkResult<JoinResponse>
    ) -> PresenceAnswer {
        switch outcome {
        case .success(let response) where response.isTooBig:
            return .bigSnapshot
        case .success(let response):
            let frames = ByteBuffer(bytes: response.frames.bytes)
            return .snapshot(frames.readableBytes > 0 ? [RequestedPage(frames: frames)] : [])
        case .failure(.refused(let refusal))
        where refusal.code == .channelSubscribeFailed || refusal.code == .channelJoinFailed:
            return .refused(refusal)
        case .failure:
            return .unavailable
        }
    }

    /// Asks for the snapshots of big channels, as many as may be read at once.
    func readRosters() {
        // A request that fails at once comes back here: the loop below continues, not a deeper call.
        guard !isReadingRosters else { return }
        isReadingRosters = true
        defer { isReadingRosters = false }
        while let channel = rosterReads.begin() {
            guard !askForRoster(RosterRequest(channel: channel)) else { continue }
            subscribing?.rosterRead(channel, .failure(.refused(pages.refusal)))
        }
    }

    /// Nobody waits for memory here: others of another app would have to wait for their snapshot, too.
    ///
    /// - Returns: whether there is memory for a page.
    private func askForRoster(_ request: RosterRequest) -> Bool {
        let share = pages.take(Self.rosterBytesMax, of: request.channel.appID, by: "")
        guard let share else { return false }
        rosterShares[request.channel] = share
        presence.roster(request)
        return true
    }

    /// The sessions that share a snapshot hold it together. It can't be had while what clients haven't read
    /// uses up the loop's memory, or the app's part of it.
    ///
    /// - Returns: who waited for the snapshot, and the answer; nil if more of it has to be read.
    func rosterRead(
        _ channel: ChannelKey, _ outcome: ServiceLinkResult<RosterResponse>
    ) -> (readers: [SubscribeID], answer: PresenceAnswer)? {
        var isThere = false
        let share = rosterShares.removeValue(forKey: channel)
        if case .success(let page) = outcome {
            let frames = ByteBuffer(bytes: page.frames.bytes)
            share?.settle(frames.readableBytes)
            let charge = OutboundCharge(frames.readableBytes, to: memory, share)
            rosterReads.received(
                RequestedPage(frames: frames, charge: charge, isShared: true), of: channel)
            isThere = !memory.isOver
            if isThere, page.snapshot != 0 {
                isThere = askForRoster(RosterRequest(channel: channel, snapshot: page.snapshot))
                if isThere { return nil }
            }
        }
        let (readers, pages) = rosterReads.end(channel)
        return (readers, isThere ? .snapshot(pages) : .unavailable)
    }
}

/// The snapshots of big channels that a loop is getting from presence, page by page and for all
/// sessions that wait for one. Pure.
///
/// A session appears in the snapshots that begin after its join. So a session that comes while a snapshot is
/// being read waits for the next one, together with all others. However many come at once, the snapshots of a
/// channel are read one after the other, and the sessions that share a snapshot share its bytes.
struct RosterReads<Reader> {
    /// Limit: snapshots read at the same time.
    static var atOnceMax: Int { 2 }

    private var waiting: [ChannelKey: [Reader]] = [:]
    /// The channels that a session waits for, the longest wait first.
    private var order: [ChannelKey] = []
    private var reads: [ChannelKey: (readers: [Reader], pages: [RequestedPage])] = [:]

    mutating func wait(_ reader: Reader, for channel: ChannelKey) {
        if waiting[channel] == nil { order.append(channel) }
        waiting[channel, default: []].append(reader)
    }

    /// The channel whose snapshot has to be asked for now, from the beginning.
    mutating func begin() -> ChannelKey? {
        guard reads.count < Self.atOnceMax, let index = order.firstIndex(where: { reads[$0] == nil }) else {
            return nil
        }
        let channel = order.remove(at: index)
        reads[channel] = (waiting.removeValue(forKey: channel) ?? [], [])
        return channel
    }

    mutating func received(_ page: RequestedPage, of channel: ChannelKey) {
        reads[channel]?.pages.append(page)
    }

    /// All pages have come, or no more will.
    mutating func end(_ channel: ChannelKey) -> (readers: [Reader], pages: [RequestedPage]) {
        reads.removeValue(forKey: channel) ?? ([], [])
    }
}
