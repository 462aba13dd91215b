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
