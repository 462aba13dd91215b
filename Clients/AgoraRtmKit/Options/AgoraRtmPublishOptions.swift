/// Where and how a message is published. Copied by the call.
public final class AgoraRtmPublishOptions: NSObject {
    /// `.message`, or `.user`: then the channel name is the receiver's user id.
    public var channelType: AgoraRtmChannelType = .message
    /// A mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    public var customType = ""
    /// Keep the message for later queries (M-27).
    public var storeInHistory = false

    override public init() { super.init() }
}
