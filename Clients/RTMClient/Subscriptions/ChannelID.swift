import RTMModel
import RTMProtocol

/// A channel by its type and its name (L-6): the key of all tables of the client. The metadata of a user are
/// a channel without a type, whose name is the user id, as they are on the wire.
struct ChannelID: Sendable, Hashable {
    var type: ChannelType
    var name: String

    static func message(_ name: String) -> ChannelID { ChannelID(type: .message, name: name) }
    static func stream(_ name: String) -> ChannelID { ChannelID(type: .stream, name: name) }
    /// Who publishes the topics of a stream channel.
    static func topics(of channel: String) -> ChannelID { ChannelID(type: .topics, name: channel) }
    static func topic(_ topic: TopicName) -> ChannelID { ChannelID(type: .topic, name: topic.text) }
    static func userMetadata(_ userID: String) -> ChannelID { ChannelID(type: .none, name: userID) }

    /// Whether this is about the topics of a stream channel.
    func belongs(to channel: String) -> Bool {
        switch type {
        case .topics: name == channel
        case .topic: TopicName(name)?.channel == channel
        case .message, .stream, .user, .none: false
        }
    }
}

/// A stream channel comes before its topics, and message channels come last.
extension ChannelID: Comparable {
    static func < (one: ChannelID, other: ChannelID) -> Bool {
        (one.rank, one.name) < (other.rank, other.name)
    }

    private var rank: Int { type == .message ? .max : type.rawValue }
}

extension ChannelID {
    init(_ type: Rtm_Client_ChannelType, _ name: String) {
        self.init(type: ChannelType(type), name: name)
    }

    var isNotSubscribed: RTMError {
        switch type {
        case .stream: RTMError(.channelNotJoined, "stream channel '\(name)' is not joined")
        case .topic: RTMError(.channelTopicNotSubscribed, "topic '\(name)' is not subscribed")
        case .none:
            RTMError(.storageNotSubscribe, "the metadata of user '\(name)' are not subscribed")
        case .message, .topics, .user:
            RTMError(.channelNotSubscribed, "channel '\(name)' is not subscribed")
        }
    }
}

extension RTMError {
    /// The server has no such subscription.
    var isNotSubscribed: Bool {
        code == .channelNotSubscribed || code == .channelNotJoined || code == .channelTopicNotSubscribed
    }
}
