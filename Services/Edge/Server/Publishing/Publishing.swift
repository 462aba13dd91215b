import NIOCore
import RTMAppConfiguration
import RTMMessagingClient
import RTMModel
import RTMPublishHook
import RTMServiceLink
import RTMWire

/// Publishing: admission here, the answer of the app's hook if it has one, an offset in the log at messaging,
/// then the acknowledgement. A message goes to history only on request, and before its acknowledgement, so
/// that a message whose publisher has his answer can be found (H-10).
final class Publishing {
    /// What has to be remembered of a run of publishes until messaging answers.
    struct PendingPublish {
        let session: Session
        /// The request id of the first publish; the others follow without a gap.
        let requestID: UInt64
        let count: Int
        /// The origin of the first publish.
        let origin: PublishOrigin
        /// What it counts for in the `PublishWindow`.
        let bytes: Int
        /// Only a run of one publish is stored.
        let history: HistoryCopy?
        /// When the run was sent to messaging.
        let sentAt: NIODeadline
    }

    private let messaging: MessagingClient
    private let history: HistoryAppends
    private let sessions: Sessions
    private let subscribing: Subscribing
    private let sharedRates: SharedRates
    private let metrics: EdgeMetrics
    private let refusals: RefusalLog
    private let endOfTurn: EndOfTurn
    private let wallClock: () -> UInt64
    private let run = PublishRun()
    private var window = PublishWindow()
    /// The runs that messaging has not answered yet.
    private var pending = RequestContexts<PendingPublish>()
    /// Whose run it is.
    private var publisher: Session?
    /// What is traced of the run: the work for the first of its publishes that is.
    private var traced: Tracer.Work?

    init(
        messaging: MessagingClient, history: HistoryAppends, sessions: Sessions,
        subscribing: Subscribing, sharedRates: SharedRates, metrics: EdgeMetrics, refusals: RefusalLog,
        endOfTurn: EndOfTurn,
        wallClock: @escaping () -> UInt64
    ) {
        self.messaging = messaging
        self.history = history
        self.sessions = sessions
        self.subscribing = subscribing
        self.sharedRates = sharedRates
        self.metrics = metrics
        self.refusals = refusals
        self.endOfTurn = endOfTurn
        self.wallClock = wallClock
    }

    /// Returns whether the message goes to messaging. Otherwise it was refused.
    func publish(_ session: Session, _ request: ClientRequest.Publish, _ requestID: UInt64) -> Bool {
        do throws(RTMError) {
            let continues = run.continues(session.id, request, requestID)
            if !continues { sendRun() }
            let type = try check(session, request, continues)
            // Before the rates: what is sent again because of this has been paid for.
            try checkOrder(session, request, continues)
            try pay(for: request, type, session)
            // Without a hook this is all that a run pays for hooks.
            if !continues, let gate = session.hook,
                try isHeld(request, requestID, type, of: session, by: gate)
            {
                return true
            }
            append(request, requestID, type, of: session, continues)
            return true
        } catch {
            refuse(request, requestID, of: session, error)
            return false
        }
    }

    private func append(
        _ request: ClientRequest.Publish, _ requestID: UInt64, _ type: ChannelType, of session: Session,
        _ continues: Bool
    ) {
        if !continues {
            publisher = session
            run.begin(session.caller, requestID, type, request)
        }
        run.append(request.message)
        if let tracer = endOfTurn.tracer, traced == nil { traced = tracer.hold() }
        if request.storeInHistory {
            sendRun(history: HistoryCopy(request, session))
        } else if run.isFull {
            sendRun()
        }
    }

    private func refuse(
        _ request: ClientRequest.Publish, _ requestID: UInt64, of session: Session, _ error: RTMError
    ) {
        if error.isForNow {
            let shard = withChannel(of: request, session) { messaging.shard(of: $0) }
            session.publishRefused(
                request.origin(of: session.caller), in: shard, error, now: endOfTurn.now)
        }
        refusals.refused(
            .publish, of: session, request.channelType, request.channel.string, error, now: endOfTurn.now)
        session.answer(requestID, error)
    }

    /// Sends what has gathered: before anything that must not overtake it, and at the end of a read.
    func sendRun(history: HistoryCopy? = nil) {
        guard let tracer = endOfTurn.tracer else { return takeRun(history) }
        let work = traced.take()
        // The run may be that of an earlier request than the present one.
        tracer.run(work) { takeRun(history) }
        if let work { tracer.release(work) }
    }

