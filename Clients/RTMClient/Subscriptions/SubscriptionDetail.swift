import RTMModel
import RTMProtocol

/// What a subscription needs beside its features, again at each return.
struct SubscriptionDetail: Sendable, Hashable {
    /// What lets the user join a stream channel.
    var token = ""
    /// Whose messages of a topic are wanted.
    var publishers: [String] = []

    /// How much of a request this takes, with its keys and lengths.
    var byteCount: Int { publishers.reduce(token.utf8.count + 8) { $0 + $1.utf8.count + 3 } }
}

extension UserChannel {
    /// What the channel is called in the tables of the client: a message channel by its name, and every other
    /// with the number of its type and a slash in front. No message channel is called like that, because
    /// no name of a channel has a slash (L-4).
    var label: String { type == .message ? name : "\(type.rawValue)/\(name)" }

    init(label: String) {
        guard let parts = TopicName(label), let number = Int(parts.channel),
            let type = ChannelType(rawValue: number)
        else {
            self.init(type: .message, name: label)
            return
        }
        self.init(type: type, name: parts.topic)
    }

    init(_ type: Rtm_Client_ChannelType, _ name: String) {
        self.init(type: ChannelType(type), name: name)
    }

    /// Whether this is about the topics of a stream channel.
    func belongs(to channel: String) -> Bool {
        switch type {
        case .topics: name == channel
        case .topic: TopicName(name)?.channel == channel
        case .message, .stream, .user, .none: false
        }
    }

    var isNotSubscribed: RTMError {
        switch type {
        case .stream: RTMError(.channelNotJoined, "stream channel '\(name)' is not joined")
        case .topic: RTMError(.channelTopicNotSubscribed, "topic '\(name)' is not subscribed")
        case .message, .topics, .user, .none:
            RTMError(.channelNotSubscribed, "channel '\(name)' is not subscribed")
        }
    }
}

extension RTMError {
    /// A server that says this knows of no subscription.
    var saysNotSubscribed: Bool {
        code == .channelNotSubscribed || code == .channelNotJoined || code == .channelTopicNotSubscribed
    }
}

extension Rtm_Client_Subscribe {
    init(_ wanted: SubscriptionTable.Restoration) {
        self.init()
        let place = UserChannel(label: wanted.channel)
        if place.type != .message { channelType = Rtm_Client_ChannelType(place.type) }
        channel = place.name
        features = place.type == .topic ? 0 : wanted.features.rawValue
        if let after = wanted.after { self.after = Rtm_Client_StreamPosition(after) }
        token = wanted.detail.token
        publishers = wanted.detail.publishers
    }
}

extension Rtm_Client_Unsubscribe {
    init(_ label: String) {
        self.init()
        let place = UserChannel(label: label)
        if place.type != .message { channelType = Rtm_Client_ChannelType(place.type) }
        channel = place.name
    }
}
