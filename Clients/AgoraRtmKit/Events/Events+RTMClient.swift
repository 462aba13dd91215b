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

extension AgoraRtmLinkStateEvent {
    /// The state is what it was, and events of these channels are missing.
    convenience init(_ dropped: DroppedEvents, state: RTMLinkState) {
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
