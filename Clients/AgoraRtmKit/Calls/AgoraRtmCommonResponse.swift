/// The response of a call whose success has no content.
public final class AgoraRtmCommonResponse: NSObject, Sendable {
    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmOperationBlock =
    @Sendable (_ response: AgoraRtmCommonResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
