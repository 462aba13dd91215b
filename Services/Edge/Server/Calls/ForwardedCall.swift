import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// What has to be remembered of a call until its answer.
struct ForwardedCall {
    let session: Session
    let requestID: UInt64
    let kind: ClientCall.Kind
    /// The lock that an acquire or a release is about.
    var lock: LockName?
    /// The memory for the answer to a query.
    var share: SharedMemory.Share?

    func about(_ lock: LockName?) -> ForwardedCall {
        var call = self
        call.lock = lock
        return call
    }

    func holding(_ share: SharedMemory.Share) -> ForwardedCall {
        var call = self
        call.share = share
        return call
    }

    /// Limit: a longer answer is a page, which isn't copied behind what waits.
    private static let shortBytesMax = 4 * 1024

    func answer(_ response: WireText, _ metrics: EdgeMetrics) {
        guard !response.isEmpty else {
            return refuse(RTMError(.serviceNotSupport, "the service's answer is empty"), metrics)
        }
        metrics.callAnswered(kind.service)
        let answer = CallAnswer(answering: requestID, response)
        guard response.bytes.count > Self.shortBytesMax else {
            return session.write { answer.encodeFrame(into: &$0) }
        }
        var frames = ByteBuffer()
        answer.encodeFrame(into: &frames)
        session.send(RequestedPage(frames: frames, charge: share))
    }

    func refuse(_ error: RTMError, _ metrics: EdgeMetrics) {
        metrics.callRefused(kind.service)
        session.answer(requestID, error)
    }
}

extension ClientCall.Kind {
    /// What the client gets if the service doesn't answer. Every such error says when to try again.
    func error(_ failure: ServiceLinkRequestFailure) -> RTMError {
        let codes: (failed: ErrorCode, timeout: ErrorCode) =
            switch service {
            case .presence: (.presenceOperationFailed, .presenceOperationTimeout)
            case .metadata: (.storageNotAvailable, .storageOperationTimeout)
            case .locks: (.lockNotAvailable, .lockOperationTimeout)
            case .history: (.historyNotAvailable, .historyOperationTimeout)
            }
        var error = RTMError(failure, codes.failed, timeout: codes.timeout)
        if case .refused = failure { return error }
        error.retryAfter = error.retryAfter ?? .seconds(1)
        return error
    }
}
