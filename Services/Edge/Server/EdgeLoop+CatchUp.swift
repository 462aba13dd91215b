import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// Catching up: what a session missed is read from the log and sent before it goes live.
extension EdgeLoop {
    struct CatchUp {
        var pending: PendingSubscribe
        let place: Int
        let after: StreamPosition
    }

    func read(_ pending: PendingSubscribe, at place: Int, after: StreamPosition) {
        // An inbox's owner sees his own messages (M-33).
        let except = pending.purpose == .login ? "" : pending.session.userID
        let request = ReadRequest(
            channel: index.key(at: place), after: after, exceptPublisher: except, features: pending.features)
        messaging.read(request, context: CatchUp(pending: pending, place: place, after: after))
    }

    /// A page of what the session missed. The page's position is the log's head when it is the last one, and
    /// every entry up to there has arrived here before it: so the session goes live exactly behind the page.
    func messagingRead(_ catchUp: CatchUp, _ outcome: Result<ReadResponse, LinkRequestFailure>) {
        var pending = catchUp.pending
        let place = catchUp.place
        guard index.isCurrent(pending, at: place) else {
            return giveUp(pending, at: place, .unsubscribedMeanwhile)
        }
        switch outcome {
        case .failure where pending.isAnswered || pending.isReturn:
            goLive(pending, at: place, gap: true)
        case .failure(let failure):
            giveUp(
                pending, at: place,
                RTMError(failure, pending.codes.failed, timeout: pending.codes.timeout))
        case .success(let page) where page.gap:
            goLive(pending, at: place, gap: true)
        case .success(let page):
            if !pending.isAnswered {
                answer(pending, index.key(at: place), catchUp.after, gap: false)
                pending.isAnswered = true
            }
            if !page.frames.isEmpty { pending.session.send(ByteBuffer(bytes: page.frames.bytes)) }
            if page.more {
                read(pending, at: place, after: page.position)
            } else {
                goLive(pending, at: place, gap: false)
            }
        }
    }
}
