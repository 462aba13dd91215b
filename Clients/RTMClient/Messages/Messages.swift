// Messages: what the app publishes, and what it receives in channels and in its own inbox.

import RTMModel
import RTMProtocol

final class Messages {
    private unowned let link: Link
    private(set) var inbox = InboxPosition()
    private var publishes = PublishQueue()
    private var pacer: PublishPacer

    init(_ link: Link) {
        self.link = link
        pacer = PublishPacer(link.configuration.pacing)
    }

    // MARK: Publishing

    func publish(_ plain: OutgoingMessage, _ caller: some PublishCaller) {
        if link.state == .connected, link.connection?.socket.isBacklogged == true {
            return caller.unsent(.backlogged)
        }
        if let obstacle = link.requests.obstacle(to: .publish) { return caller.unsent(obstacle) }
        // A publish that is sent again is the same ciphertext again: nothing else has its nonce.
        let message: OutgoingMessage
        do {
            message = try link.encryption?.seal(plain) ?? plain
        } catch {
            return caller.unsent(error)
        }
        let deadline = link.now + link.configuration.requestTimeout
        let verdict = pacer.admit(caller.id, message, now: link.now, deadline: deadline)
        if case .refused(let wait) = verdict { return caller.unsent(.tooManyWait(wait)) }
        link.requests.add(PublishCall(messages: self, caller: caller), id: caller.id)
        if case .at(let time) = verdict {
            link.retry(.pacedPublishes, after: max(time - link.now, .zero))
        } else {
            begin(caller.id, message)
        }
    }

    /// Sends a publish for the first time, unless others have to be sent again before it.
    private func begin(_ id: UInt64, _ message: OutgoingMessage) {
        let publish = publishes.add(
            id, message.request, again: message.number?.again, inboxEpoch: inbox.seen?.epoch ?? 0,
            now: link.now)
        if let publish { send((id, publish)) }
    }

    /// Sends what has waited for its turn below the server's rates.
    func sendPaced() {
        for due in pacer.takeDue(now: link.now) { begin(due.id, due.message) }
        if let next = pacer.nextDue { link.retry(.pacedPublishes, after: next - link.now) }
    }

    /// The server has named its rates. What waited on an earlier connection goes on waiting.
    func pace(_ rates: Rtm_Client_PublishRates?) {
        pacer.begin(link.configuration.pacesPublishes ? rates : nil, now: link.now)
        sendPaced()
    }

    /// The publish has its answer. If it was the last that others waited for, those are sent.
    func ended(_ id: UInt64) {
        publishes.remove(id)
        sendHeld()
    }

    /// Nobody waits for the publish any more.
    ///
    /// - Returns: what the app learns: when the time is over, the server's last answer says more than that.
    func givenUp(_ id: UInt64, _ error: RTMError) -> RTMError {
        guard var refusal = publishes.remove(id), error.code == Operation.publish.codes.timedOut else {
            return error
        }
        refusal.reason +=
            ", for \(link.configuration.requestTimeout); whether the message was published is unknown"
        // Only what had no effect may be done again.
        refusal.retryAfter = nil
        return refusal
    }

    func lost(_ id: UInt64) { publishes.remove(id) }

    /// A publish ends without an answer.
    ///
    /// - Returns: what the app learns if it had never left.
    func takeUnsent(_ id: UInt64, _ error: RTMError) -> RTMError? {
        if pacer.remove(id) {
            return error.code == Operation.publish.codes.timedOut ? .tooManyWait(.zero) : error
        }
        return publishes.removeUnsent(id) ? error : nil
    }

    func sendHeld() {
        for sending in publishes.takeHeld(now: link.now) { send(sending) }
    }

    private func send(_ sending: PublishQueue.Sending) {
        link.requests.send(sending.id) { $0.publish = sending.publish }
    }

    // MARK: Publishing again

    /// The server could not reach its messaging service, or lost it before the answer, and said when that may
    /// be over. Until then the publish waits, and its time runs on.
    func putOff(_ id: UInt64, _ refusal: RTMError, for pause: Duration) {
        publishes.refused(id, refusal)
        link.retry(.publishes, after: pause)
    }

    func sendRefusedAgain() {
        for sending in publishes.takeRefused(now: link.now) { send(sending) }
    }

    /// The server publishes only what it hasn't published before, and answers the rest as it did the first
    /// time.
    func sendLostAgain() {
        let (again, tooOld) = publishes.takeLost(
            now: link.now, ageMax: link.configuration.timing.resumeWindow)
        for id in tooOld {
            link.requests.refuse(
                id,
                RTMError(
                    .channelPublishMessageTimeout,
                    "the connection was away for too long to ask; whether the message was published is "
                        + "unknown"))
        }
        for sending in again { send(sending) }
    }

    /// - Returns: the requests that are sent again on the next connection.
    func connectionLost() -> Set<UInt64> {
        publishes.connectionLost(keptMax: Limits.repeatedPublishesMax).union(pacer.waitingIDs)
    }

    // MARK: Receiving

    func received(_ message: Rtm_Client_Message, in publication: Rtm_Client_Publication) {
        let type = ChannelType(publication.channelType)
        // A message of one's own that was still on its way when the connection was lost can arrive behind the
        // return. It is no news (M-21); only the own inbox shows what one has sent (M-33).
        guard type == .user || publication.publisher != link.configuration.userID else { return }
        let event = MessageEvent(
            channelType: type, channelName: publication.channel,
            payload: MessagePayload(message.type, message.payload), publisher: publication.publisher,
            customType: message.customType, timestampMilliseconds: publication.timestampMs,
            offset: publication.offset)
        guard let encryption = link.encryption else { return show(event) }
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
        link.events.emit(.message(event), of: event.channelName, event.channelType)
    }

    /// Whether an entry of the inbox is new.
    func accepts(offset: UInt64) -> Bool { inbox.accepts(offset: offset) }

    /// - Returns: false if messages to this user were lost.
    func loggedIn(inbox position: StreamPosition, hasGap: Bool) -> Bool {
        let gap = inbox.loggedIn(link.configuration.userID, position: position, hasGap: hasGap)
        if let gap { link.events.emit(.gap(gap)) }
        return gap == nil
    }

    /// The server says that what lay before this position of the inbox is lost.
    func inboxSkips(to position: StreamPosition) {
        let gap = inbox.lost(link.configuration.userID, until: position, wasConnected: true)
        if let gap { link.events.emit(.gap(gap)) }
    }

    /// The connection on which the user was logged in has ended with all that was sent to it.
    func connectionEndedInOrder() { inbox.endedInOrder() }

    func forgetInbox() { inbox.forget() }
}
