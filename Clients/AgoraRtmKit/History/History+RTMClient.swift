import RTMClient
import RTMModel

extension AgoraRtmChannelType {
    /// The channel whose history is meant: only message and user channels have one (H-1).
    ///
    /// - Throws: `.invalidChannelType` (-10019) for another type.
    func history(of channelName: String) throws(RTMError) -> MessageDestination {
        switch self {
        case .message: return .channel(channelName)
        case .user: return .user(channelName)
        case .none, .stream:
            throw RTMError(
                .invalidChannelType, "channels of type message and user have a history, not \(self)")
        }
    }
}

extension AgoraRtmGetHistoryMessagesResponse {
    convenience init(_ page: HistoryPage) {
        self.init()
        messageList = page.messages.map(AgoraRtmHistoryMessage.init)
        newStart = page.nextStart ?? 0
    }
}

extension AgoraRtmHistoryMessage {
    fileprivate convenience init(_ message: HistoryMessage) {
        self.init()
        switch message.payload {
        case .text(let text): self.message.stringData = text
        case .data(let data): self.message.rawData = data
        }
        publisher = message.publisher
        customType = message.customType
        timestamp = message.timestampMilliseconds
    }
}
