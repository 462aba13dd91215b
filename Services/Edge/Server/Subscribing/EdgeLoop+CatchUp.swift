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
    func messagingRead(_ catchUp: CatchUp, _ outcome: Result<ReadResponse, ServiceLinkRequestFailure>) {
        var pending = catchUp.pending
        let place = catchUp.place
        guard index.isCurrent(pending, at: place) else {
            return giveUp(pending, at: place, .unsubscribedMeanwhile)
        }
        switch outcome {
        case .failure(let failure) where pending.isAnswered || pending.isReturn:
            pending.after = catchUp.after
            readFailed(pending, at: place, failure)
        case .failure(let failure):
            giveUp(
                pending, at: place,
                RTMError(failure, pending.codes.failed, timeout: pending.codes.timeout))
        case .success(let page) where page.gap && pending.session.hasRoom:
            goLive(pending, at: place, gap: true)
        case .success(let page) where page.gap:
            pending.after = catchUp.after
            waitForRoom(pending, at: place)
        case .success(let page):
            gotPage(page, pending, at: place, after: catchUp.after)
        }
    }

    private func gotPage(
        _ page: ReadResponse, _ pending: PendingSubscribe, at place: Int, after: StreamPosition
    ) {
        let frames = ByteBuffer(bytes: page.frames.bytes)
        guard pending.session.hasRoom else {
            return holdPage(frames, page.position, pending, at: place, after: after)
        }
        var pending = pending
        give(frames, &pending, at: place, after: after)
        guard page.more else { return goLive(pending, at: place, gap: false) }
        pending.after = page.position
        begin(pending, at: place)
    }

    /// Limit: one page of each channel that a session subscribes to.
    private func holdPage(
        _ frames: ByteBuffer, _ position: StreamPosition, _ pending: PendingSubscribe, at place: Int,
        after: StreamPosition
    ) {
        var pending = pending
        // From where the page begins.
        pending.after = after
        answerEarly(&pending, at: place)
        pending.after = position
        waitForRoom(pending, at: place) { [self] pending in give(frames, &pending, at: place, after: after) }
    }

    private func give(
        _ frames: ByteBuffer, _ pending: inout PendingSubscribe, at place: Int, after: StreamPosition
    ) {
        if !pending.isAnswered {
            answer(pending, index.key(at: place), after, gap: false)
            pending.isAnswered = true
        }
        if pending.owesSnapshots { giveSnapshots(pending) }
        pending.owesSnapshots = false
        if frames.readableBytes > 0 { pending.session.send(frames) }
    }

    /// Who was let in already isn't turned away, and isn't told of a gap either while the log has what it
    /// missed: it stands still until the log can be read. A page says so when that is over.
    private func readFailed(_ pending: PendingSubscribe, at place: Int, _ failure: ServiceLinkRequestFailure)
    {
        if case .refused(let error) = failure, !error.isRetryable {
            return goLive(pending, at: place, gap: true)
        }
        let pending = answeredFromWhereItStands(pending, at: place)
        eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { self.begin(pending, at: place) }
    }

    /// The channel could not be attached. A subscriber that was to come in again stays what it was.
    func attachFailed(_ pending: PendingSubscribe, at place: Int, _ failure: ServiceLinkRequestFailure) {
        guard pending.isReturn || pending.isAnswered, index.isCurrent(pending, at: place) else {
            return giveUp(
                pending, at: place,
                RTMError(failure, pending.codes.failed, timeout: pending.codes.timeout))
        }
        var pending = pending
        if !pending.isPrepared { withoutSnapshots(&pending) }
        pending.isPrepared = true
        if pending.after == index.position(at: place) { return begin(pending, at: place) }
        index.waitForNextAttach(answeredFromWhereItStands(pending, at: place), at: place)
    }

    /// Nobody waits for the answer as long as that may take.
    private func answeredFromWhereItStands(_ pending: PendingSubscribe, at place: Int) -> PendingSubscribe {
        guard !pending.isAnswered, pending.session.hasRoom, let after = pending.after else { return pending }
        answer(pending, index.key(at: place), after, gap: false)
        var pending = pending
        pending.isAnswered = true
        return pending
    }
}
