import Logging
import NIOCore
import NIOTLS
import RTMEdgeWebSocket
import RTMModel
import RTMServiceLink
import RTMWire

/// One connection of a client: bytes come in, frames go out. It is the last handler of its pipeline; below it
/// are the socket, and TLS, WebSocket or both.
///
/// Frames are read where they arrived. What goes out is gathered and written once per turn of the event loop,
/// however many entries are due. The bytes go straight to the socket, and what the socket doesn't take at
/// once goes through NIO (docs/decisions/0008). A client that reads too slowly holds memory up to
/// `outboundBytesMax`. Then it is cut off with the reason; others never wait for it.
final class ConnectionHandler: ChannelDuplexHandler, ClosingConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Limit: the next snapshot, page of a catch-up or answer to a query is given only to a client that keeps
    /// up, and while no more bytes than this have gathered for it in a turn.
    static let writableBytesMax = 256 * 1024

    // What a delivery needs comes first and side by side: with many connections, memory is what costs.
    let loop: EdgeLoop
    var outbound = OutboundQueue()
    var scheduledWrite = ScheduledWrite.none
    /// The socket has not taken everything that was to be written.
    var isLagging = false
    /// More has come than may wait for the client, which is about to be cut off.
    var isOverfull = false
    let isOnSocket: Bool
    /// Writes through NIO that the socket has not taken yet.
    var writes: UInt32 = 0
    /// How much memory of theirs no other connection has.
    var handedBytes = 0
    /// What the loop counts for this connection.
    var chargedBytes = 0
    var machine = ConnectionStateMachine()
    /// Nil if TLS or WebSocket lies between the handler and the socket, and once the connection has ended.
    var socket: DirectSocket?
    var context: ChannelHandlerContext?
    var session: Session?
    /// Whether frames reach the client: a handshake of TLS or WebSocket is over.
    private(set) var isReachable: Bool
    /// The number of the client's name among the loop's `clientNames`.
    private var client: UInt8 = 0
    /// When the login was accepted, in seconds since 1970; 0 before that.
    private var loggedInAt: UInt32 = 0
    var deadline: ConnectionDeadline
    let reader: ConnectionReader
    private var abuseBudget = AbuseBudget()
    var wheelSlot = DeadlineWheelSlot()
    /// Nil once it is released.
    var slot: ConnectionSlot?

    /// The client's time to log in begins here, which may be before the handler has a pipeline.
    ///
    /// - Parameter socket: nil if something lies between the handler and the socket.
    init(loop: EdgeLoop, socket: DirectSocket? = nil) {
        self.loop = loop
        self.socket = socket
        isOnSocket = socket != nil
        isReachable = isOnSocket
        let limits = loop.configuration.limits
        deadline = ConnectionDeadline(
            now: loop.eventLoop.now, handshakeTimeout: limits.handshakeTimeout,
            outboundTimeout: limits.outboundTimeout)
        reader = ConnectionReader(frameBytesMax: limits.frameBytesMax)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // After a handshake of WebSocket the channel has been active for a while.
        isReachable = isReachable || context.channel.isActive
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        self.context = context
        loop.metrics.connectionOpened()
        checkDeadline(now: loop.eventLoop.now)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended(.lost, "the connection was lost")
        self.context = nil
        socket = nil
        reader.ended(self)
        loop.deadlines.forget(self)
        outbound.drop()
        loop.metrics.connectionClosed()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let chunk = unwrapInboundIn(data)
        guard !machine.isEnded else {
            if reader.drain(chunk) { context.close(promise: nil) }
            return
        }
        deadline.frameReceived(now: loop.endOfTurn.now)
        loop.metrics.bytesReceived(chunk.readableBytes)
        reader.arrived(chunk, at: self)
    }

    /// Who keeps exceeding a rate is cut off.
    func checkAbuse() {
        let limits = loop.configuration.limits
        let refusals = session?.rates.takeRefusals() ?? 0
        guard abuseBudget.isExceeded(refusals, limits.refusals, now: loop.endOfTurn.now) else { return }
        disconnect(.rateExceeded)
    }

    /// Pings of WebSocket count as heartbeats do.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { return loop.closeQueue.add(self) }
        if event is TLSUserEvent { isReachable = true }
        guard event is WebSocketPing else { return context.fireUserInboundEventTriggered(event) }
        abuseBudget.heartbeat(loop.configuration.limits.heartbeats, now: loop.endOfTurn.now)
        checkAbuse()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let violation = error as? WebSocketViolation { return disconnect(violation.disconnect) }
        loop.logger.debug(
            "connection failed",
            metadata: ["cause": "\(connectFailure(error))", "type": "\(type(of: error))"])
        context.close(promise: nil)
    }

    func read(context: ChannelHandlerContext) {
        if reader.mayRead() { context.read() }
    }

    func pauseReading() { reader.stop(.publishes) }
    func resumeReading() { reader.resumeReading(.publishes, at: self) }
    func pauseReadingRequests() { reader.stop(.answers) }
    func resumeReadingRequests() { reader.resumeReading(.answers, at: self) }

    /// A read that was held back is due.
    func readNow() {
        deadline.frameReceived(now: loop.endOfTurn.now)
        context?.read()
    }

    // MARK: Requests

    /// Returns whether the request counts against the client's quota of the turn.
    func received(_ frame: UnsafeRawBufferPointer) -> Bool {
        do throws(WireError) {
            let request = try ClientRequest(frame, in: loop.arena)
            let action = machine.received(request)
            if loop.userLog.isActive { loop.userLog.received(action, request.id, of: session) }
            guard let tracer = loop.endOfTurn.tracer else { return perform(action, request.id) }
            return tracer.run(tracer.begin(action, request.id, of: session)) { perform(action, request.id) }
        } catch {
            disconnect(Disconnect(error))
            return true
        }
    }

    private func perform(_ action: ConnectionStateMachine.Action, _ requestID: UInt64) -> Bool {
        switch action {
        case .ignore: break
        case .welcome(let version, let name):
            client = loop.clientNames.number(of: name)
            answer(requestID, loop.logins.welcome(version: version))
        case .answerHeartbeat:
            abuseBudget.heartbeat(loop.configuration.limits.heartbeats, now: loop.endOfTurn.now)
            answer(requestID, HeartbeatAck(serverTimeMilliseconds: loop.wallClock()))
        case .refuse(let error):
            refuse(error, requestID)
        case .disconnect(let reason): disconnect(reason)
        case .login(let login): logIn(login, requestID)
        case .logout:
            answer(requestID, LoggedOut())
            disconnect(Disconnect(.loggedOut, "logged out"))
        case .publish(let publish):
            if let session { return !loop.publishing.publish(session, publish, requestID) }
        case .renewToken(let renewal) where renewal.channel.isEmpty:
            behindPublishes { renewToken(of: $0, renewal.token, requestID) }
        case .renewToken, .subscribe, .unsubscribe, .call, .subscribeUserMetadata, .unsubscribeUserMetadata:
            behindPublishes { loop.perform(action, of: $0, requestID) }
        }
        return true
    }

    /// What the client published before a request takes effect before it.
    private func behindPublishes(_ body: (Session) -> Void) {
        loop.publishing.sendRun()
        if let session { body(session) }
    }

    /// A request that no service is asked about counts as a call nevertheless. Before there is a
    /// session the time to log in bounds such requests.
    private func refuse(_ error: RTMError, _ requestID: UInt64) {
        guard let session else {
            abuseBudget.refused()
            return answer(requestID, error)
        }
        answer(requestID, session.refusal(error, now: loop.endOfTurn.now))
    }

    func answer(_ requestID: UInt64, _ body: some ServerFrameBody) {
        write { ServerFrame(body, answering: requestID).encodeFrame(into: &$0) }
    }

    // MARK: The end

    /// Sends the client the reason, and closes once that is written, or when the client doesn't read it.
    func disconnect(_ reason: Disconnect) {
        guard !machine.isEnded, let context else { return }
        ended(SessionEnd(reason.code), "\(reason.code)")
        loop.metrics.disconnected(reason.code)
        var frames = outbound.takeAll(isLagging: isLagging)
        ServerFrame(reason).encodeFrame(into: &frames)
        // Only our direction is closed: unread bytes would make the kernel reset, and the last frame lost.
        context.writeAndFlush(wrapOutboundOut(frames)).assumeIsolated().whenComplete { _ in
            self.context?.close(mode: .output, promise: nil)
        }
        loop.deadlines.remind(self, at: loop.eventLoop.now + loop.configuration.limits.lingerTimeout)
    }

    /// The session is not logged out: its memberships pass to the session that has come.
    func replaced() {
        guard !machine.isEnded else { return }
        ended(.lost, "the client is here again")
        closeSocket()
    }

    func closeSocket() { context?.close(promise: nil) }

    /// Ends the session, once.
    private func ended(_ end: SessionEnd, _ cause: @autoclosure () -> String) {
        if machine.isActive, let session { loop.sessionLog.ended(session, cause(), from: address) }
        machine.ended()
        resumeReading()
        charge(0)
        guard let session = session.take() else { return }
        session.end()
        loop.sessionEnded(session, end)
        callWritableWaiters()
    }

    // MARK: Deadlines

    /// Called at the deadline that was returned last, or before it.
    func checkDeadline(now: NIODeadline) {
        guard !machine.isEnded else { return closeSocket() }
        // A client whose socket isn't read can't show that it lives.
        if reader.isHeld { deadline.frameReceived(now: now) }
        if let bytes = context.waitingBytes { deadline.stillWaiting(bytes, now: now) }
        switch deadline.check(now: now, utc: loop.wallClock()) {
        case .expired where machine.isNew && !isReachable: closeSocket()
        case .expired(let reason): disconnect(reason)
        case .alive(let until):
            let next = session.flatMap { loop.checkJoinTokens(of: $0) }.map { now + TimeAmount($0) }
            loop.deadlines.remind(self, at: min(until, next ?? .distantFuture))
        case .tokenWillExpire(let remaining):
            answer(0, TokenWillExpire(remaining: remaining))
            checkDeadline(now: now)
        }
    }

    /// A stream channel was joined with a token, or its token was renewed.
    func joinTokenAccepted() { checkDeadline(now: loop.eventLoop.now) }
}

