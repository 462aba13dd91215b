// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A message that somebody published (M-23).
public final class AgoraRtmMessageEvent: NSObject, @unchecked Sendable {
    /// `.message` or `.user`.
    public var channelType: AgoraRtmChannelType = .none
    /// The name of the channel. For a message to this user it is this user's own id (M-34).
    public var channelName = ""
    /// The topic; empty outside stream channels.
    public var channelTopic = ""
    /// Text or bytes, never both (M-23).
    public var message = AgoraRtmMessage()
    /// The user id of the sender.
    public var publisher = ""
    /// The mark that the sender gave the message; empty if it gave none.
    public var customType: String? = nil
    /// When the server accepted it, in milliseconds since 1970. It never decreases within a channel (M-24).
    public var timestamp: UInt64 = 0

    override public init() { super.init() }
}

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The content of a message: exactly one of `rawData` and `stringData` is set.
public final class AgoraRtmMessage: NSObject, NSCopying, @unchecked Sendable {
    /// The bytes, or nil.
    public var rawData: Data?
    /// The text, or nil.
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
