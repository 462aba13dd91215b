/// One stored message (H-9).
public struct HistoryMessage: Sendable, Hashable {
    /// What the message carries.
    public var payload: MessagePayload
    /// The user id of the sender.
    public var publisher: String
    /// The type that the publisher gave the message, or an empty text.
    public var customType: String
    /// The timestamp of the live event, in milliseconds since 1970. With the order it is unique in a channel.
    public var timestampMilliseconds: UInt64
    /// The order of the live event.
    public var order: UInt32 = 0
    /// Why the message could not be decrypted. Then its payload is empty. `nil` for a message that could be,
    /// or wasn't encrypted for a client without keys (H-13).
    public var decryptionFailure: DecryptionFailure?

    /// Makes the value, as tests of apps do.
    public init(
        payload: MessagePayload, publisher: String, customType: String = "", timestampMilliseconds: UInt64
    ) {
        self.payload = payload
        self.publisher = publisher
        self.customType = customType
        self.timestampMilliseconds = timestampMilliseconds
    }
}

/// A page of a channel's history, newest message first (H-6).
public struct HistoryPage: Sendable, Hashable {
    /// The messages of this page, the newest first.
    public var messages: [HistoryMessage]
    /// The `start` of the next, older page, or `nil` after the last one (H-7).
    public var nextStart: UInt64?

    /// Makes the value, as tests of apps do.
    public init(messages: [HistoryMessage], nextStart: UInt64? = nil) {
        self.messages = messages
        self.nextStart = nextStart
    }
}
