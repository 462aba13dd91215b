// Snapshots and events of metadata. Each table of subscriptions knows what it has shown already.

import RTMModel
import RTMProtocol

final class MetadataFeed {
    private unowned let link: Link

    init(_ link: Link) { self.link = link }

    func received(_ metadata: Rtm_Client_Metadata) {
        let type = ChannelType(metadata.channelType)
        guard !isKnown(metadata, type) else { return }
        guard begin(metadata.target, type, at: UInt64(clamping: metadata.majorRevision)) else { return }
        let target = MetadataTarget(type: type, name: metadata.target)
        let event = StorageEvent(
            kind: .snapshot, target: target, metadata: open(RTMMetadata(metadata), of: target),
            timestampMilliseconds: link.time.milliseconds)
        link.events.emit(.storage(event), of: metadata.target, type)
    }

    func received(_ event: Rtm_Client_StorageEvent, in publication: Rtm_Client_Publication) {
        let type = ChannelType(publication.channelType)
        let revision = UInt64(clamping: event.majorRevision)
        guard isNew(revision, of: publication.channel, type) else { return }
        let target = MetadataTarget(type: type, name: publication.channel)
        let event = StorageEvent(
            kind: .update, target: target, metadata: open(RTMMetadata(event), of: target),
            author: publication.publisher,
            timestampMilliseconds: publication.timestampMs)
        link.events.emit(.storage(event), of: publication.channel, type)
    }

    /// After a change of the path (N-5) a snapshot of what was shown is no news.
    private func isKnown(_ metadata: Rtm_Client_Metadata, _ type: ChannelType) -> Bool {
        guard link.connection?.isSecondPath == true else { return false }
        let table = type == .none ? link.followedUsers.table : link.subscriptions.table
        let label = UserChannel(type: type, name: metadata.target).label
        return table.revision(.metadata, of: type == .none ? metadata.target : label)
            == UInt64(clamping: metadata.majorRevision)
    }

    private func open(_ metadata: RTMMetadata, of target: MetadataTarget) -> RTMMetadata {
        link.encryption?.open(metadata, of: target) ?? metadata
    }

    /// Whether anybody follows what a snapshot shows.
    private func begin(_ target: String, _ type: ChannelType, at revision: UInt64) -> Bool {
        switch type {
        case .none: link.followedUsers.table.begin(.metadata, of: target, at: revision)
        case .message, .stream:
            link.subscriptions.table.begin(
                .metadata, of: UserChannel(type: type, name: target).label, at: revision)
        case .user, .topics, .topic: false
        }
    }

    private func isNew(_ revision: UInt64, of target: String, _ type: ChannelType) -> Bool {
        type == .none
            ? link.followedUsers.table.accepts(.metadata, revision: revision, of: target)
            : link.subscriptions.table.accepts(
                .metadata, revision: revision, of: UserChannel(type: type, name: target).label)
    }
}
