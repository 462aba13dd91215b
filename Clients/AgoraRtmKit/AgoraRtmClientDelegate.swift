/// Gets the events of a client. Every method has an empty default.
///
/// Each client calls its delegates one after the other, event by event and in order, on the main queue, or on
/// ``AgoraRtmClientConfig/callbackQueue`` if the app chose one. So a class of the main actor may be a
/// delegate as it is, as long as the app leaves the queue to be the main one. A delegate that is slow holds
/// up the later events and completion blocks of that client. When more than 16,384 events wait, the oldest
/// are dropped, and a link event says so (S-25).
public protocol AgoraRtmClientDelegate: AnyObject {
    /// The state of the link to the servers has changed.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent)

    /// Somebody published to a subscribed channel, or to this user.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent)

    /// The users of a channel or their states have changed.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent)

    /// The metadata of a channel or user have changed.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent)

    /// Locks of a channel have changed.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLockEvent event: AgoraRtmLockEvent)

    /// The publishers of a topic have changed.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTopicEvent event: AgoraRtmTopicEvent)

    /// A token expires within 30 seconds: the token of the login if `channel` is nil or empty, otherwise the
    /// token of a stream channel.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?)

    /// A token expires within 30 seconds, or a return to the servers with another token has ended
    /// subscriptions that it doesn't allow. It follows `tokenPrivilegeWillExpire`.
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTokenEvent event: AgoraRtmTokenEvent)

    /// The link event in the words of earlier versions, which follows each `didReceiveLinkStateEvent` (S-24).
    /// Write `didReceiveLinkStateEvent` instead.
    ///
    /// - Parameter channelName: the stream channel whose link it is; empty for the link of the client.
    func rtmKit(
        _ kit: AgoraRtmClientKit, channel channelName: String,
        connectionChangedToState state: AgoraRtmClientConnectionState,
        reason: AgoraRtmClientConnectionChangeReason)
}

extension AgoraRtmClientDelegate {
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLockEvent event: AgoraRtmLockEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTopicEvent event: AgoraRtmTopicEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTokenEvent event: AgoraRtmTokenEvent) {}
    public func rtmKit(
        _ kit: AgoraRtmClientKit, channel channelName: String,
        connectionChangedToState state: AgoraRtmClientConnectionState,
        reason: AgoraRtmClientConnectionChangeReason
    ) {}
}
