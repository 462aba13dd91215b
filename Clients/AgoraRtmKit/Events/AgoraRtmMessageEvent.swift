// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A message that somebody published (M-23).
public final class AgoraRtmMessageEvent: NSObject, @unchecked Sendable {
    /// `.message` or `.user`.
    public var channelType: AgoraRtmChannelType = .none
    /// For a message to this user it is this user's own id (M-34).
    public var channelName = ""
    /// Empty outside stream channels.
    public var channelTopic = ""
    public var message = AgoraRtmMessage()
    /// User id of the sender.
    public var publisher = ""
    /// What the sender marked it with; empty if nothing.
    public var customType: String? = nil
    /// When the server accepted it, in milliseconds since 1970. Strictly increasing within a channel (M-24).
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The contents of a message: exactly one of the two is there.
public final class AgoraRtmMessage: NSObject, NSCopying, @unchecked Sendable {
    public var rawData: Data?
    public var stringData: String?

    override public init() { super.init() }

    /// The text, or the number of bytes.
    override public var description: String {
        stringData ?? "\(rawData?.count ?? 0) bytes"
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = AgoraRtmMessage()
        copy.rawData = rawData
        copy.stringData = stringData
        return copy
    }
}
