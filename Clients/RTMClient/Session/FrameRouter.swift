import Logging
import RTMModel
import RTMProtocol

/// Gives each frame that a connection brings to the feature of the link that it belongs to.
///
/// A connection holds its router, and so the link, until it has ended.
final class FrameRouter: FrameReceiver {
    private let link: Link
    private let session: LinkSession

    init(_ link: Link) {
        self.link = link
        session = link.session
    }

    func opened(_ socket: ServerConnection) {
        guard isPresent(socket) else { return }
        link.opening.begin()
    }

    func receivedBytes(on socket: ServerConnection) {
        if isPresent(socket) { session.connection?.heartbeat?.receivedBytes(now: session.now) }
    }

    func closed(_ socket: ServerConnection, cause: String) {
        if isPresent(socket) {
            session.end(.connectionError(cause, socket.failure))
        } else {
            link.calls.closed(socket)
        }
    }

    func received(_ frame: Rtm_Client_ServerFrame, on socket: ServerConnection) {
        guard isPresent(socket) else {
            // When a connection has sent Logout, only its end matters.
            switch frame.body {
            case .loggedOut, .disconnect: link.calls.closed(socket)
            default: break
            }
            return
        }
        link.recorder.received(frame.body, bytes: socket.receivedBytes)
        switch frame.body {
        case .publication(let publication): received(publication)
        case .gap(let gap): received(gap)
        case .metadata(let snapshot) where frame.requestID == 0: link.metadata.received(snapshot)
        case .locks(let snapshot) where frame.requestID == 0: link.locks.received(snapshot)
        case .presenceSnapshot(let page): link.presence.received(page)
        case .disconnect(let disconnect): session.end(LinkLoss(disconnect))
        case .tokenWillExpire(let notice): link.opening.received(notice)
        case .channelEnded(let notice): link.streams.received(notice)
        case .welcome(let welcome): link.clock.serverClockShows(welcome.serverTimeMs)
        case .loggedIn(let answer) where isLogin(frame): link.opening.loggedIn(answer)
        case .error(let error) where isLogin(frame):
            // A code that this version doesn't know is retried, as are all that are not known to be fatal.
            session.end(.loginRefused(RTMError(error, unknownCode: .loginNoServerResources)))
        case .some(let body):
            if case .heartbeatAck = body {
                session.connection?.heartbeat?.answered(frame.requestID)
                link.standby?.answered(frame.requestID)
            }
            link.requests.answered(frame.requestID, body)
        case nil: session.logger.debug("ignored a frame of an unknown kind")
        }
    }

    /// A connection that the link has released has sent Logout, or is of no interest.
    private func isPresent(_ socket: ServerConnection) -> Bool { session.connection?.socket === socket }

    private func isLogin(_ frame: Rtm_Client_ServerFrame) -> Bool {
        frame.requestID == session.connection?.loginRequest
    }

    private func received(_ publication: Rtm_Client_Publication) {
        guard isNew(publication) else { return }
        switch publication.event {
        case .message(let message): link.messages.received(message, in: publication)
        case .storage(let event): link.metadata.received(event, in: publication)
        case .lock(let event): link.locks.received(event, in: publication)
        case .presence(let event): link.rosters.received(event, in: publication)
        case nil: break
        }
    }

    /// Every entry of a log moves the position on from which a reconnect continues, whatever it says.
    private func isNew(_ publication: Rtm_Client_Publication) -> Bool {
        switch ChannelType(publication.channelType) {
        case .user: link.messages.accepts(offset: publication.offset)
        case .none, .message, .stream, .topics, .topic:
            link.subscribed.table.accepts(
                ChannelID(publication.channelType, publication.channel), offset: publication.offset)
        }
    }

    private func received(_ gap: Rtm_Client_Gap) {
        let position = StreamPosition(gap.position)
        switch ChannelType(gap.channelType) {
        case .user: link.messages.inboxSkips(to: position)
        case .none: link.followedUsers.skip(gap.channel, to: position)
        case .message, .stream, .topics, .topic:
            link.subscriptions.skip(ChannelID(gap.channelType, gap.channel), to: position)
        }
    }
}
