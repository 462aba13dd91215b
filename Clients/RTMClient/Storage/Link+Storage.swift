import RTMModel
import RTMProtocol

// Snapshots and events of metadata and locks. Each table knows what its subscriptions have shown already.
extension Link {
    func received(snapshot metadata: Rtm_Client_Metadata) {
        let type = ChannelType(metadata.channelType)
        let revision = UInt64(clamping: metadata.majorRevision)
        let isSubscribed =
            type == .none
            ? userMetadata.begin(.metadata, of: metadata.target, at: revision)
            : type == .message && subscriptions.begin(.metadata, of: metadata.target, at: revision)
        guard isSubscribed else { return }
        let event = StorageEvent(
            kind: .snapshot, target: MetadataTarget(type: type, name: metadata.target),
            metadata: Metadata(metadata), timestampMilliseconds: serverTimeMilliseconds)
        emit(.storage(event), of: metadata.target, type)
    }

    func received(_ event: Rtm_Client_StorageEvent, in publication: Rtm_Client_Publication) {
        let type = ChannelType(publication.channelType)
        let revision = UInt64(clamping: event.majorRevision)
        let isNew =
            type == .none
            ? userMetadata.accepts(.metadata, revision: revision, of: publication.channel)
            : subscriptions.accepts(.metadata, revision: revision, of: publication.channel)
        guard isNew else { return }
        let event = StorageEvent(
            kind: .update, target: MetadataTarget(type: type, name: publication.channel),
            metadata: Metadata(event), author: publication.publisher,
            timestampMilliseconds: publication.timestampMs)
        emit(.storage(event), of: publication.channel, type)
    }

    func received(snapshot locks: Rtm_Client_Locks) {
        let type = ChannelType(locks.channelType)
        guard type == .message, subscriptions.begin(.locks, of: locks.channel, at: locks.revision) else {
            return
        }
        show(
            .snapshot, locks.locks.map(LockDetail.init), type: type, channel: locks.channel,
            at: serverTimeMilliseconds)
    }

    func received(_ event: Rtm_Client_LockEvent, in publication: Rtm_Client_Publication) {
        guard subscriptions.accepts(.locks, revision: event.revision, of: publication.channel),
            let kind = LockEvent.Kind(event.type)
        else { return }
        show(
            kind, [LockDetail(event.lock)], type: ChannelType(publication.channelType),
            channel: publication.channel, at: publication.timestampMs)
    }

    private func show(
        _ kind: LockEvent.Kind, _ details: [LockDetail], type: ChannelType, channel: String,
        at timestampMilliseconds: UInt64
    ) {
        for detail in details { locks.observed(detail, kind, type: type, channel: channel) }
        let event = LockEvent(
            kind: kind, channelType: type, channelName: channel, locks: details,
            timestampMilliseconds: timestampMilliseconds)
        emit(.lock(event), of: channel, type)
    }
}

// MARK: - The order around a return

extension Link {
    /// Limit: events of one channel that wait for the end of a return. Beyond it they are delivered at once,
    /// whatever is still unknown about locks.
    private static let heldBackMax = 4096

    /// Events of a channel whose locks are being claimed wait until the app knows which of them are lost: so
    /// `.expired` comes before the snapshot (K-12), and the channel's order is kept.
    func emit(_ event: RTMEvent, of channel: String, _ type: ChannelType) {
        guard type == .message, let waiting = connection?.heldBack[channel]?.count else {
            return hub.emit(event)
        }
        connection?.heldBack[channel]?.append(event)
        if waiting + 1 >= Self.heldBackMax { deliverHeldBack(of: channel) }
    }

    func deliverHeldBack() {
        for channel in connection.map({ $0.heldBack.keys.sorted() }) ?? [] { deliverHeldBack(of: channel) }
    }

    private func deliverHeldBack(of channel: String) {
        for event in connection?.heldBack.removeValue(forKey: channel) ?? [] { hub.emit(event) }
    }
}

extension ChannelType {
    /// A type that this version doesn't know is none.
    init(_ type: Rtm_Client_ChannelType) { self = ChannelType(rawValue: type.rawValue) ?? .none }
}
