import RTMAccessToken
import RTMModel
import RTMWire

/// What the session's token allows. A token without permissions restricts nothing.
extension Session {
    /// Of a message channel. The name has been checked.
    func checkMayRead(_ channel: WireText) throws(RTMError) {
        guard let grant, !grant.allows(.read, to: .messageChannels, named: channel.bytes) else { return }
        throw RTMError(
            .channelSubscribePermissionDenied,
            "the token doesn't allow to subscribe to channel \"\(channel.string)\"")
    }

    /// To a message channel or a user. The name has been checked.
    func checkMayWrite(_ type: ChannelType, _ name: WireText) throws(RTMError) {
        let resource = type == .user ? TokenPermissions.Resource.users : .messageChannels
        guard let grant, !grant.allows(.write, to: resource, named: name.bytes) else { return }
        let noun = type == .user ? "user" : "channel"
        throw RTMError(
            .channelPublishPermissionDenied,
            "the token doesn't allow to publish to \(noun) \"\(name.string)\"")
    }
}
