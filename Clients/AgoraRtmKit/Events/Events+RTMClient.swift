import RTMClient
import RTMModel

extension AgoraRtmMessageEvent {
    convenience init(_ event: MessageEvent) {
        self.init()
        channelType = AgoraRtmChannelType(event.channelType)
        channelName = event.channelName
        channelTopic = event.topic
        switch event.payload {
        case .text(let text): message.stringData = text
        case .data(let data): message.rawData = data
        }
        publisher = event.publisher
        customType = event.customType
        timestamp = event.timestampMilliseconds
    }
}

extension AgoraRtmTokenEvent {
    /// A token is about to expire (S-50).
    convenience init(_ notice: TokenWillExpireEvent) {
        self.init()
        let whose = notice.channelName.map { "stream channel '\($0)'" } ?? "the login"
        let seconds = Int((notice.remaining / .seconds(1)).rounded())
        reason = "the token of \(whose) expires in \(seconds) s: it is time for renewToken"
        timestamp = UInt64(Date().timeIntervalSince1970 * 1000)
    }

    /// A return has ended subscriptions. Nil if it hasn't.
    convenience init?(_ change: LinkStateEvent) {
        guard !change.forbiddenChannels.isEmpty else { return nil }
        self.init()
        eventType = .readPermissionRevoked
        reason = "the token doesn't allow to subscribe to channels that were subscribed"
        affectedResources.messageChannels = change.forbiddenChannels
        timestamp = change.timestampMilliseconds
    }
}

extension AgoraRtmLinkStateEvent {
    /// The state is what it was, and events of these channels are missing.
    convenience init(_ dropped: DroppedEvents, state: LinkState) {
        self.init()
        currentState = AgoraRtmLinkState(state)
        previousState = currentState
        operation = .reconnected
        reason = "\(dropped.count) events were dropped, because the callbacks are slower than events come"
        affectedChannels = dropped.channels.sorted()
        unrestoredChannels = affectedChannels
        timestamp = UInt64(Date().timeIntervalSince1970 * 1000)
    }

    convenience init(_ event: LinkStateEvent) {
        self.init()
        currentState = AgoraRtmLinkState(event.currentState)
        previousState = AgoraRtmLinkState(event.previousState)
        serviceType = AgoraRtmServiceType(rawValue: event.serviceType.rawValue)
        operation = AgoraRtmLinkOperation(event.operation)
        reasonCode = AgoraRtmLinkStateChangeReason(event.reasonCode)
        reason = event.reason
        affectedChannels = event.affectedChannels
        unrestoredChannels = event.unrestoredChannels
        isResumed = event.isResumed
        timestamp = event.timestampMilliseconds
    }
}
