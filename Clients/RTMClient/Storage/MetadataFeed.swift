// Snapshots and events of metadata. The table of subscriptions knows which revisions were shown already.

import RTMModel
import RTMProtocol

final class MetadataFeed {
    private let session: LinkSession
    private let events: EventOutlet
    private let subscribed: LinkSubscriptions
    private let encryption: Encryption?

    init(
        session: LinkSession, events: EventOutlet, subscribed: LinkSubscriptions, encryption: Encryption?
    ) {
        self.session = session
        self.events = events
        self.subscribed = subscribed
        self.encryption = encryption
    }

    func received(_ metadata: Rtm_Client_Metadata) {
        let id = ChannelID(metadata.channelType, metadata.target)
        let revision = UInt64(clamping: metadata.majorRevision)
        // After a change of the path (N-5) a snapshot that was shown already is left out.
        let isKnown = subscribed.table.revision(.metadata, of: id) == revision
        guard !(isKnown && session.isOnSecondPath) else { return }
        guard id.hasMetadata, subscribed.table.begin(.metadata, of: id, at: revision) else { return }
        let target = MetadataTarget(id)
        let event = MetadataEvent(
            kind: .snapshot, target: target, metadata: open(RTMMetadata(metadata), of: target),
            timestampMilliseconds: session.clock.milliseconds)
        events.emit(.metadata(event), of: id)
    }

    func received(_ event: Rtm_Client_StorageEvent, in publication: Rtm_Client_Publication) {
        let id = ChannelID(publication.channelType, publication.channel)
        let revision = UInt64(clamping: event.majorRevision)
        guard subscribed.table.accepts(.metadata, revision: revision, of: id) else { return }
        let target = MetadataTarget(id)
        let event = MetadataEvent(
            kind: .update, target: target, metadata: open(RTMMetadata(event), of: target),
            author: publication.publisher,
            timestampMilliseconds: publication.timestampMs)
        events.emit(.metadata(event), of: id)
    }

    private func open(_ metadata: RTMMetadata, of target: MetadataTarget) -> RTMMetadata {
        encryption?.open(metadata, of: target) ?? metadata
    }
}

extension ChannelID {
    fileprivate var hasMetadata: Bool {
        switch type {
        case .none, .message, .stream: true
        case .user, .topics, .topic: false
        }
    }
}
