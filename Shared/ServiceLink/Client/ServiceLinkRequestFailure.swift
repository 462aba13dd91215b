package import RTMModel

/// How a call of a service ended.
package typealias ServiceLinkResult<Response> = Result<Response, ServiceLinkRequestFailure>

/// Why a request to a service has no response.
package enum ServiceLinkRequestFailure: Error, Sendable, Hashable {
    /// The service, or the link on its behalf, refused the request. It was not done.
    case refused(RTMError)
    /// No answer came in time. The request may have been done.
    case timedOut
    /// The link was lost before an answer came. The request may have been done.
    case disconnected

    /// Whether it failed only because this process isn't, or is no longer, the one to ask.
    package var isOfLink: Bool {
        switch self {
        case .disconnected: true
        case .refused(let error): error.code == .notConnected
        case .timedOut: false
        }
    }
}

extension ServiceLinkOutcome {
    /// Decodes a response. One that can't be decoded counts as refused.
    package func result<Response>(
        _ decode: (UnsafeRawBufferPointer) throws -> Response
    ) -> ServiceLinkResult<Response> {
        switch self {
        case .success(let body):
            do {
                return .success(try decode(body))
            } catch {
                return .failure(
                    .refused(
                        RTMError(.serviceNotSupport, "the response of a service can't be read")))
            }
        case .failed(let error): return .failure(.refused(error))
        case .timedOut: return .failure(.timedOut)
        case .disconnected: return .failure(.disconnected)
        }
    }
}

extension RTMError {
    /// The error that a client of the system gets when a call inside it failed: the service's own refusal, or
    /// one of the given codes for an answer that never came.
    package init(_ failure: ServiceLinkRequestFailure, _ code: ErrorCode, timeout: ErrorCode) {
        switch failure {
        case .refused(let error) where error.code == .notConnected:
            self.init(code, error.reason, retryAfter: .seconds(1))
        case .refused(let error):
            self = error
        case .timedOut:
            self.init(timeout, "a service did not answer in time; whether it was done is not known")
        case .disconnected:
            self.init(code, "a service was lost before it answered; whether it was done is not known")
        }
    }
}
