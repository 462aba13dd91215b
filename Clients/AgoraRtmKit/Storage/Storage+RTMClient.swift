import RTMClient
import RTMModel

/// A write as the app's objects describe it, read while they can't change.
struct MetadataDraft: Sendable {
    enum Action: Sendable {
        case set, update, remove
    }

    private var items: [MetadataChange] = []
    private var options = MetadataWriteOptions()

    /// - Throws: `.storageInvalidMetadataInstance` (-12016) for an object that was destroyed (D-12),
    ///   `.storageInvalidRevision` (-12005) for a revision below -1 (D-8),
    ///   `.storageInvalidValue` (-12010) for an item without a value that is to be written (D-13).
    init(
        _ action: Action, _ data: AgoraRtmMetadata, _ options: AgoraRtmMetadataOptions?,
        lock: String? = nil
    ) throws(RTMError) {
        guard !data.isDestroyed else {
            throw RTMError(.storageInvalidMetadataInstance, "the metadata object was destroyed")
        }
        self.options.majorRevision = try data.majorRevision.comparedRevision()
        self.options.recordsTimestamp = options?.recordTs ?? false
        self.options.recordsAuthor = options?.recordUserId ?? false
        self.options.lock = lock.flatMap { $0.isEmpty ? nil : $0 }
        for item in data.items ?? [] {
            guard action == .remove || item.hasValue else {
                throw RTMError(.storageInvalidValue, "the item '\(item.key)' has no value")
            }
            let revision = try item.revision.comparedRevision()
            items.append(MetadataChange(item.key, item.value, revision: revision))
        }
    }

    func perform(_ action: Action, of target: MetadataTarget, by client: RTMClient)
        async throws(RTMError)
    {
        switch action {
        case .set: try await client.setMetadata(items, of: target, options: options)
        case .update: try await client.updateMetadata(items, of: target, options: options)
        case .remove where items.isEmpty:
            try await client.removeAllMetadata(of: target, options: options)
        case .remove:
            let keys = items.map { MetadataKey($0.key, revision: $0.revision) }
            try await client.removeMetadata(keys, of: target, options: options)
        }
    }
}

extension Int64 {
    /// The revision to compare, or nil for -1, which means no comparison. What was never written has the
    /// revision 0, and 0 is compared like any other (D-8, D-9).
    fileprivate func comparedRevision() throws(RTMError) -> Int64? {
        guard self >= -1 else {
            throw RTMError(
                .storageInvalidRevision,
                "\(self) is not a revision: -1 compares nothing, and a revision is 0 or greater")
        }
        return self == -1 ? nil : self
    }
}

extension AgoraRtmMetadata {
    convenience init(_ metadata: RTMMetadata) {
        self.init()
        majorRevision = metadata.majorRevision
        items = metadata.items.map(AgoraRtmMetadataItem.init)
    }
}

extension AgoraRtmMetadataItem {
    fileprivate convenience init(_ item: MetadataItem) {
        self.init(key: item.key, value: item.value, revision: item.revision)
        authorUserId = item.author ?? ""
        updateTs = item.updatedAtMilliseconds ?? 0
    }
}

extension AgoraRtmGetMetadataResponse {
    convenience init(_ metadata: RTMMetadata) {
        self.init()
        data = AgoraRtmMetadata(metadata)
    }
}

extension AgoraRtmStorageEvent {
    convenience init(_ event: MetadataEvent) {
        self.init()
        switch event.target {
        case .channel(let name, let type):
            storageType = .channel
            channelType = AgoraRtmChannelType(type)
            target = name
        case .user(let id):
            storageType = .user
            target = id
        }
        switch event.kind {
        case .snapshot: eventType = .snapshot
        case .update: eventType = .update
        }
        data = AgoraRtmMetadata(event.metadata)
        timestamp = event.timestampMilliseconds
    }
}
