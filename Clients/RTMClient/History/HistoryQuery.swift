import RTMModel
import RTMProtocol

/// A request for stored messages, from newer to older (H-3).
struct HistoryQuery: Sendable, Hashable {
    var source: MessageDestination
    /// The newer bound (H-4).
    var start: UInt64?
    /// The older bound (H-4).
    var end: UInt64?
    var count: Int

    /// Checks the name, the number of messages (L-43) and the order of the bounds (H-5).
    func check() throws(RTMError) {
        switch source {
        case .channel(let name): try NameRule.channel.check(name.utf8)
        case .user(let id): try NameRule.user.check(id.utf8)
        case .topic: throw RTMError(.invalidChannelType, "messages of topics are not stored")
        }
        guard Limits.historyPage.contains(count) else {
            throw RTMError(
                .invalidParameter,
                "\(count) messages were asked for, but a page has \(Limits.historyPage.lowerBound) to "
                    + "\(Limits.historyPage.upperBound)",
                limit: .init(name: "messages of a page", value: UInt64(Limits.historyPage.upperBound)))
        }
        if let start, let end, start > 0, end > start {
            throw RTMError(
                .historyInvalidTimestamp,
                "the history is read from newer to older: end \(end) is after start \(start)")
        }
    }

    var request: Rtm_Client_GetHistory {
        var request = Rtm_Client_GetHistory()
        switch source {
        case .channel(let name): (request.channelType, request.channel) = (.message, name)
        case .user(let id): (request.channelType, request.channel) = (.user, id)
        case .topic(let topic, let channel):
            (request.channelType, request.channel) = (.topic, TopicName(topic, in: channel).text)
        }
        request.count = UInt32(clamping: count)
        request.startMs = start ?? 0
        request.endMs = end ?? 0
        return request
    }
}

extension HistoryPage {
    init(_ page: Rtm_Client_HistoryPage) {
        self.init(
            messages: page.messages.map(HistoryMessage.init),
            nextStart: page.newStartMs > 0 ? page.newStartMs : nil)
    }
}

extension HistoryMessage {
    init(_ message: Rtm_Client_HistoryMessage) {
        self.init(
            payload: MessagePayload(message.type, message.payload), publisher: message.publisher,
            customType: message.customType, timestampMilliseconds: message.timestampMs)
        order = message.order
    }
}
