import Foundation
import RTMModel
import RTMProtocol

/// A message that the app publishes. It is checked before it reaches the network.
struct OutgoingMessage: Sendable {
    var payload: MessagePayload
    var destination: MessageDestination
    var customType: String
    var storeInHistory: Bool
    /// The app's own name for the message.
    var id: String?
    /// How urgent a message of a topic is; it has no meaning elsewhere.
    var priority = TopicPriority.normal
    /// The number that an outbox gave the message, or that is made of its id. Other messages get theirs when
    /// they are sent.
    var number: OutboxNumber?

    /// - Parameter size: how much of the server's limit is left to the app (L-20).
    func check(_ size: ContentSize = ContentSize()) throws(RTMError) {
        switch destination {
        case .channel(let name): try NameRule.channel.check(name.utf8)
        case .user(let id): try NameRule.user.check(id.utf8)
        case .topic(let topic, let channel):
            try NameRule.channel.check(channel.utf8)
            try NameRule.topic.check(topic.utf8)
        }
        try NameRule.customType.check(customType.utf8)
        if let id, !(1...255).contains(id.utf8.count) || !id.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
            throw RTMError(
                .invalidParameter, "the id of a message has 1 to 255 visible ASCII characters",
                limit: .init(name: "message id bytes", value: 255))
        }
        let count = payload.byteCount
        let countMax = size.messageMax(within: destination.bytesMax)
        guard count <= countMax else {
            throw RTMError(
                .channelMessageLengthExceedLimitation,
                "the message has \(count) bytes, \(countMax) are allowed\(size.remark)",
                limit: .init(name: "message bytes", value: UInt64(countMax)))
        }
    }

    var request: Rtm_Client_Publish {
        var request = Rtm_Client_Publish()
        switch destination {
        case .channel(let name):
            request.channelType = .message
            request.channel = name
        case .user(let id):
            request.channelType = .user
            request.channel = id
        case .topic(let topic, let channel):
            request.channelType = .topic
            request.channel = TopicName(topic, in: channel).text
        }
        switch payload {
        case .text(let text):
            request.messageType = .text
            request.payload = Data(text.utf8)
        case .data(let data):
            request.messageType = .binary
            request.payload = data
        }
        request.customType = customType
        request.storeInHistory = storeInHistory
        request.priority = Rtm_Client_Priority(rawValue: priority.rawValue) ?? .normal
        if let number {
            request.origin = number.id.origin
            request.sequence = number.id.sequence
        }
        return request
    }
}

extension MessageDestination {
    /// How many bytes a message may have (L-20, L-21).
    fileprivate var bytesMax: Int {
        if case .topic = self { Limits.topicMessageBytesMax } else { Limits.messageBytesMax }
    }
}
