// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The locks of a channel.
public final class AgoraRtmGetLocksResponse: NSObject, @unchecked Sendable {
    /// The locks by name (K-10).
    public var lockDetailList: [AgoraRtmLockDetail] = []

    /// The same list, under the name that some samples use.
    public var locks: [AgoraRtmLockDetail] {
        get { lockDetailList }
        set { lockDetailList = newValue }
    }

    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmGetLocksBlock =
    @Sendable (_ response: AgoraRtmGetLocksResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