    private func takeRun(_ history: HistoryCopy?) {
        guard let session = publisher.take() else { return }
        run.take { requestID, request in
            let pending = PendingPublish(
                session: session, requestID: requestID, count: request.messages.count, origin: request.origin,
                bytes: PublishWindow.requestBytes + request.messages.byteCount, history: history,
                sentAt: endOfTurn.now)
            if window.sent(pending.bytes, by: session.key, &session.publishShare) {
                metrics.publisherHeld()
                session.connection?.pauseReading()
            }
            messaging.publish(request, context: self.pending.insert(pending))
        }
    }
}

// MARK: - The hook

extension Publishing {
    /// Whether the message is on hold now. Otherwise it continues as it is.
    private func isHeld(
        _ request: ClientRequest.Publish, _ requestID: UInt64, _ type: ChannelType, of session: Session,
        by gate: HeldPublishes.Gate
    ) throws(RTMError) -> Bool {
        // Only what is put on hold is copied.
        lazy var held = HeldPublish(request, requestID, type, of: session, now: endOfTurn.now)
        let verdict = try gate.arrived(
            held, held.question, by: session.id.rawValue,
            to: ChannelKey(appID: session.appID, type: type, name: request.channel.string),
            bytes: PublishWindow.requestBytes + request.message.payload.bytes.count)
        guard let verdict else { return true }
        // Nobody was asked, so there is no other content.
        _ = try verdict.content(isAgain: request.origin(of: session.caller).againAfter != nil)
        return false
    }

    /// Messages have their verdicts, and continue in this order.
    func proceed(_ decided: [HeldPublishes.Gate.Decided]) {
        for (held, verdict) in decided {
            let content = Result { () throws(RTMError) in try verdict.content(isAgain: held.isAgain) }
            held.withRequest((try? content.get()) ?? nil, now: endOfTurn.now) { request in
                proceed(held, request, content)
            }
        }
        sendRun()
    }

    private func proceed(
        _ held: HeldPublish, _ request: ClientRequest.Publish,
        _ content: Result<PublishHookMessage?, RTMError>
    ) {
        let session = held.session
        let continues = run.continues(session.id, request, held.requestID)
        if !continues { sendRun() }
        do throws(RTMError) {
            _ = try content.get()
            // What came before it may have been refused for the moment since it arrived.
            try checkOrder(session, request, continues)
            append(request, held.requestID, held.type, of: session, continues)
        } catch {
            refuse(request, held.requestID, of: session, error)
        }
    }
}

// MARK: - Rates

extension Publishing {
    /// Takes the message from the rates that it has to keep to, or throws the one that it exceeds, and takes
    /// nothing.
    private func pay(
        for request: ClientRequest.Publish, _ type: ChannelType, _ session: Session
    ) throws(RTMError) {
        let bytes = request.message.payload.bytes.count
        let rates = session.application.rates
        let now = endOfTurn.now
        if let shortage = session.rates.publishBudget.shortage(bytes, rates.sessionPublish, now: now)
            ?? session.appPublishes.shortage(bytes, now: now)
        {
            throw refusal(shortage, of: request, session)
        }
        let isFree = request.againAfter != nil && sharedRates.passesAgain(session, now: now)
        if !isFree,
            let shortage = session.rates.publish(type, request.channel, rates, now: now)
        {
            throw refusal(shortage, of: request, session)
        }
        session.rates.publishBudget.spend(bytes)
        session.appPublishes.spend(bytes)
    }

    /// What is sent again may be in the log already, and must not be called unpublished. Its client sends it
    /// once more.
    private func refusal(
        _ shortage: PublishShortage, of request: ClientRequest.Publish, _ session: Session
    ) -> RTMError {
        metrics.publishExceeded(shortage.limit)
        session.rates.refused()
        var error = shortage.error
        if request.againAfter != nil { error.code = .channelPublishMessageFailed }
        return error
    }
}

// MARK: - Before a publish

extension Publishing {
    /// What the session's next message to a channel or user would be refused with; nil if it would go to
    /// messaging. Asks what a publish is asked, but for the message itself, and takes nothing from a rate.
    func obstacle(of session: Session, to channel: ChannelKey) -> RTMError? {
        do throws(RTMError) {
            try channel.name.withWireText { name in
                Result { () throws(RTMError) in try check(session, channel, name) }
            }.get()
            return nil
        } catch {
            return error
        }
    }

