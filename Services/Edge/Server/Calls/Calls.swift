import NIOCore
import RTMAppConfiguration
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// Calls that presence or storage answers. The edge checks who calls, how often and what about. Then it
/// passes the client's bytes on, and the service's bytes back; it reads neither, but for the names of locks.
final class Calls {
    private let presence: PresenceClient
    private let storage: StorageClient
    private let locks: LockRequests
    private let subscribing: Subscribing
    private let sharedRates: SharedRates
    private let pages: PageTurns
    private let metrics: EdgeMetrics
    private let endOfTurn: EndOfTurn
    /// The calls that presence or storage has not answered yet.
    private var pending = RequestContexts<ForwardedCall>()
    private var isPassing = false
    private let wallClock: () -> UInt64

    init(
        presence: PresenceClient, storage: StorageClient, locks: LockRequests,
        subscribing: Subscribing, sharedRates: SharedRates, pages: PageTurns, metrics: EdgeMetrics,
        endOfTurn: EndOfTurn,
        wallClock: @escaping () -> UInt64
    ) {
        self.presence = presence
        self.storage = storage
        self.locks = locks
        self.subscribing = subscribing
        self.sharedRates = sharedRates
        self.pages = pages
        self.metrics = metrics
        self.endOfTurn = endOfTurn
        self.wallClock = wallClock
    }

    func call(_ session: Session, _ call: ClientCall, _ requestID: UInt64) {
        let context = ForwardedCall(session: session, requestID: requestID, kind: call.kind)
        let lock: LockName?
        do throws(RTMError) {
            try checkRates(call, session)
            try session.check(call) { channel in
                subscribing.isSubscribed(session.key, to: session.channel(channel.string, .stream))
            }
            try checkPublishes(call, session)
            lock = try locks.begin(call, of: session)
        } catch {
            return context.refuse(error, metrics)
        }
        switch session.callQueue.begin(call.kind, isWritable: session.isWritable) {
        case .pass: pass(call.request, context.about(lock))
        case .queue:
            session.callQueue.wait(
                CallQueue.Waiting(
                    requestID: requestID, kind: call.kind, lock: lock,
                    request: ByteBuffer(bytes: call.request.bytes)))
            if session.callQueue.isLong { session.connection?.pauseReadingRequests() }
            awaitWritable(session)
        case .refuse:
            locks.answered(context.about(lock), refusal: .tooManyQueuedCalls)
            context.refuse(.tooManyQueuedCalls, metrics)
        }
    }

    /// A query is passed on as soon as there is memory for its answer.
    private func pass(_ request: WireText, _ context: ForwardedCall) {
        guard context.kind.isQuery else { return send(request, context) }
        let (session, bytesMax) = (context.session, context.kind.answerBytesMax)
        if let share = pages.take(bytesMax, of: session.appID, by: session.userID) {
            return send(request, context.holding(share))
        }
        let request = ByteBuffer(bytes: request.bytes)
        pages.wait(bytesMax, for: session) { [self] outcome in
            switch outcome {
            case .success(let share):
                request.withUnsafeReadableBytes { send(WireText($0), context.holding(share)) }
            case .failure(let error):
                context.refuse(error, metrics)
                answered(context)
            }
        }
    }

    private func send(_ request: WireText, _ context: ForwardedCall) {
        let call = CallRequest(caller: context.session.caller, request: request)
        switch context.kind.service {
        case .presence: presence.call(call, context: pending.insert(context))
        case .metadata, .locks, .history: storage.call(call, context: pending.insert(context))
        }
    }

    /// What waits in a queue is passed on as far as it may be.
    private func passNext(of session: Session) {
        // A call that fails at once comes back here: the loop below continues, not a deeper call.
        guard !session.isEnded, !session.callQueue.isEmpty, !isPassing else { return }
        isPassing = true
        while let next = session.callQueue.next(isWritable: session.isWritable) {
            let context = ForwardedCall(
                session: session, requestID: next.requestID, kind: next.kind, lock: next.lock)
            next.request.withUnsafeReadableBytes { pass(WireText($0), context) }
        }
        isPassing = false
        if !session.callQueue.isLong { session.connection?.resumeReadingRequests() }
        awaitWritable(session)
    }

    /// An answer passes the next call on, too.
    private func awaitWritable(_ session: Session) {
        guard !session.callQueue.isEmpty, !session.callQueue.awaitsWritable, !session.isWritable else {
            return
        }
        session.callQueue.awaitsWritable = true
        session.connection?.whenWritable { [self] in
            session.callQueue.awaitsWritable = false
            passNext(of: session)
        }
    }

    private func checkRates(_ call: ClientCall, _ session: Session) throws(RTMError) {
        try session.rates.call(call, session.application.rates, now: endOfTurn.now)
        do throws(RTMError) {
            if call.kind == .setState || call.kind == .removeState {
                try sharedRates.checkStates(of: session, now: endOfTurn.now)
            } else if call.kind.isQuery {
                try sharedRates.checkPages(of: session, now: endOfTurn.now)
            }
        } catch {
            session.rates.refused()
            throw error
        }
    }

    /// Who sets a state of a stream channel's topics becomes a publisher (C-5).
    private func checkPublishes(_ call: ClientCall, _ session: Session) throws(RTMError) {
        guard call.channelType == .topics, call.kind == .setState else { return }
        if let reason = session.obstacleToTopics(of: call.target, now: wallClock) {
            throw RTMError(.channelJoinTopicFailed, reason)
        }
    }

    func presenceAnswered(_ context: Int, _ outcome: ServiceLinkResult<CallResponse>) {
        let call = pending.remove(context)
        switch outcome {
        case .success(let response):
            sharedRates.announcedStates(response.cost, of: call.session, now: endOfTurn.now)
            answer(call, response.response)
        case .failure(let failure): call.refuse(call.kind.error(failure), metrics)
        }
        answered(call)
    }

    func storageAnswered(
        _ context: Int, in shard: Int, _ outcome: ServiceLinkResult<StorageCallResponse>
    ) {
        let call = pending.remove(context)
        switch outcome {
        case .success(let response) where response.ticket != 0 && response.response.isEmpty:
            locks.wait(call, LockTicket(shard: shard, number: response.ticket))
        case .success(let response):
            locks.answered(call, refusal: nil)
            answer(call, response.response)
        case .failure(let failure):
            let error = call.kind.error(failure)
            locks.answered(call, refusal: error)
            call.refuse(error, metrics)
        }
        answered(call)
    }

    private func answer(_ call: ForwardedCall, _ response: WireText) {
        if call.kind.isQuery {
            sharedRates.answered(response.bytes.count, to: call.session, now: endOfTurn.now)
            call.share?.settle(response.bytes.count)
        }
        call.answer(response, metrics)
    }

    private func answered(_ call: ForwardedCall) {
        call.session.callQueue.answered(call.kind)
        passNext(of: call.session)
    }
}