// MARK: - Login

extension ConnectionHandler {
    var origin: ConnectionOrigin {
        ConnectionOrigin(
            address: address, client: loop.clientNames[client],
            since: loggedInAt == 0 ? nil : UInt64(loggedInAt) * 1_000)
    }

    /// The inbox of the new session is attached next.
    private func logIn(_ login: ClientRequest.Login, _ requestID: UInt64) {
        do throws(RTMError) {
            let session = try loop.logIn(self, login)
            self.session = session
            loop.subscribing.attachInbox(of: session, after: login.inboxAfter, requestID)
        } catch {
            refuseLogin(error, app: login.appID.string, user: login.userID.string, requestID)
        }
    }

    func loginSucceeded(_ session: Session, inbox position: StreamPosition, gap: Bool, _ requestID: UInt64) {
        guard self.session === session, !machine.isEnded else { return }
        machine.loggedIn()
        loggedInAt = UInt32(clamping: loop.wallClock() / 1_000)
        loop.unauthenticated.trim()
        loop.sessionLog.loggedIn(session, from: address)
        deadline.loggedIn(
            now: loop.eventLoop.now, heartbeatInterval: .seconds(Int64(session.heartbeatInterval)),
            grace: .seconds(Int64(Limits.heartbeatGrace)))
        deadline.tokenAccepted(expiresAt: session.tokenExpiresAt)
        answer(requestID, loop.logins.loggedIn(session, inbox: position, gap: gap))
        // The deadline of the handshake, which is still armed, may be later than that of the first heartbeat.
        checkDeadline(now: loop.eventLoop.now)
        loop.loggedIn(session)
    }

