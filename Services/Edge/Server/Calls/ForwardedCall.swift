import RTMModel
import RTMWire

/// What has to be remembered of a call until its answer.
struct ForwardedCall {
    let session: Session
    let requestID: UInt64
    let kind: ClientCall.Kind
    /// The lock that an acquire or a release is about.
    var lock: LockName?

    func answer(_ response: WireText, _ metrics: EdgeMetrics) {
        guard !response.isEmpty else {
            return refuse(RTMError(.serviceNotSupport, "the service's answer is empty"), metrics)
        }
        metrics.callAnswered(kind.service)
        session.write { CallAnswer(answering: requestID, response).encodeFrame(into: &$0) }
    }

    func refuse(_ error: RTMError, _ metrics: EdgeMetrics) {
        metrics.callRefused(kind.service)
        session.answer(requestID, error)
    }
}
