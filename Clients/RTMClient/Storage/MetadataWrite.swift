import RTMModel
import RTMProtocol
import SwiftProtobuf

/// A write of the app. What can be judged without the server is judged here, in the order in which the server
/// does it (D-8, D-12…D-14, L-12, L-13, L-36, L-37).
struct MetadataWrite: Sendable {
    struct Item: Sendable {
        var key: String
        var value = ""
        var revision: Int64?
    }

    enum Kind: Sendable {
        case set, update, remove
        /// The whole set.
        case removeAll

        func operation(on target: MetadataTarget) -> Operation {
            switch (self, target) {
            case (.set, .channel): .setChannelMetadata
            case (.set, .user): .setUserMetadata
            case (.update, .channel): .updateChannelMetadata
            case (.update, .user): .updateUserMetadata
            case (.remove, .channel), (.removeAll, .channel): .removeChannelMetadata
            case (.remove, .user), (.removeAll, .user): .removeUserMetadata
            }
        }
    }

    var kind: Kind
    var target: MetadataTarget
    var items: [Item]
    var options: MetadataWriteOptions

    var operation: Operation { kind.operation(on: target) }

    /// - Parameters:
    ///   - size: how much of the server's limits is left to the app.
    ///   - author: who writes.
    func check(_ size: ContentSize = ContentSize(), author: String = "") throws(RTMError) {
        try target.check()
        if let majorRevision = options.majorRevision, majorRevision < 0 {
            throw RTMError(.storageInvalidRevision, "the major revision \(majorRevision) is negative")
        }
        try checkLock()
        guard kind != .removeAll else { return }
        guard !items.isEmpty else {
            throw RTMError(.storageInvalidMetadataItem, "there is no item to write or to remove")
        }
        var keys: Set<String> = []
        var byteCount = 0
        for item in items {
            byteCount += try check(item, size, author)
            guard keys.insert(item.key).inserted else {
                throw RTMError(.storageDuplicateKey, "the key '\(item.key)' occurs twice")
            }
        }
        guard kind == .remove || byteCount <= Limits.metadataBytesMax else {
            throw Self.tooLong(
                .storageMetadataLengthOverflow, "the items have\(size.remark)", byteCount, "metadata bytes",
                Limits.metadataBytesMax)
        }
    }

    /// A lock belongs to a channel, and a fencing token to a lock (D-20, D-22).
    private func checkLock() throws(RTMError) {
        guard let lock = options.lock else {
            guard options.fencingToken == nil else {
                throw RTMError(.storageInvalidArgument, "a fencing token needs the name of its lock")
            }
            return
        }
        if case .user = target {
            throw RTMError(.storageInvalidLockName, "the metadata of users have no locks")
        }
        try NameRule.lockOfWrite.check(lock.utf8)
    }

    /// Checks one item.
    ///
    /// - Returns: the item's size in the set.
    private func check(_ item: Item, _ size: ContentSize, _ author: String) throws(RTMError) -> Int {
        try NameRule.metadataKey.check(item.key.utf8)
        if let revision = item.revision, revision < 0 {
            throw RTMError(
                .storageInvalidRevision, "the revision \(revision) of '\(item.key)' is negative")
        }
        let valueBytes = item.value.utf8.count
        let valueBytesMax = size.textMax(within: Limits.metadataValueBytesMax, author: author)
        guard kind == .remove || valueBytes <= valueBytesMax else {
            throw Self.tooLong(
                .storageValueLengthOverflow, "the value of '\(item.key)' has\(size.remark)", valueBytes,
                "metadata value bytes", valueBytesMax)
        }
        return item.key.utf8.count + size.text(valueBytes, author: author)
    }

    private static func tooLong(
        _ code: ErrorCode, _ what: String, _ count: Int, _ name: String, _ limit: Int
    ) -> RTMError {
        RTMError(
            code, "\(what) \(count) bytes, \(limit) are allowed",
            limit: .init(name: name, value: UInt64(limit)))
    }

    var request: Rtm_Client_WriteMetadata {
        var request = Rtm_Client_WriteMetadata()
        request.channelType = Rtm_Client_ChannelType(target.channelType)
        request.target = target.name
        switch kind {
        case .set: request.kind = .metadataSet
        case .update: request.kind = .metadataUpdate
        case .remove, .removeAll: request.kind = .metadataRemove
        }
        request.items = items.map { item in
            .with { ($0.key, $0.value, $0.revision) = (item.key, item.value, Self.onWire(item.revision)) }
        }
        request.majorRevision = Self.onWire(options.majorRevision)
        request.recordTs = options.recordsTimestamp
        request.recordAuthor = options.recordsAuthor
        request.lock = options.lock ?? ""
        request.fencingToken = options.fencingToken ?? 0
        return request
    }

    /// On the wire 0 compares nothing, so the revision 0 of what was never written is -1 there.
    private static func onWire(_ revision: Int64?) -> Int64 {
        guard let revision else { return 0 }
        return revision == 0 ? -1 : revision
    }
}

extension RTMMetadata {
    init(_ metadata: Rtm_Client_Metadata) {
        self.init(majorRevision: metadata.majorRevision, items: metadata.items.map(MetadataItem.init))
    }

    init(_ event: Rtm_Client_StorageEvent) {
        self.init(majorRevision: event.majorRevision, items: event.items.map(MetadataItem.init))
    }
}

extension MetadataItem {
    init(_ item: Rtm_Client_MetadataItem) {
        self.init(
            key: item.key, value: item.value, revision: item.revision,
            updatedAtMilliseconds: item.updateTsMs > 0 ? item.updateTsMs : nil,
            author: item.author.isEmpty ? nil : item.author)
    }
}
