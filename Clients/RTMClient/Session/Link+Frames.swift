import Foundation
import Logging
import NIOCore
import RTMModel
import RTMProtocol

// What the connection brings: the session's start and end, and what the server sends of its own accord.
extension Link: FrameReceiver {
    static let protocolVersion: UInt32 = 1
    static let clientName = "RTMClient (Swift)"

    /// Hello and Login leave in one write, so that a login costs one round trip.
    func opened(_ handler: ServerConnection) {
        guard connection?.handler === handler else { return }
        send(requestIDs.next()) { $0.hello = .current }
        let id = requestIDs.next()
        connection?.loginRequest = id
        send(id) { $0.login = self.loginRequest(token: machine.token) }
    }

    func heard(_ handler: ServerConnection) {
        guard connection?.handler === handler else { return }
        connection?.heartbeat?.heard(now: now)
    }

    func closed(_ handler: ServerConnection, cause: String) {
        if connection?.handler === handler {
            end(.connectionError(cause))
        } else {
            goodbyeSaid(handler)
        }
    }

    func received(_ frame: Rtm_Client_ServerFrame, on handler: ServerConnection) {
        guard connection?.handler === handler else {
            // Of a connection that says goodbye only its end matters.
            switch frame.body {
            case .loggedOut, .disconnect: goodbyeSaid(handler)
            default: break
            }
            return
        }
        switch frame.body {
        case .publication(let publication): received(publication)
        case .gap(let gap): received(gap)
        case .metadata(let metadata) where frame.requestID == 0: received(snapshot: metadata)
        case .locks(let locks) where frame.requestID == 0: received(snapshot: locks)
        case .presenceSnapshot(let snapshot): received(snapshot: snapshot)
        case .disconnect(let disconnect): received(disconnect)
        case .tokenWillExpire(let notice): received(notice)
        case .welcome(let welcome): serverTimeKnown(welcome.serverTimeMs)
        case .loggedIn(let answer) where frame.requestID == connection?.loginRequest: loggedIn(answer)
        case .error(let error) where frame.requestID == connection?.loginRequest:
            // A code that this version doesn't know retries, as all do that are not known to be fatal.
            end(.loginRefused(RTMError(error, unknownCode: .loginNoServerResources)))
        case .some(let body): answered(frame.requestID, body)
        case nil:
            // A kind of frame that a newer server knows.
            logger.debug("ignored an unknown frame")
        }
    }

    // MARK: Session

    private func loggedIn(_ answer: Rtm_Client_LoggedIn) {
        guard let attempt = connection?.attempt, connection?.heartbeat == nil else { return }
        serverTimeKnown(answer.serverTimeMs)
        machine.loginAccepted(attempt: attempt, now: now)
        let seconds =
            answer.heartbeatIntervalS > 0 ? answer.heartbeatIntervalS : configuration.heartbeatSeconds
        connection?.heartbeat = HeartbeatSchedule(
            interval: configuration.timing.heartbeatInterval ?? .seconds(seconds),
            answerWithin: configuration.timing.heartbeatAnswer, now: now)
        let gap = inbox.loggedIn(
            configuration.userID, position: StreamPosition(answer.inboxPosition), hasGap: answer.inboxGap)
        if let gap {
            hub.emit(.gap(gap))
            connection?.hasInboxGap = true
        }
        publishAgain()
        restore()
        armTimer()
    }

    /// S-19. Locks come first: what became of them is told before what the channels say (K-12).
    private func restore() {
        restoreLocks()
        restoreSubscriptions()
        restoreUserMetadata()
        finishRestoringIfDone()
    }

    /// Each channel continues after the last position that this client saw.
    private func restoreSubscriptions() {
        let restorations = subscriptions.restorations
        connection?.restoring += restorations.count
        for restoration in restorations {
            let id = requestIDs.next()
            requests.add(id, .restore(restoration), deadline: now + configuration.requestTimeout)
            send(id) {
                $0.subscribe.channel = restoration.channel
                $0.subscribe.features = restoration.features.rawValue
                if let after = restoration.after { $0.subscribe.after = Rtm_Client_StreamPosition(after) }
            }
        }
    }

    func finishRestoringIfDone() {
        guard let connection, connection.restoring == 0 else { return }
        perform(
            machine.restored(
                attempt: connection.attempt, unrestoredChannels: connection.unrestored.sorted(),
                isIncomplete: connection.hasInboxGap || !connection.unrestoredUsers.isEmpty, now: now))
        returned()
    }

    /// S-50.
    private func received(_ notice: Rtm_Client_TokenWillExpire) {
        guard machine.announceTokenExpiry() else { return }
        hub.emit(.tokenWillExpire(TokenWillExpireEvent(remaining: .milliseconds(notice.remainingMs))))
    }

    private func received(_ disconnect: Rtm_Client_Disconnect) {
        end(
            .disconnected(
                code: disconnect.code.rawValue, reason: disconnect.reason,
                retryAfter: disconnect.retryAfterMs > 0 ? .milliseconds(disconnect.retryAfterMs) : nil))
    }

    // MARK: Channels

    private func received(_ publication: Rtm_Client_Publication) {
        guard isNew(publication) else { return }
        switch publication.event {
        case .message(let message): received(message, in: publication)
        case .storage(let event): received(event, in: publication)
        case .lock(let event): received(event, in: publication)
        case .presence(let event): received(event, in: publication)
        case nil: break
        }
    }

    /// Every entry of a log moves the position on from which a reconnect continues, whatever it says.
    private func isNew(_ publication: Rtm_Client_Publication) -> Bool {
        switch ChannelType(publication.channelType) {
        case .user: inbox.accepts(offset: publication.offset)
        case .none: userMetadata.accepts(publication.channel, offset: publication.offset)
        case .message, .stream: subscriptions.accepts(publication.channel, offset: publication.offset)
        }
    }

    private func received(_ message: Rtm_Client_Message, in publication: Rtm_Client_Publication) {
        let type = ChannelType(publication.channelType)
        let event = MessageEvent(
            channelType: type, channelName: publication.channel,
            payload: MessagePayload(message.type, message.payload), publisher: publication.publisher,
            customType: message.customType, timestampMilliseconds: publication.timestampMs,
            offset: publication.offset)
        emit(.message(event), of: publication.channel, type)
    }

    private func received(_ gap: Rtm_Client_Gap) {
        let position = StreamPosition(gap.position)
        switch ChannelType(gap.channelType) {
        case .user:
            hub.emit(.gap(inbox.lost(configuration.userID, until: position)))
        case .none:
            if userMetadata.skip(gap.channel, to: position) != nil {
                perform(Refresh(.metadata, of: .user(gap.channel)))
            }
        case .message, .stream:
            guard let event = subscriptions.skip(gap.channel, to: position) else { return }
            emit(.gap(event), of: gap.channel, .message)
            rosters[gap.channel]?.follow(epoch: position.epoch)
            refresh(gap.channel)
        }
    }
}

extension MessagePayload {
    init(_ type: Rtm_Client_MessageType, _ payload: Data) {
        self = type == .text ? .text(String(decoding: payload, as: UTF8.self)) : .data(payload)
    }
}

extension Rtm_Client_Hello {
    static var current: Rtm_Client_Hello {
        var hello = Rtm_Client_Hello()
        hello.versionMin = Link.protocolVersion
        hello.versionMax = Link.protocolVersion
        hello.client = Link.clientName
        return hello
    }
}
