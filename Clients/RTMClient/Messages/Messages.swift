// Messages: what the app publishes, and what it receives in channels and in its own inbox.

import RTMModel
import RTMProtocol

final class Messages {
    private let session: LinkSession
    private let requests: Requests
    private let events: EventOutlet
    private let encryption: Encryption?
    private(set) var inbox = InboxPosition()
    private var publishes: PublishQueue
    private var named = NamedPublishes()

    init(session: LinkSession, requests: Requests, events: EventOutlet, encryption: Encryption?) {
        self.session = session
        self.requests = requests
        self.events = events
        self.encryption = encryption
        publishes = PublishQueue(session.configuration.pacing)
    }

    private var inboxEpoch: UInt64 { inbox.seen?.epoch ?? 0 }

    // MARK: Publishing

    func publish(_ plain: OutgoingMessage, _ caller: some PublishCaller) {
        if session.state == .connected, session.connection?.socket.isBacklogged == true {
            return caller.unsent(.backlogged)
        }
        if let obstacle = requests.obstacle(to: .publish) { return caller.unsent(obstacle) }
        // A publish that is sent again is the same ciphertext again: nothing else has its nonce.
        var message: OutgoingMessage
        do {
            message = try encryption?.seal(plain) ?? plain
        } catch {
            return caller.unsent(error)
        }
        let now = session.now
        if let id = plain.id {
            message.number = named.begin(
                id, to: message.destination, call: caller.id, epoch: inboxEpoch, now: now)
        }
        let admission = publishes.add(
            caller.id, to: message.destination, message.request, again: message.number?.again,
            inboxEpoch: inboxEpoch, now: now, deadline: now + session.configuration.requestTimeout)
        if case .refused(let wait) = admission {
            named.ended(caller.id, isNotDone: true)
            return caller.unsent(.tooManyWait(wait))
        }
        requests.add(PublishCall(messages: self, caller: caller), id: caller.id)
        switch admission {
        case .send(let publish): send((caller.id, publish))
        case .paced(let time): session.retry(.pacedPublishes, after: max(time - now, .zero))
        case .held, .refused: break
        }
    }

    /// Sends the publishes whose time has come below the server's rates.
    func sendPaced() {
        let now = session.now
        for sending in publishes.takeDue(now: now, inboxEpoch: inboxEpoch) { send(sending) }
        if let next = publishes.nextDue { session.retry(.pacedPublishes, after: next - now) }
    }

    /// The server has named its rates. What was paced on an earlier connection is paced anew.
    func pace(_ rates: Rtm_Client_PublishRates?) {
        publishes.pace(session.configuration.pacesPublishes ? rates : nil, now: session.now)
        sendPaced()
    }

    /// The publish has its answer. If it was the last that others waited for, those are sent.
    ///
    /// - Parameter isNotDone: whether it is certain that it isn't published.
    func ended(_ id: UInt64, isNotDone: Bool = false) {
        named.ended(id, isNotDone: isNotDone)
        publishes.remove(id)
        sendHeld()
    }

    /// The caller of a publish that was sent doesn't wait any longer.
    ///
    /// - Returns: the error for the app: when the time is over, the server's last answer says more than that.
    func givenUp(_ id: UInt64, _ error: RTMError) -> RTMError {
        named.ended(id)
        guard var refusal = publishes.remove(id), error.code == Operation.publish.codes.timedOut else {
            return error
        }
        refusal.reason +=
            ", for \(session.configuration.requestTimeout); whether the message was published is unknown"
        // Only what had no effect may be done again.
        refusal.retryAfter = nil
        return refusal
    }

    func lost(_ id: UInt64) {
        named.ended(id)
        publishes.remove(id)
    }

    /// A publish ends without an answer.
    ///
    /// - Returns: the error for the app if the publish was never sent.
    func takeUnsent(_ id: UInt64, _ error: RTMError) -> RTMError? {
        guard let unsent = publishes.removeUnsent(id) else { return nil }
        named.ended(id, isNotDone: true)
        if unsent == .paced, error.code == Operation.publish.codes.timedOut { return .tooManyWait(.zero) }
        var error = error
        error.outcome = .notDone
        return error
    }

    func sendHeld() {
        for sending in publishes.takeHeld(now: session.now) { send(sending) }
    }

    private func send(_ sending: PublishQueue.Sending) {
        requests.sendFrame(sending.id) { $0.publish = sending.publish }
    }

    // MARK: Publishing again

    /// The server could not reach its messaging service, or lost it before the answer, and said when that may
    /// be over. Until then the publish waits, and its time runs on.
    func postpone(_ id: UInt64, _ refusal: RTMError, for pause: Duration) {
        publishes.postpone(id, refusal)
        session.retry(.publishes, after: pause)
    }

    func resendPostponed() {
        for sending in publishes.takePostponed(now: session.now) { send(sending) }
    }

    /// The server publishes only what it hasn't published before, and answers the rest as it did the first
    /// time.
    func resendLost() {
        let (again, tooOld) = publishes.takeLost(
            now: session.now, ageMax: session.configuration.timing.resumeWindow)
        for id in tooOld {
            requests.refuse(
                id,
                RTMError(
                    .channelPublishMessageTimeout,
                    "the connection was lost for too long to ask the server again; whether the message was "
                        + "published is unknown"))
        }
        for sending in again { send(sending) }
    }

    /// - Returns: the requests that are sent again on the next connection.
    func connectionLost() -> Set<UInt64> {
        publishes.connectionLost(keptMax: Limits.repeatedPublishesMax)
    }

    // MARK: Receiving

    func received(_ message: Rtm_Client_Message, in publication: Rtm_Client_Publication) {
        let type = ChannelType(publication.channelType)
        // An own message that was still on its way when the connection was lost can arrive after the return.
        // It isn't shown (M-21); only the own inbox shows what this user has sent (M-33).
        guard type == .user || publication.publisher != session.userID else { return }
        var event = MessageEvent(
            channelType: type, channelName: publication.channel,
            payload: MessagePayload(message.type, message.payload), publisher: publication.publisher,
            customType: message.customType, timestampMilliseconds: publication.timestampMs,
            offset: publication.offset)
        event.order = publication.order
        guard let encryption else { return show(event) }
        if let opened = encryption.open(event) { show(opened) }
    }

    /// A topic's log has a name of its own, and the app knows the topic by its stream channel.
    private func show(_ event: MessageEvent) {
        var event = event
        if event.channelType == .topic, let topic = TopicName(event.channelName) {
            event.channelType = .stream
            event.channelName = topic.channel
            event.topic = topic.topic
        }
        events.emit(
            .message(event), of: ChannelID(type: event.channelType, name: event.channelName))
    }

    /// Whether an entry of the inbox is new.
    func accepts(offset: UInt64) -> Bool { inbox.accepts(offset: offset) }

    /// - Returns: false if messages to this user were lost.
    func loggedIn(inbox position: StreamPosition, hasGap: Bool) -> Bool {
        let gap = inbox.loggedIn(session.userID, position: position, hasGap: hasGap)
        if let gap { events.emit(.gap(gap)) }
        return gap == nil
    }

    /// The server says that what was before this position of the inbox is lost.
    func inboxSkips(to position: StreamPosition) {
        events.emit(.gap(inbox.lost(session.userID, until: position)))
        session.connection?.restoration.hasInboxGap = true
    }

    func forgetInbox() { inbox.forget() }
}
