import RTMModel

// Safety: a plain holder of values. The kit makes it, hands it over once and keeps no reference;
// who shares one between threads must not change it any more, as with every object of this API.
/// Why a call failed. As an `NSError` it has the domain ``domainName``, the number of the error code that it
/// was made with, and `reason` as its localized description.
public final class AgoraRtmErrorInfo: NSError, LocalizedError, @unchecked Sendable {
    /// The domain as an `NSError`.
    public static let domainName = "AgoraRtmKit"

    /// The code.
    public var errorCode: AgoraRtmErrorCode
    /// The call that failed, for example `publish`.
    public var operation: String
    /// The reason in one sentence for a person. The wording may change, so don't parse it.
    public var reason: String

    /// Makes an error, for tests of apps.
    public init(errorCode: AgoraRtmErrorCode, operation: String, reason: String) {
        self.errorCode = errorCode
        self.operation = operation
        self.reason = reason
        super.init(
            domain: Self.domainName, code: errorCode.rawValue, userInfo: [NSLocalizedDescriptionKey: reason])
    }

    /// This type has no field for the time to wait, so the sentence contains it.
    convenience init(_ error: RTMError) {
        let wait = error.retryAfter.map { "; try again in \(Int(($0 / .milliseconds(1)).rounded(.up))) ms" }
        self.init(
            errorCode: AgoraRtmErrorCode(error.code), operation: error.operation,
            reason: error.reason + (wait ?? ""))
    }

    public var errorDescription: String? { reason }

    @available(*, unavailable, message: "errors are not archived")
    public required init?(coder: NSCoder) { nil }
}

/// The response of a call whose success has no content.
public final class AgoraRtmCommonResponse: NSObject, Sendable {
    override public init() { super.init() }
}

/// Called exactly once when a call is over: with a response and no error, or the other way round (S-0a).
public typealias AgoraRtmOperationBlock =
    @Sendable (_ response: AgoraRtmCommonResponse?, _ errorInfo: AgoraRtmErrorInfo?) -> Void
