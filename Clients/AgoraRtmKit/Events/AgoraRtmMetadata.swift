// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.

/// A set of metadata items.
public final class AgoraRtmMetadata: NSObject, @unchecked Sendable {
    /// The revision of the whole set, which is 0 if nothing was ever written. In a write -1 means no check,
    /// and any other number must be the present revision.
    public var majorRevision: Int64 = -1
    /// The items. None in a removal means the whole set.
    public var items: [AgoraRtmMetadataItem]?
    /// The app has called ``destroy()``.
    var isDestroyed = false

    override public init() { super.init() }

    /// The same as `init()`, for sources that unwrap it: `AgoraRtmMetadata()!`.
    ///
    /// The vendor's own initializer is failable, and its documents use it both ways. The parameter has no
    /// meaning; it makes the compiler prefer the plain initializer wherever no Optional is asked for.
    public convenience init?(_compat: Void = ()) { self.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// One key of a metadata set.
public final class AgoraRtmMetadataItem: NSObject, @unchecked Sendable {
    /// The key; at most 32 characters (L-13).
    public var key = ""
    /// The value; at most 16 KB (L-36). It may be empty, but an item that is set or updated must have been
    /// given one.
    public var value = "" {
        didSet { hasValue = true }
    }
    /// Whether the app or the server has set the value (D-13).
    private(set) var hasValue = false
    /// The user id of the writer. The server fills it if the writer asked for it.
    public var authorUserId = ""
    /// The revision of the item. In a write -1 means no check, 0 means that there must be no such item, and
    /// a greater number must be the present revision.
    public var revision: Int64 = -1
    /// When the item was written, in milliseconds since 1970. The server fills it if the writer asked for it.
    public var updateTs: UInt64 = 0

    override public init() { super.init() }

    /// Makes an item. The documents use it; the vendor's header doesn't have it.
    public convenience init(key: String, value: String, revision: Int64 = -1) {
        self.init()
        self.key = key
        self.value = value
        // Observers don't run inside initializers.
        hasValue = true
        self.revision = revision
    }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The metadata of a channel or user, after a change or at the beginning of a subscription.
public final class AgoraRtmStorageEvent: NSObject, @unchecked Sendable {
    /// The type of the channel; `.none` for the metadata of a user.
    public var channelType: AgoraRtmChannelType = .none
    /// Whether the metadata are those of a channel or a user.
    public var storageType: AgoraRtmStorageType = .none
    /// Snapshot, or update after any change.
    public var eventType: AgoraRtmStorageEventType = .none
    /// The channel name or user id, depending on `storageType`.
    public var target = ""
    /// The whole set.
    public var data = AgoraRtmMetadata()
    /// When it happened, in milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}
