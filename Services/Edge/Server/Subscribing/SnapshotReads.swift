import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// Who asked for the snapshots that a subscriber begins with.
protocol SnapshotReader: AnyObject {
    /// - Parameter frames: nil if presence can't be asked at present.
    func presenceAnswered(_ id: SubscribeID, _ frames: ByteBuffer?)
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
    /// Set before the first question. The loop holds both objects, and no question is open when it lets go of
    /// them. A weak reference would make each retain of the reader slow, and the reader is on the way of a
    /// message (docs/decisions/0008).
    unowned var reader: (any SnapshotReader)?
    private var rosterReads = RosterReads<SubscribeID>()
    private var isReadingRosters = false

    init(presence: PresenceClient<ServiceEvents>, storage: StorageClient<ServiceEvents>, lease: UInt64) {
        self.presence = presence
        self.storage = storage
        self.lease = lease
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
    }

    /// While presence is away the sync will tell it of the membership.
    private func join(
        _ id: SubscribeID, _ join: SnapshotQuestions.Join, _ channel: ChannelKey, _ session: Session
    ) {
        guard presence.isUp else {
            reader?.presenceAnswered(id, nil)
            return
        }
        guard channel.type != .topics || !join.isQuiet else { return listen(id, join, channel) }
        presence.join(
            JoinRequest(
                channel: channel, caller: session.caller, lease: lease, quiet: join.isQuiet,
                presenceTimeout: .seconds(Int64(session.presenceTimeout)),
                wantsSnapshot: join.wantsSnapshot, claim: session.claim),
            context: PendingJoin(id: id, session: session.key, channel: channel))
    }

    /// Whoever only hears of the topics of a stream channel is no member of them. He needs the snapshot,
    /// which all who wait for it at the same time share.
    private func listen(_ id: SubscribeID, _ join: SnapshotQuestions.Join, _ channel: ChannelKey) {
        guard join.wantsSnapshot else {
            reader?.presenceAnswered(id, ByteBuffer())
            return
        }
        rosterReads.wait(id, for: channel)
        readRosters()
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
            rosterReads.wait(join.id, for: join.channel)
            readRosters()
        case .success(let response):
            reader?.presenceAnswered(join.id, ByteBuffer(bytes: response.frames.bytes))
        case .failure(.refused(let refusal))
        where refusal.code == .channelSubscribeFailed || refusal.code == .channelJoinFailed:
            reader?.presenceRefused(join.id, refusal)
        case .failure:
            reader?.presenceAnswered(join.id, nil)
        }
    }

    private func readRosters() {
        // A request that fails at once comes back here: the loop below goes on, not a deeper call.
        guard !isReadingRosters else { return }
        isReadingRosters = true
        defer { isReadingRosters = false }
        while let channel = rosterReads.begin() { presence.roster(RosterRequest(channel: channel)) }
    }

    func rosterRead(_ channel: ChannelKey, _ outcome: Result<RosterResponse, ServiceLinkRequestFailure>) {
        if case .success(let part) = outcome {
            rosterReads.received(part.frames.bytes, of: channel)
            guard part.snapshot == 0 else {
                return presence.roster(RosterRequest(channel: channel, snapshot: part.snapshot))
            }
        }
        let (readers, frames) = rosterReads.end(channel)
        for id in readers {
            if case .failure = outcome {
                reader?.presenceAnswered(id, nil)
            } else {
                reader?.presenceAnswered(id, frames)
            }
        }
        readRosters()
    }

    func snapshotRead(_ id: SubscribeID, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>) {
        reader?.storageAnswered(id, outcome.map { ByteBuffer(bytes: $0.frames.bytes) })
    }
}