    private func check(
        _ session: Session, _ channel: ChannelKey, _ name: WireText
    ) throws(RTMError) {
        switch channel.type {
        case .message: try NameRule.channel.check(name.bytes)
        case .user: try NameRule.user.check(name.bytes)
        default: throw RTMError(.invalidChannelType, "messages are published to channels and users")
        }
        try session.checkMayWrite(channel.type, name)
        if let outage = messaging.outage(of: channel) {
            throw .messagingUnreachable(.channelPublishMessageFailed, for: outage)
        }
        let now = endOfTurn.now
        let limits = session.application.rates
        // A copy, of which a message may be taken.
        var rates = session.rates
        let shortage =
            rates.publishBudget.shortage(1, limits.sessionPublish, now: now)
            ?? session.appPublishes.expectedShortage(1, now: now)
            ?? rates.publish(channel.type, name, limits, now: now)
        if let shortage { throw shortage.error }
    }
}

// MARK: - Checks

extension Publishing {
    /// The type of the message's channel, if the message is as it has to be and the token allows it. What
    /// isn't is in no rate of its channel, and counts as a call.
    private func check(
        _ session: Session, _ request: ClientRequest.Publish, _ continues: Bool
    ) throws(RTMError) -> ChannelType {
        do throws(RTMError) {
            let type = continues ? run.type : try checkChannel(of: request, session)
            try Self.check(request.message, to: type)
            return type
        } catch {
            try session.rates.call(session.application.rates, now: endOfTurn.now)
            throw error
        }
    }

    /// Whether the message can go to the log now, and nothing that can't has to come before it.
    private func checkOrder(
        _ session: Session, _ request: ClientRequest.Publish, _ continues: Bool
    ) throws(RTMError) {
        if !continues,
            let outage = withChannel(of: request, session, { messaging.outage(of: $0) })
        {
            throw .messagingUnreachable(.channelPublishMessageFailed, for: outage)
        }
        // What another origin counts isn't among the session's own.
        guard !session.publishBarriers.isEmpty, request.origin == 0 else { return }
        let shard = withChannel(of: request, session) { messaging.shard(of: $0) }
        guard
            let wait = session.publishBarriers.wait(of: request.sequence, in: shard, now: endOfTurn.now)
        else { return }
        throw RTMError(
            .channelPublishMessageFailed, "an earlier message could not be published yet",
            retryAfter: .nanoseconds(wait.nanoseconds))
    }

    private func withChannel<Result>(
        of request: ClientRequest.Publish, _ session: Session, _ body: (ChannelView) -> Result
    ) -> Result {
        session.appID.withWireText { appID in
            body(ChannelView(appID: appID, type: request.channelType ?? .none, name: request.channel))
        }
    }

    private func checkChannel(
        of request: ClientRequest.Publish, _ session: Session
    ) throws(RTMError) -> ChannelType {
        var name = request.channel
        switch request.channelType {
        case .message: try NameRule.channel.check(name.bytes)
        case .user: try NameRule.user.check(name.bytes)
        case .topic: name = WireText(try checkTopic(of: request, session))
        default:
            throw RTMError(.invalidChannelType, "messages are published to channels, users and topics")
        }
        let type = request.channelType ?? .none
        try session.checkMayWrite(type, name)
        return type
    }

    /// Only the publishers of a stream channel reach its topics (C-7). Which of them publishes which topic,
    /// presence announces, and subscribers choose by that.
    ///
    /// - Returns: the name of the stream channel.
    private func checkTopic(
        of request: ClientRequest.Publish, _ session: Session
    ) throws(RTMError) -> UnsafeRawBufferPointer {
        let channel = try NameRule.checkTopicName(request.channel.bytes)
        let topics = session.channel(WireText(channel).string, .topics)
        guard subscribing.features(of: session.key, in: topics)?.contains(.quiet) == false else {
            throw RTMError(.channelTopicNotJoined, "topic \"\(request.channel.string)\" is not joined")
        }
        if let reason = session.obstacleToTopics(of: WireText(channel), now: wallClock) {
            throw RTMError(.channelPublishPermissionDenied, reason)
        }
        guard !request.storeInHistory else {
            throw RTMError(.invalidChannelType, "messages of topics are not stored")
        }
        return channel
    }

