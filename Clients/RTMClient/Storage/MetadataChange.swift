/// One item of a write: the value that a key is to have.
public struct MetadataChange: Sendable, Hashable {
    /// 1…32 bytes of printable ASCII (L-13).
    public var key: String
    /// At most 16 KiB, together with the rest of the set (L-36, L-37). The value may be empty.
    public var value: String
    /// The item is written only if this is its present revision (D-5). 0 means only if there is no such item
    /// (D-9). `nil` compares nothing.
    public var revision: Int64?

    /// Gives the item with this key a value.
    public init(_ key: String, _ value: String, revision: Int64? = nil) {
        self.key = key
        self.value = value
        self.revision = revision
    }
}

/// One item of a removal. A string literal is a key without a revision to compare.
public struct MetadataKey: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key of the item.
    public var key: String
    /// The item is removed only if this is its present revision (D-5). `nil` compares nothing.
    public var revision: Int64?

    /// Names an item, and the revision that it has to have.
    public init(_ key: String, revision: Int64? = nil) {
        self.key = key
        self.revision = revision
    }

    public init(stringLiteral value: String) { self.init(value) }
}

/// Under which conditions a write happens, and what it records.
public struct MetadataWriteOptions: Sendable, Hashable {
    /// The write happens only if this is the set's present revision, as a ``RTMMetadata`` that was read
    /// before has it. 0 means only if nothing was ever written. It is compared before the items' own
    /// revisions (D-6). `nil` compares nothing.
    public var majorRevision: Int64?
    /// Whether each written item keeps when it was written (D-11).
    public var recordsTimestamp = false
    /// Whether each written item keeps who wrote it (D-11).
    public var recordsAuthor = false
    /// The write happens only while this user owns this lock of the channel (D-20). `nil` needs no lock.
    /// Users' metadata have no locks.
    public var lock: String?
    /// Together with `lock`, the write happens only if this is the lock's newest fencing token. A write that
    /// comes late, after the lock was lost and won again, is refused then. `nil` means that owning the lock
    /// is enough.
    public var fencingToken: UInt64?

    /// Everything has a default.
    public init(
        majorRevision: Int64? = nil, recordsTimestamp: Bool = false, recordsAuthor: Bool = false,
        lock: String? = nil, fencingToken: UInt64? = nil
    ) {
        self.majorRevision = majorRevision
        self.recordsTimestamp = recordsTimestamp
        self.recordsAuthor = recordsAuthor
        self.lock = lock
        self.fencingToken = fencingToken
    }
}
