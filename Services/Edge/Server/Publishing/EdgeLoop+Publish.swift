import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// Publishing: admission here, a place in the log at messaging, then the acknowledgement; history only on
/// request, and before the acknowledgement, so that a message whose publisher has its answer can be found
/// (H-10).
extension EdgeLoop {
    /// What has to be remembered of a run of publishes until messaging answers.
    struct PendingPublish {
        let session: Session
        /// Of the first; the others follow it without a hole.
        let requestID: UInt64
        let count: Int
        /// Of the first, at its client's instance. 0: it can't be sent once more.
        let sequence: UInt64
        /// Only for a run of one.
        let history: HistoryCopy?
    }

    /// A link that was lost is back after some tenths of a second, unless messaging is away.
    private static let repeatAfter: Duration = .milliseconds(200)

    /// A message that is to be stored once it has its timestamp. A copy, because the frame that it came in is
    /// gone then.
    struct HistoryCopy {
        let channel: ChannelKey
        let type: MessageType
        let payload: ByteBuffer
        let customType: String
        /// By what storage knows it again, when the client sends it once more.
        let origin: PublishOrigin
    }

    func publish(_ session: Session, _ request: ClientRequest.Publish, _ requestID: UInt64) {
        do throws(RTMError) {
            let continues = run.continues(session, request, requestID)
            if !continues { sendRun() }
            let type = try check(session, request, continues)
            // Before the rates: what is sent again because of this has been paid for.
            try checkOrder(session, request, continues)
            if request.againAfter == nil || !session.rates.repeats() {
                try session.rates.publish(
                    type, request.channel, session.application.rates, now: endOfTurn.now)
            }
            if !continues { run.begin(session, requestID, type, request) }
            run.append(request.message)
            if request.storeInHistory {
                sendRun(history: HistoryCopy(request, session))
            } else if run.isFull {
                sendRun()
            }
        } catch {
            if error.isForNow { session.publishRefused(request.sequence, now: endOfTurn.now) }
            session.answer(requestID, error)
        }
    }

    /// The type of its channel, if it is as it has to be and the token allows it. What isn't has no place in
    /// a rate of its channel, and counts as a call.
    private func check(
        _ session: Session, _ request: ClientRequest.Publish, _ continues: Bool
    ) throws(RTMError) -> ChannelType {
        do throws(RTMError) {
            let type = continues ? run.type : try Self.checkChannel(of: request)
            if !continues { try session.checkMayWrite(type, request.channel) }
            try Self.check(request.message)
            return type
        } catch {
            try session.rates.call(session.application.rates, now: endOfTurn.now)
            throw error
        }
    }

    /// Whether it can go to the log now, and nothing that can't has to come before it.
    private func checkOrder(
        _ session: Session, _ request: ClientRequest.Publish, _ continues: Bool
    ) throws(RTMError) {
        guard continues || messaging.isUp else { throw .messagingUnreachable(.channelPublishMessageFailed) }
        let isInTurn = session.publishBarrier.admits(request.sequence, now: endOfTurn.now)
        guard !isInTurn else { return }
        throw RTMError(
            .channelPublishMessageFailed, "an earlier message could not be published yet",
            retryAfter: Self.repeatAfter)
    }

    /// Sends what has gathered: before anything that must not overtake it, and at the end of a read.
    func sendRun(history: HistoryCopy? = nil) {
        run.take { session, requestID, request in
            messaging.publish(
                request,
                context: PendingPublish(
                    session: session, requestID: requestID, count: request.messages.count,
                    sequence: request.origin.instance == 0 ? 0 : request.origin.sequence,
                    history: history))
        }
    }

    private static func checkChannel(of request: ClientRequest.Publish) throws(RTMError) -> ChannelType {
        switch request.channelType {
        case .message: try NameRule.channel.check(request.channel.bytes)
        case .user: try NameRule.user.check(request.channel.bytes)
        default:
            throw RTMError(.invalidChannelType, "messages are published to message and user channels")
        }
        return request.channelType ?? .none
    }

    private static func check(_ message: MessageView) throws(RTMError) {
        guard message.payload.bytes.count <= Limits.messageBytesMax else {
            throw RTMError(
                .channelMessageLengthExceedLimitation,
                "the message has \(message.payload.bytes.count) bytes, \(Limits.messageBytesMax) are allowed",
                limit: .init(name: "message bytes", value: UInt64(Limits.messageBytesMax)))
        }
        try NameRule.customType.check(message.customType.bytes)
        switch message.type {
        case .binary: break
        case .text where message.payload.isValidUTF8: break
        case .text: throw RTMError(.channelInvalidMessage, "a text message has to be valid UTF-8")
        case nil: throw RTMError(.channelUnsupportedMessageType, "a message is text or binary")
        }
    }