    private static func check(_ message: MessageView, to type: ChannelType) throws(RTMError) {
        let bytesMax = type == .topic ? Limits.topicMessageBytesMax : Limits.messageBytesMax
        guard message.payload.bytes.count <= bytesMax else {
            throw RTMError(
                .channelMessageLengthExceedLimitation,
                "the message has \(message.payload.bytes.count) bytes, \(bytesMax) are allowed",
                limit: .init(name: "message bytes", value: UInt64(bytesMax)))
        }
        try NameRule.customType.check(message.customType.bytes)
        switch message.type {
        case .binary: break
        case .text where message.payload.isValidUTF8: break
        case .text: throw RTMError(.channelInvalidMessage, "a text message has to be valid UTF-8")
        case nil: throw RTMError(.channelUnsupportedMessageType, "a message is text or binary")
        }
    }
}

// MARK: - Answers

extension Publishing {
    /// - Parameter shard: in which the channel is.
    func published(
        _ context: Int, in shard: Int, _ outcome: ServiceLinkResult<PublishResponse>
    ) {
        let pending = pending.remove(context)
        metrics.publishAnswered(after: .nanoseconds((endOfTurn.now - pending.sentAt).nanoseconds))
        switch outcome {
        case .success(let response):
            metrics.publishSucceeded(pending.count)
            pending.session.appMetrics?.published(pending.count)
            if let copy = pending.history {
                return history.store(copy, PendingHistory(publish: pending, published: response))
            }
            pending.acknowledge(response)
        case .failure(let failure):
            metrics.publishFailed(pending.count)
            let error = error(of: pending, failure)
            guard error.code == .channelReceiverOffline else {
                refuse(pending, in: shard, error)
                break
            }
            if let copy = pending.history {
                return history.store(copy, PendingHistory(publish: pending, published: nil))
            }
            refuse(pending, in: shard, pending.origin.againAfter != nil ? Self.mayStillArrive : error)
        }
        settled(pending)
    }

    /// The first copy of a message that was sent again may wait on a link that stalls, and reach the inbox
    /// when the receiver is back. So it isn't refused for good.
    private static let mayStillArrive = RTMError(
        .channelPublishMessageFailed,
        "the receiver is not online, and the first copy of the message may still be on its way")

    /// No service has to do anything about it any more.
    func settled(_ pending: PendingPublish) {
        let session = pending.session
        let candidates = window.answered(pending.bytes, of: session.key, &session.publishShare)
        for key in candidates {
            guard let session = sessions[key], window.release(key, &session.publishShare) else { continue }
            session.connection?.resumeReading()
        }
    }

    func ended(_ session: Session) {
        window.ended(session.key)
        session.hook?.ended(session.id.rawValue)
    }

    private func error(of pending: PendingPublish, _ failure: ServiceLinkRequestFailure) -> RTMError {
        var error = RTMError(failure, .channelPublishMessageFailed, timeout: .channelPublishMessageTimeout)
        // Whether it was done is known once it is sent again.
        if failure.isOfLink, pending.origin.isRepeatable { error.retryAfter = MessagingOutage.shortestPause }
        return error
    }

    private func refuse(_ pending: PendingPublish, in shard: Int, _ error: RTMError) {
        refusals.refused(.publish, of: pending.session, nil, nil, error, now: endOfTurn.now)
        pending.session.publishRefused(pending.origin, in: shard, error, now: endOfTurn.now)
        for index in 0..<UInt64(pending.count) {
            pending.session.answer(pending.requestID &+ index, error)
        }
    }
}

extension Publishing.PendingPublish {
    func acknowledge(_ response: PublishResponse) {
        session.acknowledge {
            Published.encodeFrames(of: response, answering: requestID, count: count, into: &$0)
        }
    }
}

extension RTMError {
    /// A publish that is sent once more may succeed.
    fileprivate var isForNow: Bool { code == .channelPublishMessageFailed && retryAfter != nil }
}

extension Session {
    fileprivate func publishRefused(
        _ origin: PublishOrigin, in shard: Int, _ error: RTMError, now: NIODeadline
    ) {
        guard origin.isRepeatable, origin.instance == instance, error.isForNow, let pause = error.retryAfter
        else { return }
        publishBarriers.refused(origin.sequence, in: shard, pause: TimeAmount(pause), now: now)
    }
}

extension PublishOrigin {
    /// Whether the client can send it once more.
    fileprivate var isRepeatable: Bool { instance != 0 && sequence != 0 }
}
