/// The kinds of channels. A name means a channel only together with its type: the same name as a message and
/// as a stream channel means two unrelated channels (L-6).
public enum ChannelType: Int, Sendable, Hashable, CaseIterable {
    /// The type is unknown.
    case none = 0
    /// Everybody who has subscribed receives what is published.
    case message = 1
    /// A room with topics, which users join.
    case stream = 2
    /// One user's inbox; the channel name is the user id.
    case user = 3
    /// Who publishes which topics of a stream channel; the name is that of the stream channel (C-5).
    case topics = 4
    /// What is published in one topic of a stream channel; the name is a `TopicName` (C-7).
    case topic = 5
}

extension ChannelType {
    /// Whether channels of this type have metadata and locks (D-14, K-1).
    package var hasLocks: Bool { self == .message || self == .stream }
}

/// A topic by its full name: the stream channel's name, a slash, and its own. Neither name can contain a
/// slash (L-4, L-8).
public struct TopicName: Sendable, Hashable {
    /// The stream channel.
    public var channel: String
    /// The topic in it.
    public var topic: String

    /// Names a topic of a stream channel.
    public init(_ topic: String, in channel: String) {
        self.channel = channel
        self.topic = topic
    }

    /// Returns nil if the text has no slash.
    package init?(_ text: String) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        self.init(String(text[text.utf8.index(after: slash)...]), in: String(text[..<slash]))
    }

    /// The name of the topic's channel of type `.topic`.
    package var text: String { "\(channel)/\(topic)" }
}

/// What a subscriber of a message channel wants to receive, and whether it wants to be visible (M-1).
///
/// Joining a stream channel has a set of its own with other values; the two must not share a type.
public struct SubscriptionFeatures: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Who is in the channel, and their states.
    public static let presence = SubscriptionFeatures(rawValue: 1)
    /// The metadata of the channel.
    public static let metadata = SubscriptionFeatures(rawValue: 2)
    /// Messages.
    public static let message = SubscriptionFeatures(rawValue: 4)
    /// The locks of the channel.
    public static let lock = SubscriptionFeatures(rawValue: 8)
    /// The subscriber's own joins, leaves and states are not shown to others (M-7).
    public static let quiet = SubscriptionFeatures(rawValue: 16)
    /// The subscriber's own messages, too (M-43). It lies among the features because it lives as long as they
    /// do, and so that a subscriber needs no more memory. Services send it to each other; a client asks for
    /// it by a field of its own, which an older edge skips.
    package static let ownMessages = SubscriptionFeatures(rawValue: 32)

    /// What a subscription selects unless something else is asked for.
    public static let `default`: SubscriptionFeatures = [.message, .presence]
    /// Everything that a subscriber can receive. Being quiet is no such thing, and is asked for by its name.
    public static let all: SubscriptionFeatures = [.presence, .metadata, .message, .lock]
    /// Every bit that has a meaning to clients.
    package static let known: SubscriptionFeatures = [.all, .quiet]

    /// Whether an own entry of this feature is left out of what a subscriber with these features receives
    /// (M-21).
    package func leavesOutOwn(_ feature: SubscriptionFeatures) -> Bool {
        feature != .message || !contains(.ownMessages)
    }
}

/// A place in a channel's log: every entry up to and including `offset` has been seen.
public struct StreamPosition: Sendable, Hashable {
    /// Identifies the log. Positions of different epochs can't be compared, because the log began anew in
    /// between.
    public var epoch: UInt64
    /// The offset of the last entry that was seen. The first entry of a log has offset 1.
    public var offset: UInt64

    /// Makes the value, as tests of apps do.
    public init(epoch: UInt64, offset: UInt64) {
        self.epoch = epoch
        self.offset = offset
    }
}

/// The number of one login of one user. It is unique over all edges.
package struct SessionID: Sendable, Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A channel by its full name: app, type and name (L-6).
package struct ChannelKey: Sendable, Hashable {
    package var appID: String
    package var type: ChannelType
    package var name: String

    package init(appID: String, type: ChannelType, name: String) {
        self.appID = appID
        self.type = type
        self.name = name
    }
}