    func refuseLogin(_ error: RTMError, _ requestID: UInt64) {
        refuseLogin(error, app: session?.appID ?? "", user: session?.userID ?? "", requestID)
    }

    private func refuseLogin(_ error: RTMError, app: String, user: String, _ requestID: UInt64) {
        guard !machine.isEnded else { return }
        let now = loop.eventLoop.now
        loop.sessionLog.refused(error, app: app, user: user, from: address, now: now)
        answer(requestID, error)
        disconnect(Disconnect(.loginRefused, "the login was refused: \(error.reason)"))
    }

    private func renewToken(of session: Session, _ token: WireText, _ requestID: UInt64) {
        do throws(RTMError) {
            try loop.tokenRenewals.renew(session, token)
            deadline.tokenAccepted(expiresAt: session.tokenExpiresAt)
            answer(requestID, TokenRenewed())
            // The new token may end before the old one.
            checkDeadline(now: loop.eventLoop.now)
        } catch {
            answer(requestID, error)
        }
    }
}

extension ChannelHandlerContext? {
    /// How many bytes wait for the socket.
    fileprivate var waitingBytes: Int? { try? self?.channel.syncOptions?.getOption(.bufferedWritableBytes) }
}

extension SessionEnd {
    /// Everything but a logout, a takeover and what an operator ends counts as a loss, also the end of a
    /// token (S-51).
    fileprivate init(_ code: Disconnect.Code) {
        switch code {
        case .loggedOut, .kicked: self = .loggedOut
        case .superseded: self = .superseded
        default: self = .lost
        }
    }
}

extension Disconnect {
    fileprivate static let rateExceeded = Disconnect(
        .rateExceeded, "you kept exceeding a rate although your requests were refused",
        retryAfter: .seconds(10))
}
