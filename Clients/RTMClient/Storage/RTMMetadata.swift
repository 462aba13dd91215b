import RTMModel

/// A set of metadata as it is stored.
public struct RTMMetadata: Sendable, Hashable {
    /// Grows with every successful write of this set, including removals. It is 0 if nothing was ever written
    /// (D-10, D-30).
    public var majorRevision: Int64
    /// In the order in which they were first written (D-31).
    public var items: [MetadataItem]

    /// Makes a set, as tests of apps do.
    public init(majorRevision: Int64 = 0, items: [MetadataItem] = []) {
        self.majorRevision = majorRevision
        self.items = items
    }

    /// The value of a key, or `nil` if there is none.
    public subscript(key: String) -> String? { item(for: key)?.value }

    /// The item of a key, or `nil` if there is none.
    public func item(for key: String) -> MetadataItem? { items.first { $0.key == key } }
}

/// One stored item of a set.
public struct MetadataItem: Sendable, Hashable {
    /// The key, which is unique within a set.
    public var key: String
    /// The value.
    public var value: String
    /// The revision of the write that gave the item this value. Another write gives it a greater one.
    public var revision: Int64
    /// When the item was written, in milliseconds since 1970. `nil` if that write didn't have it recorded
    /// (D-11).
    public var updatedAtMilliseconds: UInt64?
    /// The user id of the writer. `nil` if that write didn't have it recorded (D-11).
    public var author: String?
    /// Why the value could not be decrypted. Then it is shown as an empty text (E-4).
    public var decryptionFailure: DecryptionFailure?

    /// Makes the value, as tests of apps do.
    public init(
        key: String, value: String, revision: Int64, updatedAtMilliseconds: UInt64? = nil,
        author: String? = nil
    ) {
        self.key = key
        self.value = value
        self.revision = revision
        self.updatedAtMilliseconds = updatedAtMilliseconds
        self.author = author
    }
}

/// A set of metadata that a client follows, as it is at the beginning or after a write.
public struct MetadataEvent: Sendable, Hashable {
    /// What happened to the metadata.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The set when a subscription begins, or is taken up again after a lost connection (D-41, S-21). An
        /// empty set is shown, too.
        case snapshot
        /// The set after somebody set, updated or removed items (D-42). The writer gets it, too.
        case update
    }

    /// What happened.
    public var kind: Kind
    /// Whose metadata. A user is named by its id, even the client's own user.
    public var target: MetadataTarget
    /// The whole set.
    public var metadata: RTMMetadata
    /// The user id of the writer, or `nil` in a snapshot.
    public var author: String?
    /// Milliseconds since 1970 by the server's clock.
    public var timestampMilliseconds: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        kind: Kind, target: MetadataTarget, metadata: RTMMetadata, author: String? = nil,
        timestampMilliseconds: UInt64
    ) {
        self.kind = kind
        self.target = target
        self.metadata = metadata
        self.author = author
        self.timestampMilliseconds = timestampMilliseconds
    }
}
