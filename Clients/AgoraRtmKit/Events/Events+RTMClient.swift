import RTMClient
import RTMModel

extension AgoraRtmMessageEvent {
    convenience init(_ event: MessageEvent) {
        self.init()
        channelType = event.channelType
        channelName = event.channelName
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
    convenience init(_ event: LinkStateEvent) {
        self.init()
        currentState = event.currentState
        previousState = event.previousState
        serviceType = AgoraRtmServiceType(rawValue: event.serviceType.rawValue)
        operation = event.operation
        reasonCode = event.reasonCode
        reason = event.reason
        affectedChannels = event.affectedChannels
        unrestoredChannels = event.unrestoredChannels
        isResumed = event.isResumed
        timestamp = event.timestampMilliseconds
    }
}
