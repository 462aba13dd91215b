// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// The metadata of a channel or a user.
public final class AgoraRtmGetMetadataResponse: NSObject, @unchecked Sendable {
    /// The whole set; it has no items if nothing was ever written (D-30).
    public var data: AgoraRtmMetadata?

    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmGetMetadataBlock =
    @Sendable (_ response: AgoraRtmGetMetadataResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
