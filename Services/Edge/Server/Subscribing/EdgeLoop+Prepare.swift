import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// What a subscriber begins with: presence lets its user in and says who is there, storage says what is
/// stored. Both are asked at once, and what can't be had is said, not waited for (M-3, M-4).
extension EdgeLoop {
    /// One subscribe while presence and storage are asked.
    final class Preparation {
        var pending: PendingSubscribe
        let place: Int
        let key: ChannelKey
        /// Answers to come, and one for the asking itself.
        var awaited = 1
        /// Nothing is left to offer.
        var refusal: RTMError?

        init(_ pending: PendingSubscribe, at place: Int, _ key: ChannelKey) {
            self.pending = pending
            self.place = place
            self.key = key
        }
    }

    func prepare(_ pending: PendingSubscribe, at place: Int) {
        let preparation = Preparation(pending, at: place, index.key(at: place))
        if preparation.key.type == .message { join(preparation) }
        askForSnapshot(preparation)
        prepared(preparation)
    }

    private func prepared(_ preparation: Preparation) {
        preparation.awaited -= 1
        guard preparation.awaited == 0 else { return }
        preparation.pending.isPrepared = true
        guard let refusal = preparation.refusal, index.isCurrent(preparation.pending, at: preparation.place)
        else { return begin(preparation.pending, at: preparation.place) }
        guard preparation.pending.isReturn else {
            return giveUp(preparation.pending, at: preparation.place, refusal)
        }
        // It stays subscribed; only the snapshot that it asked for can't be had.
        preparation.pending.session.answer(preparation.pending.requestID, refusal)
        preparation.pending.isSilent = true
        begin(preparation.pending, at: preparation.place)
    }

    // MARK: Presence

    /// Who is subscribed is a member (M-3), so everybody waits for presence: "subscribed" means "listed".
    /// While presence is away the sync will tell it.
    private func join(_ preparation: Preparation) {
        let pending = preparation.pending
        pending.session.isMember = true
        guard presence.isUp else { return withoutPresence(preparation) }
        preparation.awaited += 1
        presence.join(
            JoinRequest(
                channel: preparation.key, caller: pending.session.caller, lease: lease.id,
                quiet: pending.features.contains(.quiet),
                presenceTimeout: .seconds(Int64(pending.session.presenceTimeout)),
                wantsSnapshot: pending.features.intersection(pending.added).contains(.presence)),
            context: preparation)
    }

    func presenceJoined(
        _ preparation: Preparation, _ outcome: Result<JoinResponse, ServiceLinkRequestFailure>
    ) {
        switch outcome {
        case .success(let response) where response.isTooBig:
            rosterReads.wait(preparation, for: preparation.key)
            return readRosters()
        case .success(let response):
            preparation.pending.presenceFrames = ByteBuffer(bytes: response.frames.bytes)
        case .failure:
            withoutPresence(preparation)
        }
        prepared(preparation)
    }

    private func readRosters() {
        // A request that fails at once comes back here: the loop below goes on, not a deeper call.
        guard !isReadingRosters else { return }
        isReadingRosters = true
        defer { isReadingRosters = false }
        while let channel = rosterReads.begin() { presence.roster(RosterRequest(channel: channel)) }
    }

    func presenceRoster(_ channel: ChannelKey, _ outcome: Result<RosterResponse, ServiceLinkRequestFailure>) {
        if case .success(let part) = outcome {
            rosterReads.received(part.frames.bytes, of: channel)
            guard part.snapshot == 0 else {
                return presence.roster(RosterRequest(channel: channel, snapshot: part.snapshot))
            }
        }
        let (readers, frames) = rosterReads.end(channel)
        for preparation in readers {
            if case .failure = outcome {
                withoutPresence(preparation)
            } else {
                preparation.pending.presenceFrames = frames
            }
            prepared(preparation)
        }
        readRosters()
    }

    private func withoutPresence(_ preparation: Preparation) { withoutPresence(&preparation.pending) }

    private func withoutPresence(_ pending: inout PendingSubscribe) {
        // Of one that lacks only its snapshot presence knows; it gets that when it is live.
        if pending.features.contains(.presence) { pending.unavailable.insert(.presence) }
        if !pending.isRefresh { lease.missed() }
    }

    /// A subscriber that was to come in again for them stays without: nobody could be asked.
    func withoutSnapshots(_ pending: inout PendingSubscribe) {
        if pending.purpose == .subscribe { withoutPresence(&pending) }
        pending.unavailable.formUnion(
            pending.features.intersection(pending.added).intersection([.metadata, .lock]))
    }

    // MARK: Storage

    private func askForSnapshot(_ preparation: Preparation) {
        let pending = preparation.pending
        let wanted = pending.features.intersection(pending.added).intersection([.metadata, .lock])
        guard !wanted.isEmpty else { return }
        preparation.awaited += 1
        storage.snapshot(
            SnapshotRequest(
                channel: preparation.key, metadata: wanted.contains(.metadata),
                locks: wanted.contains(.lock)),
            context: preparation)
    }

    func storageSnapshot(
        _ preparation: Preparation, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>
    ) {
        switch outcome {
        case .success(let response):
            preparation.pending.storageFrames = ByteBuffer(bytes: response.frames.bytes)
        case .failure(let failure) where preparation.pending.purpose == .userMetadata:
            preparation.refusal = RTMError(
                failure, .storageNotAvailable, timeout: .storageOperationTimeout)
        case .failure:
            preparation.pending.unavailable.formUnion(
                preparation.pending.features.intersection([.metadata, .lock]))
        }
        prepared(preparation)
    }
}
