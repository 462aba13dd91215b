public import RTMModel

/// Who publishes the topics of a stream channel, and how that changed (C-12). Everybody who has joined the
/// channel gets the event, except for what it did itself.
public struct TopicEvent: Sendable, Hashable {
    /// The stream channel that has the topics.
    public var channelName: String
    /// What changed.
    public var change: Change
    /// Milliseconds since 1970 by the server's clock.
    public var timestampMilliseconds: UInt64

    /// What changed about who publishes which topic.
    public enum Change: Sendable, Hashable {
        /// All topics, by name. It comes after the join, after a reconnect, and whenever the server brings
        /// the client up to date, and replaces all that is known.
        case snapshot([Topic])
        /// A user publishes a topic from now on.
        case joined(topic: String, TopicPublisher)
        /// A user publishes a topic no more.
        case left(topic: String, TopicPublisher)
    }

    /// Makes the value, as tests of apps do.
    public init(channelName: String, change: Change, timestampMilliseconds: UInt64) {
        self.channelName = channelName
        self.change = change
        self.timestampMilliseconds = timestampMilliseconds
    }

    /// The user that the event is about, or `nil` for a snapshot.
    public var publisher: String? {
        switch change {
        case .snapshot: nil
        case .joined(_, let publisher), .left(_, let publisher): publisher.userID
        }
    }
}

/// A topic of a stream channel. It exists as long as somebody publishes it (C-5).
public struct Topic: Sendable, Hashable {
    /// The name of the topic.
    public var name: String
    /// By user id.
    public var publishers: [TopicPublisher]

    /// Makes the value, as tests of apps do.
    public init(name: String, publishers: [TopicPublisher]) {
        self.name = name
        self.publishers = publishers
    }
}

/// A user who publishes a topic.
public struct TopicPublisher: Sendable, Hashable {
    /// Who publishes.
    public var userID: String
    /// What the user said of itself when it joined the topic, or an empty text.
    public var meta: String

    /// Makes the value, as tests of apps do.
    public init(userID: String, meta: String = "") {
        self.userID = userID
        self.meta = meta
    }
}

/// A stream channel that was joined is over although nobody left it: its token has expired, or the server
/// refused to take it up again after a reconnect. Only a new `join` helps.
public struct StreamChannelEndedEvent: Sendable, Hashable {
    /// The stream channel that has ended.
    public var channelName: String
    /// Why it has ended.
    public var error: RTMError

    /// Makes the value, as tests of apps do.
    public init(channelName: String, error: RTMError) {
        self.channelName = channelName
        self.error = error
    }
}
