/// What a subscription delivers. The call copies the object.
public final class AgoraRtmSubscribeOptions: NSObject {
    public var features: AgoraRtmSubscribeChannelFeature = [.message, .presence]

    override public init() { super.init() }
}
