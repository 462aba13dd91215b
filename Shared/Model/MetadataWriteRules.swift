/// The rules of a metadata write that don't need the set. The client checks them before it sends a write,
/// and storage checks them again, in the same order.
///
/// First come the revision of the set (D-8), the lock (D-20, D-22, L-12) and that there are items (D-12).
/// Then comes each item: its key (L-13), its revision (D-8), its value (L-36), and that no other item has
/// its key (D-12).
package struct MetadataWriteRules: Sendable {
    /// Whether the write removes items, so that their values don't count.
    private let isRemoval: Bool
    private let valueBytesMax: Int
    /// What an error says about the sizes, such as that they are those with encryption.
    private let remark: String
    private var keys: Set<String> = []

    /// - Parameter valueBytesMax: how many bytes of a value the writer may use. Encryption leaves fewer.
    package init(
        isRemoval: Bool, itemCount: Int, valueBytesMax: Int = Limits.metadataValueBytesMax,
        remark: String = ""
    ) {
        self.isRemoval = isRemoval
        self.valueBytesMax = valueBytesMax
        self.remark = remark
        keys.reserveCapacity(itemCount)
    }

    /// - Parameter majorRevision: the expected revision of the set; nil if the write compares none.
    package static func check(majorRevision: Int64?) throws(RTMError) {
        guard let majorRevision, majorRevision < 0 else { return }
        throw RTMError(.storageInvalidRevision, "the major revision \(majorRevision) is negative")
    }

    /// - Parameters:
    ///   - lock: the lock that the writer has to own; nil if the write names none.
    ///   - isOfUser: whether the metadata belongs to a user.
    package static func check(
        lock: String?, hasFencingToken: Bool, isOfUser: Bool
    ) throws(RTMError) {
        guard let lock else {
            guard !hasFencingToken else {
                throw RTMError(.storageInvalidArgument, "a fencing token needs the name of its lock")
            }
            return
        }
        guard !isOfUser else {
            throw RTMError(.storageInvalidLockName, "the metadata of users has no locks")
        }
        try NameRule.lockOfWrite.check(lock.utf8)
    }

    package static var noItems: RTMError {
        RTMError(.storageInvalidMetadataItem, "the write has no items")
    }

    /// Checks the next item.
    ///
    /// - Parameter revision: the expected revision of the item; nil if the write compares none.
    package mutating func check(
        key: String, valueBytes: Int, revision: Int64?
    ) throws(RTMError) {
        try NameRule.metadataKey.check(key.utf8)
        if let revision, revision < 0 {
            throw RTMError(.storageInvalidRevision, "the revision \(revision) of '\(key)' is negative")
        }
        guard isRemoval || valueBytes <= valueBytesMax else {
            throw RTMError(
                .storageValueLengthOverflow,
                "the value of '\(key)' has\(remark) \(valueBytes) bytes, \(valueBytesMax) are allowed",
                limit: .init(name: "metadata value bytes", value: UInt64(valueBytesMax)))
        }
        guard keys.insert(key).inserted else {
            throw RTMError(.storageDuplicateKey, "the key '\(key)' occurs twice")
        }
    }

    /// The refusal of a write after which the set would be too large (L-37).
    package static func setTooLarge(_ bytes: Int, bytesMax: Int, remark: String = "") -> RTMError {
        RTMError(
            .storageMetadataLengthOverflow,
            "the set would have\(remark) \(bytes) bytes in its keys and values, \(bytesMax) are allowed",
            limit: .init(name: "metadata set bytes", value: UInt64(bytesMax)))
    }
}

extension ChannelType {
    /// Metadata and locks belong to channels of type message and stream (M-35, D-14, K-1).
    package func checkHasStorage() throws(RTMError) {
        switch self {
        case .message, .stream: break
        case .none, .user, .topics, .topic:
            throw RTMError(
                .invalidChannelType,
                "metadata and locks belong to channels of type message and stream, not \(self)")
        }
    }
}