    func messagingPublished(
        _ pending: PendingPublish, _ outcome: Result<PublishResponse, ServiceLinkRequestFailure>
    ) {
        switch outcome {
        case .success(let response):
            metrics.publishSucceeded(pending.count)
            guard let history = pending.history else { return acknowledge(pending, response) }
            store(history, PendingHistory(publish: pending, published: response))
        case .failure(let failure):
            metrics.publishFailed(pending.count)
            var error = RTMError(
                failure, .channelPublishMessageFailed, timeout: .channelPublishMessageTimeout)
            if failure == .disconnected, pending.sequence != 0 { error.retryAfter = Self.repeatAfter }
            if error.isForNow { pending.session.publishRefused(pending.sequence, now: endOfTurn.now) }
            guard error.code == .channelReceiverOffline, let history = pending.history else {
                for place in 0..<UInt64(pending.count) {
                    pending.session.answer(pending.requestID &+ place, error)
                }
                return
            }
            store(history, PendingHistory(publish: pending, published: nil))
        }
    }

    private func acknowledge(_ pending: PendingPublish, _ response: PublishResponse) {
        let first = Published(
            offset: response.offset, timestampMilliseconds: response.timestampMilliseconds)
        pending.session.write {
            first.encodeFrames(answering: pending.requestID, count: pending.count, into: &$0)
        }
    }
}

// MARK: - History

extension EdgeLoop {
    struct PendingHistory {
        let publish: PendingPublish
        /// Nil when the receiver is offline: then storing is all that can be done for the message.
        let published: PublishResponse?
    }

    private func store(_ history: HistoryCopy, _ pending: PendingHistory) {
        history.payload.withUnsafeReadableBytes { payload in
            history.customType.withWireText { customType in
                let message = MessageView(
                    type: history.type, payload: WireText(payload), customType: customType)
                storage.appendHistory(
                    AppendHistoryRequest(
                        channel: history.channel, publisher: pending.publish.session.userID,
                        timestampMilliseconds: pending.published?.timestampMilliseconds ?? wallClock(),
                        message: message, origin: history.origin),
                    context: pending)
            }
        }
    }

    /// The four outcomes of M-27 and M-32. None of them takes the delivery back.
    func historyAppended(_ pending: PendingHistory, _ outcome: Result<Void, ServiceLinkRequestFailure>) {
        switch (outcome, pending.published) {
        case (.success, let published?):
            acknowledge(pending.publish, published)
        case (.success, nil):
            refuse(
                pending, .channelReceiverOfflineButMessageStoreSucceeded,
                "the receiver is offline; the message is stored")
        case (.failure(let failure), let published):
            let cause = RTMError(failure, .historyNotAvailable, timeout: .historyOperationTimeout).reason
            if published != nil {
                refuse(
                    pending, .channelMessageDeliveredButStoreFailed,
                    "the message was delivered, but not stored: \(cause)")
            } else {
                refuse(
                    pending, .channelReceiverOfflineAndMessageStoreFailed,
                    "the receiver is offline, and the message was not stored: \(cause)")
            }
        }
    }

    private func refuse(_ pending: PendingHistory, _ code: ErrorCode, _ reason: String) {
        pending.publish.session.answer(pending.publish.requestID, RTMError(code, reason))
    }
}

extension RTMError {
    /// A publish that is sent once more may succeed.
    fileprivate var isForNow: Bool { code == .channelPublishMessageFailed && retryAfter != nil }
}

extension Session {
    fileprivate func publishRefused(_ sequence: UInt64, now: NIODeadline) {
        if instance != 0, sequence != 0 { publishBarrier.refused(sequence, now: now) }
    }
}

extension EdgeLoop.HistoryCopy {
    fileprivate init(_ request: ClientRequest.Publish, _ session: Session) {
        channel = ChannelKey(
            appID: session.appID, type: request.channelType ?? .none, name: request.channel.string)
        self.type = request.message.type ?? .binary
        payload = ByteBuffer(bytes: request.message.payload.bytes)
        customType = request.message.customType.string
        origin = PublishOrigin(instance: session.instance, sequence: request.sequence)
    }
}
