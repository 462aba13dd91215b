import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// Who asked for the snapshots that a subscriber begins with.
protocol SnapshotReader: AnyObject {
    func presenceAnswered(_ id: SubscribeID, _ answer: PresenceAnswer)
    /// Presence doesn't let the user in.
    func presenceRefused(_ id: SubscribeID, _ refusal: RTMError)
    func storageAnswered(_ id: SubscribeID, _ outcome: Result<ByteBuffer, ServiceLinkRequestFailure>)
}

/// Asks for what a subscriber begins with: presence lets its user in and says who is there, storage says what
/// is stored. Both are asked at once, and what can't be had is said, not waited for (M-3, M-4).
final class SnapshotReads {
    private let presence: PresenceClient<ServiceEvents>
    private let storage: StorageClient<ServiceEvents>
    /// The loop's lease, under which its members are listed.
    private let lease: UInt64
    private let memory: OutboundMemory
    /// Set before the first question. The loop holds both objects, and no question is open when it lets go of
    /// them. A weak reference would make each retain of the reader slow, and the reader is on the way of a
    /// message (docs/decisions/0008).
    unowned var reader: (any SnapshotReader)?
    private var rosterReads = RosterReads<SubscribeID>()
    private var isReadingRosters = false

    init(
        presence: PresenceClient<ServiceEvents>, storage: StorageClient<ServiceEvents>, lease: UInt64,
        memory: OutboundMemory
    ) {
        self.presence = presence
        self.storage = storage
        self.lease = lease
        self.memory = memory
    }

    func ask(_ id: SubscribeID, _ questions: SnapshotQuestions, for session: Session) {
        if !questions.stored.isEmpty {
            storage.snapshot(
                SnapshotRequest(
                    channel: questions.channel, metadata: questions.stored.contains(.metadata),
                    locks: questions.stored.contains(.lock)),
                context: id)
        }
        if let join = questions.join { self.join(id, join, questions.channel, session) }
        guard questions.wantsRoster else { return }
        rosterReads.wait(id, for: questions.channel)
        readRosters()
    }

    /// While presence is away the sync will tell it of the membership.
    private func join(
        _ id: SubscribeID, _ join: SnapshotQuestions.Join, _ channel: ChannelKey, _ session: Session
    ) {
        guard presence.isUp else {
            reader?.presenceAnswered(id, .unavailable)
            return
        }
        guard channel.type != .topics || !join.isQuiet else {
            // Whoever only hears of the topics of a stream channel is no member of them. He needs the
            // snapshot, which all who wait for it at the same time share.
            reader?.presenceAnswered(id, join.wantsSnapshot ? .bigSnapshot : .snapshot([]))
            return
        }
        presence.join(
            JoinRequest(
                channel: channel, caller: session.caller, lease: lease, quiet: join.isQuiet,
                presenceTimeout: .seconds(Int64(session.presenceTimeout)),
                wantsSnapshot: join.wantsSnapshot, claim: session.ownership),
            context: PendingJoin(id: id, session: session.key, channel: channel))
    }

    // MARK: Answers

    /// What has to be remembered of a join until its answer.
    struct PendingJoin {
        let id: SubscribeID
        let session: SessionKey
        let channel: ChannelKey
    }

    func joined(_ join: PendingJoin, _ outcome: Result<JoinResponse, ServiceLinkRequestFailure>) {
        switch outcome {
        case .success(let response) where response.isTooBig:
            reader?.presenceAnswered(join.id, .bigSnapshot)
        case .success(let response):
            let frames = ByteBuffer(bytes: response.frames.bytes)
            reader?.presenceAnswered(
                join.id, .snapshot(frames.readableBytes > 0 ? [RequestedPage(frames: frames)] : []))
        case .failure(.refused(let refusal))
        where refusal.code == .channelSubscribeFailed || refusal.code == .channelJoinFailed:
            reader?.presenceRefused(join.id, refusal)
        case .failure:
            reader?.presenceAnswered(join.id, .unavailable)
        }
    }

    private func readRosters() {
        // A request that fails at once comes back here: the loop below goes on, not a deeper call.
        guard !isReadingRosters else { return }
        isReadingRosters = true
        defer { isReadingRosters = false }
        while let channel = rosterReads.begin() { presence.roster(RosterRequest(channel: channel)) }
    }

    /// The sessions that share a snapshot hold it together. It can't be had while what clients haven't read
    /// uses up the loop's memory.
    func rosterRead(_ channel: ChannelKey, _ outcome: Result<RosterResponse, ServiceLinkRequestFailure>) {
        var isThere = false
        if case .success(let part) = outcome {
            let frames = ByteBuffer(bytes: part.frames.bytes)
            rosterReads.received(
                RequestedPage(frames: frames, charge: OutboundCharge(frames.readableBytes, to: memory)),
                of: channel)
            isThere = !memory.isOver
            if isThere, part.snapshot != 0 {
                return presence.roster(RosterRequest(channel: channel, snapshot: part.snapshot))
            }
        }
        let (readers, pages) = rosterReads.end(channel)
        for id in readers { reader?.presenceAnswered(id, isThere ? .snapshot(pages) : .unavailable) }
        readRosters()
    }

    func snapshotRead(_ id: SubscribeID, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>) {
        reader?.storageAnswered(id, outcome.map { ByteBuffer(bytes: $0.frames.bytes) })
    }
}

/// The snapshots of big channels that a loop is getting from presence, each in parts and for all sessions
/// that wait for one. Pure.
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

    mutating func received(_ part: RequestedPage, of channel: ChannelKey) {
        reads[channel]?.pages.append(part)
    }

    /// All parts have come, or no more will.
    mutating func end(_ channel: ChannelKey) -> (readers: [Reader], pages: [RequestedPage]) {
        reads.removeValue(forKey: channel) ?? ([], [])
    }
}
