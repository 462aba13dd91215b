import RTMClient
import RTMModel

extension AgoraRtmSubscribeChannelFeature {
    /// The values are the same in both sets. Unknown bits are left out.
    var subscriptionFeatures: SubscriptionFeatures {
        SubscriptionFeatures(rawValue: UInt32(truncatingIfNeeded: rawValue)).intersection(.known)
    }
}

extension AgoraRtmChannelType {
    /// - Throws: `.invalidChannelType` (-10019) for a type to which nothing can be published.
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
