import RTMModel
import RTMWire

/// The checks of a write that don't need the set.
extension WriteMetadata {
    /// Checks the revision numbers (D-8), the keys and that each occurs once (D-12), the sizes (D-13), and
    /// the lock's name (D-20), which only channels may give (D-22).
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
            throw RTMError(.storageInvalidMetadataItem, "the write has no items")
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
        guard item.revision >= -1 else { throw Self.badRevision(item.revision) }
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
        RTMError(.storageInvalidRevision, "\(revision) is not a revision")
    }
}

extension MetadataTarget {
    /// The set's key. Only message and stream channels and users have metadata (D-14); an empty user name
    /// means the caller (D-16).
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
        case .user?, .topics?, .topic?, nil:
            throw RTMError(
                .invalidChannelType, "metadata belongs to message and stream channels and to users")
        }
    }
}

extension LockPlace {
    /// The channel whose locks are meant; only message and stream channels have locks (K-1).
    func key(of caller: Caller) throws(RTMError) -> ChannelKey {
        guard let channelType, channelType == .message || channelType == .stream else {
            throw RTMError(.invalidChannelType, "locks belong to message and stream channels")
        }
        guard !channel.isEmpty else { throw RTMError(.invalidChannelName, "the channel name is empty") }
        return ChannelKey(appID: caller.appID, type: channelType, name: channel)
    }
}
