/// What a subscription delivers. Copied by the call.
public final class AgoraRtmSubscribeOptions: NSObject {
    public var features: AgoraRtmSubscribeChannelFeature = [.message, .presence]

    override public init() { super.init() }
}
