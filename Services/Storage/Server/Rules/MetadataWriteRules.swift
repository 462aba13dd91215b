import RTMModel
import RTMWire

/// What can be said about a write without knowing the set.
extension WriteMetadata {
    /// D-8, D-12, D-13, D-20, D-22.
    func check() throws(RTMError) {
        guard majorRevision >= -1 else { throw Self.badRevision(majorRevision) }
        if !lock.isEmpty {
            guard target.channelType != ChannelType.none else {
                throw RTMError(.storageInvalidLockName, "a user's metadata has no lock")
            }
            try NameRule.lockOfWrite.check(lock.utf8)
        } else if fencingToken != 0 {
            throw RTMError(.storageInvalidArgument, "a fencing token needs the name of its lock")
        }
        if items.isEmpty, kind != .remove {
            throw RTMError(.storageInvalidMetadataItem, "a write without items")
        }
        var keys: Set<String> = []
        keys.reserveCapacity(items.count)
        for item in items {
            try check(item)
            guard keys.insert(item.key).inserted else {
                throw RTMError(.storageDuplicateKey, "\"\(item.key)\" occurs twice in one call")
            }
        }
    }

    private func check(_ item: MetadataItem) throws(RTMError) {
        try NameRule.metadataKey.check(item.key.utf8)
        guard item.revision >= 0 else { throw Self.badRevision(item.revision) }
        let length = item.value.utf8.count
        guard kind == .remove || length <= Limits.metadataValueBytesMax else {
            throw RTMError(
                .storageValueLengthOverflow,
                "the value of \"\(item.key)\" has \(length) bytes, "
                    + "\(Limits.metadataValueBytesMax) are allowed",
                limit: .init(name: "metadata value bytes", value: UInt64(Limits.metadataValueBytesMax)))
        }
    }

    private static func badRevision(_ revision: Int64) -> RTMError {
        RTMError(.storageInvalidRevision, "\(revision) is no revision")
    }
}

extension MetadataTarget {
    /// D-14, D-16.
    func key(of caller: Caller) throws(RTMError) -> ChannelKey {
        switch channelType {
        case .message?, .stream?:
            guard let channelType, !target.isEmpty else {
                throw RTMError(.invalidChannelName, "the channel name is empty")
            }
            return ChannelKey(appID: caller.appID, type: channelType, name: target)
        case ChannelType.none?:
            return ChannelKey(
                appID: caller.appID, type: .none, name: target.isEmpty ? caller.userID : target)
        case .user?, nil:
            throw RTMError(
                .invalidChannelType, "metadata belongs to message and stream channels and to users")
        }
    }
}

extension LockPlace {
    /// K-1.
    func key(of caller: Caller) throws(RTMError) -> ChannelKey {
        guard let channelType, channelType == .message || channelType == .stream else {
            throw RTMError(.invalidChannelType, "locks belong to message and stream channels")
        }
        guard !channel.isEmpty else { throw RTMError(.invalidChannelName, "the channel name is empty") }
        return ChannelKey(appID: caller.appID, type: channelType, name: channel)
    }
}
