import NIOCore
import RTMModel
import RTMWire

/// What has to be remembered of a call until its answer.
struct ForwardedCall {
    let session: Session
    let requestID: UInt64
    let kind: ClientCall.Kind
    /// The lock that an acquire or a release is about.
    var lock: LockName?

    func about(_ lock: LockName?) -> ForwardedCall {
        var call = self
        call.lock = lock
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
        session.send(AskedPage(frames: frames))
    }

    func refuse(_ error: RTMError, _ metrics: EdgeMetrics) {
        metrics.callRefused(kind.service)
        session.answer(requestID, error)
    }
}
