/// Which stored messages are asked for, from newer to older (H-3). Copied by the call.
public final class AgoraRtmGetHistoryMessagesOptions: NSObject {
    /// 1…100 messages at most (L-43).
    public var messageCount: Int32 = 100
    /// The newer bound: milliseconds since 1970, exclusive without `end` and inclusive with it; 0 means from
    /// now (H-4).
    public var start: UInt64 = 0
    /// The older bound, inclusive; 0 means to the oldest.
    public var end: UInt64 = 0

    override public init() { super.init() }
}
