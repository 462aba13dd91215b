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
        try MetadataWriteRules.check(majorRevision: options.majorRevision)
        try MetadataWriteRules.check(
            lock: options.lock, hasFencingToken: options.fencingToken != nil,
            isOfUser: target.channelType == .none)
        guard kind != .removeAll else { return }
        guard !items.isEmpty else { throw MetadataWriteRules.noItems }
        var rules = MetadataWriteRules(
            isRemoval: kind == .remove, itemCount: items.count,
            valueBytesMax: size.textMax(within: Limits.metadataValueBytesMax, author: author),
            remark: size.remark)
        var bytes = 0
        for item in items {
            let valueBytes = item.value.utf8.count
            try rules.check(key: item.key, valueBytes: valueBytes, revision: item.revision)
            bytes += item.key.utf8.count + size.text(valueBytes, author: author)
        }
        guard kind == .remove || bytes <= Limits.metadataBytesMax else {
            throw MetadataWriteRules.setTooLarge(
                bytes, bytesMax: Limits.metadataBytesMax, remark: size.remark)
        }
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
