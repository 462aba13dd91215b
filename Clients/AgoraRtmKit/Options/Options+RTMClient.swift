import RTMClient
import RTMModel

extension AgoraRtmSubscribeChannelFeature {
    /// The values are the same in both sets; bits that nobody knows are left out.
    var subscriptionFeatures: SubscriptionFeatures {
        SubscriptionFeatures(rawValue: UInt32(truncatingIfNeeded: rawValue)).intersection(.all)
    }
}

extension AgoraRtmChannelType {
    /// - Throws: -10019 for a type that nothing can be published to.
    func destination(named channelName: String) throws(RTMError) -> MessageDestination {
        switch self {
        case .message:
            return .channel(channelName)
        case .user:
            return .user(channelName)
        case .none, .stream:
            throw RTMError(
                .invalidChannelType, "publish reaches channels of type message and user, not \(self)",
                operation: "publish")
        }
    }
}
