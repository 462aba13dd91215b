public import Foundation
public import RTMModel

/// What a client hears without having asked. Each consumer gets all of them, in one order.
public enum RTMEvent: Sendable, Hashable {
    /// Somebody published to a subscribed channel, or to this user.
    case message(MessageEvent)
    /// The metadata of a subscribed channel, or of a user who is followed: at first, and after each write.
    case storage(StorageEvent)
    /// Locks of a subscribed channel were made, removed, taken or freed; or this client lost some of its own.
    case lock(LockEvent)
    /// The link changed its state.
    case linkState(LinkStateEvent)
    /// The token of the session expires within 30 seconds: time for `renewToken`. Said once per token (S-50).
    case tokenWillExpire(TokenWillExpireEvent)
    /// Messages of a channel were lost on the way and can't be replayed any more: said instead of silence.
    case gap(GapEvent)
    /// Who is in a subscribed channel, and what changed.
    case presence(PresenceEvent)
    /// This consumer was too slow: so many events in this place were dropped, the oldest first.
    case overflow(dropped: Int)
}

/// A token that is about to expire. When it does the link fails, and only a `login` with a new token helps.
public struct TokenWillExpireEvent: Sendable, Hashable {
    /// What is left of it by the server's clock, at most 30 s.
    public var remaining: Duration

    public init(remaining: Duration) { self.remaining = remaining }
}

/// What a message carries. The publisher chose which.
public enum MessagePayload: Sendable, Hashable {
    case text(String)
    case data(Data)

    /// Length in bytes, of the text in UTF-8.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        }
    }
}

/// One received message (M-23).
public struct MessageEvent: Sendable, Hashable {
    /// `message` or `user`.
    public var channelType: ChannelType
    /// For a message to a user this is the receiver's own id (M-34).
    public var channelName: String
    public var payload: MessagePayload
    /// User id of the sender.
    public var publisher: String
    /// Empty if the publisher set none.
    public var customType: String
    /// When the server accepted it: milliseconds since 1970. Strictly increasing within a channel.
    public var timestampMilliseconds: UInt64
    /// Place in the channel's log.
    public var offset: UInt64

    public init(
        channelType: ChannelType, channelName: String, payload: MessagePayload, publisher: String,
        customType: String = "", timestampMilliseconds: UInt64, offset: UInt64
    ) {
        self.channelType = channelType
        self.channelName = channelName
        self.payload = payload
        self.publisher = publisher
        self.customType = customType
        self.timestampMilliseconds = timestampMilliseconds
        self.offset = offset
    }
}

/// A hole in what a channel delivered.
public struct GapEvent: Sendable, Hashable {
    public var channelType: ChannelType
    public var channelName: String
    /// The last that this client saw before the hole; nil if it had seen nothing.
    public var lastSeen: StreamPosition?
    /// Delivery goes on after this position. Another epoch than in `lastSeen`: the channel's log began anew.
    public var continuesAfter: StreamPosition

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
