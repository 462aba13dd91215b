/// Where and how a message is published. The call copies the object.
public final class AgoraRtmPublishOptions: NSObject {
    /// `.message`, or `.user` for a message to one user; the channel name is then the receiver's user id.
    public var channelType: AgoraRtmChannelType = .message
    /// A mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    public var customType = ""
    /// Whether the message is stored for later queries (M-27).
    public var storeInHistory = false

    /// The time of the media that a message belongs to, from earlier versions. It never had an effect outside
    /// of topics, and those have options of their own.
    @available(*, deprecated, message: "topics have it: AgoraRtmTopicMessageOptions.sendTs")
    public var sendTs: UInt64 = 0

    override public init() { super.init() }
}
