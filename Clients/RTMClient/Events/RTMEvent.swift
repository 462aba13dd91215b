public import Foundation
public import RTMModel

/// What the server sends without a request, and what the client reports by itself. Each consumer gets all
/// events, in one order.
public enum RTMEvent: Sendable, Hashable {
    /// Somebody published to a subscribed channel, or to this user.
    case message(MessageEvent)
    /// The metadata of a subscribed channel or of a followed user: as they are at first, and after each
    /// write.
    case metadata(MetadataEvent)
    /// Locks of a subscribed channel were created, removed, acquired or released, or this client lost some of
    /// its own.
    case lock(LockEvent)
    /// The link changed its state.
    case linkState(LinkStateEvent)
    /// The token of the session expires within 30 seconds, and it is time for `renewToken`. This is announced
    /// once per token (S-50).
    case tokenWillExpire(TokenWillExpireEvent)
    /// Messages of a channel were lost on the way and can't be replayed any more. The client reports that
    /// instead of being silent.
    case gap(GapEvent)
    /// Who is in a subscribed channel, and what changed.
    case presence(PresenceEvent)
    /// Who publishes the topics of a stream channel, and what changed.
    case topic(TopicEvent)
    /// A stream channel could not be taken up again after a reconnect, or has ended with its token.
    case streamChannelEnded(StreamChannelEndedEvent)
    /// What became of a message of the outbox.
    case outbox(OutboxEvent)
    /// Something arrived that this client can't decrypt, and which key that would take (E-4).
    case undecryptable(UndecryptableEvent)
    /// This consumer was too slow. So many events were dropped in this place, the oldest first.
    case overflow(dropped: Int)
}

/// A token is about to expire. When that of the session does, the link fails, and only a `login` with a new
/// token helps.
public struct TokenWillExpireEvent: Sendable, Hashable {
    /// How long the token is still valid by the server's clock, at most 30 s.
    public var remaining: Duration
    /// The stream channel whose token it is, or `nil` for the token of the session. A stream channel ends
    /// with its token, and the link stays.
    public var channelName: String?

    /// Makes the value, as tests of apps do.
    public init(remaining: Duration, channelName: String? = nil) {
        self.remaining = remaining
        self.channelName = channelName
    }
}

/// What a message carries. The publisher chose which.
public enum MessagePayload: Sendable, Hashable {
    /// A text.
    case text(String)
    /// Bytes.
    case data(Data)

    /// The length in bytes, for a text in UTF-8.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        }
    }
}

/// One received message (M-23).
public struct MessageEvent: Sendable, Hashable {
    /// `message`, `user`, or `stream` for a message of a topic.
    public var channelType: ChannelType
    /// The channel's name. For a message to a user this is the receiver's own id (M-34).
    public var channelName: String
    /// The topic of a stream channel, otherwise an empty text.
    public var topic: String
    /// What the message carries.
    public var payload: MessagePayload
    /// The user id of the sender.
    public var publisher: String
    /// The type that the publisher gave the message, or an empty text.
    public var customType: String
    /// When the server accepted the message, in milliseconds since 1970. The times of a channel's messages
    /// never decrease.
    public var timestampMilliseconds: UInt64
    /// The place among the channel's messages with the same timestamp, which only very busy channels have.
    /// Timestamp and order together are strictly increasing (M-24).
    public var order: UInt32 = 0
    /// The message's offset in the channel's log.
    public var offset: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        channelType: ChannelType, channelName: String, topic: String = "", payload: MessagePayload,
        publisher: String, customType: String = "", timestampMilliseconds: UInt64, offset: UInt64
    ) {
        self.channelType = channelType
        self.channelName = channelName
        self.topic = topic
        self.payload = payload
        self.publisher = publisher
        self.customType = customType
        self.timestampMilliseconds = timestampMilliseconds
        self.offset = offset
    }
}

/// A gap in what a channel delivered.
public struct GapEvent: Sendable, Hashable {
    /// The type of the channel that lost messages.
    public var channelType: ChannelType
    /// The name of the channel that lost messages.
    public var channelName: String
    /// The last position that this client saw before the gap, or `nil` if it had seen nothing.
    public var lastSeen: StreamPosition?
    /// Delivery continues after this position. If its epoch is another than that of `lastSeen`, the channel's
    /// log began anew.
    public var continuesAfter: StreamPosition

    /// Makes the value, as tests of apps do.
    public init(
        channelType: ChannelType, channelName: String, lastSeen: StreamPosition?,
        continuesAfter: StreamPosition
    ) {
        self.channelType = channelType
        self.channelName = channelName
        self.lastSeen = lastSeen
        self.continuesAfter = continuesAfter
    }
}
