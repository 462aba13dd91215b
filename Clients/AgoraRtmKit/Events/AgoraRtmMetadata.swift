// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A set of metadata items.
public final class AgoraRtmMetadata: NSObject, @unchecked Sendable {
    /// Of the whole set. In a write: -1 doesn't check, a greater value must be the present one.
    public var majorRevision: Int64 = -1
    public var items: [AgoraRtmMetadataItem]?

    override public init() { super.init() }

    /// The same as `init()`, for sources that unwrap it: `AgoraRtmMetadata()!`.
    ///
    /// The vendor's own initializer is failable, its documents use it both ways. The parameter without
    /// meaning makes the compiler prefer the plain one wherever no Optional is asked for.
    public convenience init?(_compat: Void = ()) { self.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// One key of a metadata set.
public final class AgoraRtmMetadataItem: NSObject, @unchecked Sendable {
    /// At most 32 characters (L-13).
    public var key = ""
    /// At most 16 KB (L-36). It may be empty, but an item to set or to update must have been given one.
    public var value = "" {
        didSet { hasValue = true }
    }
    /// Whether the app, or the server, has given it one (D-13).
    private(set) var hasValue = false
    /// Filled by the server, if the writer asked for it.
    public var authorUserId = ""
    /// In a write: -1 doesn't check, a greater value must be the present one.
    public var revision: Int64 = -1
    /// Milliseconds since 1970. Filled by the server, if the writer asked for it.
    public var updateTs: UInt64 = 0

    override public init() { super.init() }

    public convenience init(key: String, value: String, revision: Int64 = -1) {
        self.init()
        self.key = key
        self.value = value
        // Observers don't run inside initializers.
        hasValue = true
        self.revision = revision
    }
}
