/// One item of a write: what a key shall hold.
public struct MetadataChange: Sendable, Hashable {
    /// 1…32 bytes of printable ASCII (L-13).
    public var key: String
    /// At most 16 KiB, together with the rest of the set (L-36, L-37). May be empty.
    public var value: String
    /// Write only if this is the item's present revision (D-5); nil doesn't compare.
    public var revision: Int64?

    public init(_ key: String, _ value: String, revision: Int64? = nil) {
        self.key = key
        self.value = value
        self.revision = revision
    }
}

/// One item of a removal: a key, as a string literal if nothing is compared.
public struct MetadataKey: Sendable, Hashable, ExpressibleByStringLiteral {
    public var key: String
    /// Remove only if this is the item's present revision (D-5); nil doesn't compare.
    public var revision: Int64?

    public init(_ key: String, revision: Int64? = nil) {
        self.key = key
        self.revision = revision
    }

    public init(stringLiteral value: String) { self.init(value) }
}

/// Under which conditions a write happens, and what it records.
public struct MetadataWriteOptions: Sendable, Hashable {
    /// Write only if this is the set's present revision: that of a ``Metadata`` that was read before. 0
    /// means: only if nothing was ever written. It is compared before the items' own revisions (D-6); nil
    /// doesn't compare.
    public var majorRevision: Int64?
    /// Keep with each written item when it was written (D-11).
    public var recordsTimestamp = false
    /// Keep with each written item who wrote it (D-11).
    public var recordsAuthor = false
    /// Write only while this user owns this lock of the channel (D-20). Nil doesn't look. Users' metadata
    /// have no locks.
    public var lock: String?
    /// Together with `lock`: write only if this is the lock's newest fencing token, so that a write that
    /// comes late, after the lock was lost and won again, is refused. Nil: owning the lock is enough.
    public var fencingToken: UInt64?

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
