/// What a subscription delivers. The call copies the object.
public final class AgoraRtmSubscribeOptions: NSObject {
    /// What is delivered; `[.message, .presence]` by default, and also without options (M-1).
    public var features: AgoraRtmSubscribeChannelFeature = [.message, .presence]

    override public init() { super.init() }
}
