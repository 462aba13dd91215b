// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.

/// One page of stored messages.
public final class AgoraRtmGetHistoryMessagesResponse: NSObject, @unchecked Sendable {
    /// The messages, newest first (H-6).
    public var messageList: [AgoraRtmHistoryMessage] = []
    /// The `start` of the next, older page; 0 after the last one (H-7).
    public var newStart: UInt64 = 0

    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmGetHistoryMessagesBlock =
    @Sendable (_ response: AgoraRtmGetHistoryMessagesResponse?, _ errorInfo: AgoraRtmErrorInfo?) ->
    Void

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// A stored message (H-9).
public final class AgoraRtmHistoryMessage: NSObject, NSCopying, @unchecked Sendable {
    /// Text or bytes. A message that can't be decrypted is empty (H-13).
    public var message = AgoraRtmMessage()
    /// The user id of the sender.
    public var publisher = ""
    /// The mark that the sender gave the message; empty if it gave none.
    public var customType: String?
    /// The timestamp of the live event, in milliseconds since 1970.
    public var timestamp: UInt64 = 0

    override public init() { super.init() }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = AgoraRtmHistoryMessage()
        copy.message.rawData = message.rawData
        copy.message.stringData = message.stringData
        copy.publisher = publisher
        copy.customType = customType
        copy.timestamp = timestamp
        return copy
    }
}

/// Which stored messages are asked for, from newer to older ones (H-3). The call copies the object.
public final class AgoraRtmGetHistoryMessagesOptions: NSObject {
    /// How many messages a page may have, 1…100 (L-43).
    public var messageCount: Int32 = 100
    /// The newer bound in milliseconds since 1970. It is exclusive without `end` and inclusive with it; 0
    /// means now (H-4).
    public var start: UInt64 = 0
    /// The older bound in milliseconds since 1970, inclusive; 0 means the oldest message.
    public var end: UInt64 = 0

    override public init() { super.init() }
}
