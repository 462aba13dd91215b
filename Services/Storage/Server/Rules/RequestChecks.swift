import RTMModel
import RTMWire

extension WriteMetadata {
    /// Checks what doesn't need the set. On the wire no name is no lock.
    func check() throws(RTMError) {
        try MetadataWriteRules.check(majorRevision: Self.expected(majorRevision))
        try MetadataWriteRules.check(
            lock: lock.isEmpty ? nil : lock, hasFencingToken: fencingToken != 0,
            isOfUser: target.channelType == ChannelType.none)
        // A removal without items removes the whole set (D-4).
        guard !items.isEmpty || kind == .remove else { throw MetadataWriteRules.noItems }
        var rules = MetadataWriteRules(isRemoval: kind == .remove, itemCount: items.count)
        for item in items {
            try rules.check(
                key: item.key, valueBytes: item.value.utf8.count, revision: Self.expected(item.revision))
        }
    }

    /// On the wire 0 compares nothing, so the revision 0 of what was never written is -1 there (D-9).
    private static func expected(_ revision: Int64) -> Int64? {
        switch revision {
        case 0: nil
        case -1: 0
        default: revision
        }
    }
}

extension MetadataTarget {
    /// The set's key. Only message and stream channels and users have metadata (D-14); an empty user name
    /// means the caller (D-16).
    func key(of caller: Caller) throws(RTMError) -> ChannelKey {
        guard channelType != ChannelType.none else {
            return ChannelKey(
                appID: caller.appID, type: .none, name: target.isEmpty ? caller.userID : target)
        }
        return try ChannelKey(stored: target, of: channelType, caller)
    }
}

extension LockPlace {
    /// The channel whose locks are meant; only message and stream channels have locks (K-1).
    func key(of caller: Caller) throws(RTMError) -> ChannelKey {
        try ChannelKey(stored: channel, of: channelType, caller)
    }
}

extension ChannelKey {
    /// A channel that has metadata and locks.
    fileprivate init(stored name: String, of type: ChannelType?, _ caller: Caller) throws(RTMError) {
        guard let type else { throw RTMError(.invalidChannelType, "this type of channel is unknown") }
        try type.checkHasStorage()
        guard !name.isEmpty else { throw RTMError(.invalidChannelName, "the channel name is empty") }
        self.init(appID: caller.appID, type: type, name: name)
    }
}
