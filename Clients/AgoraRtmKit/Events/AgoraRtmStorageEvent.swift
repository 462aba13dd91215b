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
