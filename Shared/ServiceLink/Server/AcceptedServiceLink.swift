import Logging
package import NIOCore
package import RTMModel
package import RTMWire

/// What a service does with the links to it. All calls come on the link's event loop, and never from within a
/// call to the link. One handler may serve many links or only one.
package protocol ServiceLinkHandler: AnyObject {
    /// The caller has been admitted.
    func linkOpened(_ link: AcceptedServiceLink)
    /// The handler answers it exactly once, now or later, with `respond` or `fail`. `timeout` is what is left
    /// of the caller's deadline. `body` is valid during the call.
    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink)
    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink)
    /// What was sent has been handed to the transport, so that `queuedBytes` may be less than before.
    func linkBecameWritable(_ link: AcceptedServiceLink)
    /// The link has closed, and everything that depended on it ends. This comes only after `linkOpened`.
    func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason)
}

extension ServiceLinkHandler {
    package func linkBecameWritable(_ link: AcceptedServiceLink) {}
}

/// The called end of one link. It is confined to its event loop. What is sent during a turn goes out in one
/// write at its end.
package final class AcceptedServiceLink {
    /// Unique in this process.
    package let id: UInt64
    package let eventLoop: any EventLoop
    /// The caller's name, for logs. Empty before `linkOpened`.
    package private(set) var peerNode = ""
    /// Which shard of the service the caller wants. 0 before `linkOpened`.
    package private(set) var shard = 0
    private let configuration: ServiceLinkServerConfiguration
    private let makeHandler: @Sendable (AcceptedServiceLink) -> any ServiceLinkHandler
    private let registry: ServiceLinkRegistry
    private let endOfTurn: EndOfTurn
    private let timer: ServiceLinkTimer
    private var logger: Logger
    private var machine: AcceptedServiceLinkStateMachine
    private var handler: (any ServiceLinkHandler)?
    private var connection: ServiceLinkConnection?
    /// Nil if the caller wants this service itself.
    private var relay: ServiceLinkRelay?
    private var counted = ServiceLinkCounters()
    /// What a caller that is relayed gets when the other node is connected.
    private var welcome: ServiceLinkWelcome?
    /// The place that the connection takes until its caller is admitted; nil if it came over no socket.
    var unauthenticated: UnauthenticatedConnection?
    /// Why the connection is refused as soon as it is open.
    var refusal: ServiceLinkGoAway?
    /// What is traced of the requests that have no answer yet, by their ids.
    private var traced: [UInt64: Tracer.Work] = [:]
    /// To which traced work the next request or push belongs.
    private var arriving: ServiceLinkTrace?

    init(
        id: UInt64, _ configuration: ServiceLinkServerConfiguration, registry: ServiceLinkRegistry,
        on eventLoop: any EventLoop, logger: Logger,
        handler: @escaping @Sendable (AcceptedServiceLink) -> any ServiceLinkHandler
    ) {
        self.id = id
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.registry = registry
        self.logger = logger
        self.logger[metadataKey: "link"] = "\(id)"
        makeHandler = handler
        endOfTurn = EndOfTurn.shared(on: eventLoop)
        timer = ServiceLinkTimer(on: eventLoop)
        machine = AcceptedServiceLinkStateMachine(configuration, now: endOfTurn.now)
    }

    /// The end to which a transport is attached.
    func makeConnection() -> ServiceLinkConnection {
        let fresh = ServiceLinkConnection(
            configuration.link, owner: self, endOfTurn: endOfTurn, logger: logger)
        connection = fresh
        timer.arm(machine.nextWake, for: self)
        return fresh
    }

    package var isOpen: Bool { machine.isOpen && connection?.isOpen == true }
    /// How many bytes wait for the peer.
    package var queuedBytes: Int { connection?.queuedBytes ?? 0 }

    package var counters: ServiceLinkCounters {
        var sum = counted
        if let connection { sum.add(connection.counters) }
        return sum
    }

    /// Answers a request. A response that is too long for a frame becomes an error for the caller. After the
    /// link's end the response is dropped, because the caller knows already that it is disconnected.
    package func respond(to request: UInt64, _ body: some WireEncodable) {
        eventLoop.assertInEventLoop()
        guard let connection else { return }
        let length = body.encodedLength
        guard connection.fits(bodyLength: length) else { return fail(request, tooLong(length)) }
        if !traced.isEmpty { answered(request) }
        guard connection.sendResponse(id: request, body: body, bodyLength: length) else { return }
        counted.responses += 1
    }

    package func fail(_ request: UInt64, _ error: RTMError) {
        eventLoop.assertInEventLoop()
        if !traced.isEmpty { answered(request, error: "\(error.code)") }
        guard let connection, connection.sendFailure(id: request, error: error) else { return }
        counted.failures += 1
    }

    /// Sends a message that has no answer. False if the link is closed or the body is longer than a frame:
    /// then it was not sent.
    @discardableResult
    package func push(_ method: UInt32, _ body: some WireEncodable) -> Bool {
        eventLoop.assertInEventLoop()
        let length = body.encodedLength
        if endOfTurn.tracer != nil { traceNext() }
        guard let connection, machine.isOpen, connection.fits(bodyLength: length),
            connection.sendPush(method: method, body: body, bodyLength: length)
        else {
            counted.refused += 1
            return false
        }
        counted.pushesOut += 1
        return true
    }

    @discardableResult @inlinable
    package func push<Body>(_ push: ServicePush<Body>, _ body: Body) -> Bool {
        self.push(push.number, body)
    }

    /// From now on, what is sent waits while the gate is closed. Call it when the link has opened.
    package func pass(_ gate: OutputGate) { connection?.pass(gate) }

    /// What waits at the gate under this number, or a smaller one, goes out at the end of the turn.
    package func release(through number: UInt64) { connection?.release(through: number) }

    /// Ends the link after what has been sent, and sends the peer the reason. `draining` asks the peer to
    /// connect again.
    package func close(saying goAway: ServiceLinkGoAway = ServiceLinkGoAway(.draining)) {
        eventLoop.assertInEventLoop()
        connection?.close(.shutDown, saying: goAway)
        if connection == nil { relay.take()?.end() }
    }

    private func tooLong(_ length: Int) -> RTMError {
        RTMError(
            .invalidParameter,
            "the response of \(configuration.service) has \(length) bytes, too many for a frame",
            limit: .init(name: "frame bytes", value: UInt64(configuration.link.frameBytesMax)))
    }
}

extension AcceptedServiceLink: ServiceLinkConnectionOwner {
    func connectionOpened(_ connection: ServiceLinkConnection) {
        guard let refusal = refusal ?? registry.connect(self) else { return }
        connection.close(.shutDown, saying: refusal)
    }

    /// Ends a connection in its handshake, so that another one is accepted in its place.
    func refuseForOthers() {
        connection?.close(
            .shutDown, saying: ServiceLinkGoAway(.overflow, "too many connections are in their handshake"))
    }

    func connectionDidReceive(_ connection: ServiceLinkConnection, now: NIODeadline) {
        if machine.bytesReceived(now: now) { timer.arm(machine.nextWake, for: self) }
    }

    func connection(_ connection: ServiceLinkConnection, received envelope: ServiceLinkEnvelope) -> String? {
        if case .hello(let hello) = envelope { return greeted(hello, on: connection) }
        if case .proof(let proof) = envelope { return proved(proof, on: connection) }
        guard let handler else { return "a frame before the end of the handshake" }
        switch envelope {
        case .request(let id, let method, let timeoutMilliseconds, let body):
            counted.requests += 1
            let timeout = Duration.milliseconds(Int64(timeoutMilliseconds))
            if arriving != nil {
                tracedRequest(id, method) {
                    handler.request(id, method: method, timeout: timeout, body: body, from: self)
                }
            } else {
                handler.request(id, method: method, timeout: timeout, body: body, from: self)
            }
        case .push(let method, let body):
            counted.pushesIn += 1
            handler.push(method: method, body: body, from: self)
        case .trace(let trace):
            if endOfTurn.tracer != nil { arriving = trace }
        default:
            return "a frame that only a called service sends"
        }
        return nil
    }

    func connectionBecameWritable(_ connection: ServiceLinkConnection) { handler?.linkBecameWritable(self) }

    private func greeted(_ hello: ServiceLinkHello, on connection: ServiceLinkConnection) -> String? {
        switch machine.greeted(hello, nonce: ServiceLinkHandshake.nonce()) {
        case .challenge(let challenge):
            _ = connection.sendChallenge(challenge)
            return nil
        case .refuse(let goAway):
            refuse(goAway, hello.node, on: connection)
            return nil
        case .unexpected:
            return "a second hello"
        }
    }

    private func proved(_ proof: ServiceLinkProof, on connection: ServiceLinkConnection) -> String? {
        switch machine.proved(proof, now: endOfTurn.now) {
        case .welcome(let welcome, let hello):
            unauthenticated.take()?.release()
            if let refusal = registry.admit(self) {
                refuse(refusal, hello.node, on: connection)
            } else if !hello.relayTo.isEmpty {
                relay(welcome, hello, on: connection)
            } else {
                open(welcome, hello, on: connection)
            }
            return nil
        case .refuse(let goAway, let node):
            refuse(goAway, node, on: connection)
            return nil
        case .unexpected:
            return "a proof that nobody asked for"
        }
    }

    private func open(
        _ welcome: ServiceLinkWelcome, _ hello: ServiceLinkHello, on connection: ServiceLinkConnection
    ) {
        connection.trust()
        peerNode = hello.node
        shard = Int(hello.shard)
        logger[metadataKey: "peer"] = "\(hello.node)"
        _ = connection.sendWelcome(welcome)
        let handler = makeHandler(self)
        self.handler = handler
        configuration.link.log.opened(by: peerNode, logger)
        timer.arm(machine.nextWake, for: self)
        handler.linkOpened(self)
    }

    private func relay(
        _ welcome: ServiceLinkWelcome, _ hello: ServiceLinkHello, on connection: ServiceLinkConnection
    ) {
        guard let relays = configuration.relays, let address = relays.address(hello.relayTo) else {
            configuration.relays?.observe(.refused)
            let text = "no node that is known here has the address \(hello.relayTo.prefix(64))"
            return refuse(ServiceLinkGoAway(.unknownNode, text), hello.node, on: connection)
        }
        if let refusal = registry.addRelay(self, countMax: relays.countMax) {
            relays.observe(.refused)
            return refuse(refusal, hello.node, on: connection)
        }
        peerNode = hello.node
        logger[metadataKey: "peer"] = "\(hello.node)"
        logger[metadataKey: "relayTo"] = "\(address)"
        self.welcome = welcome
        let relay = ServiceLinkRelay(relays, configuration.link, owner: self, on: eventLoop)
        self.relay = relay
        relay.connect(to: address)
    }

    /// A caller that is refused tries again and again, and a stranger may be one of many. So the registry
    /// says whether one more line is worth it, and what the caller sent is cut.
    private func refuse(_ goAway: ServiceLinkGoAway, _ node: String, on connection: ServiceLinkConnection) {
        if let omitted = registry.mayLogRefusal(now: endOfTurn.now) {
            logger.warning(
                "caller refused",
                metadata: [
                    "peer": "\(node.prefix(64))", "address": "\(connection.peerAddress)",
                    "reason": "\(goAway.reason)", "omitted": .stringConvertible(omitted),
                ])
        }
        connection.close(.peerRefused(goAway), saying: goAway)
    }

    func connectionLost(_ connection: ServiceLinkConnection, _ reason: ServiceLinkDownReason) {
        counted.add(connection.counters)
        self.connection = nil
        relay.take()?.end()
        timer.cancel()
        for request in Array(traced.keys) { answered(request, error: "disconnected") }
        registry.remove(self)
        guard let handler = handler.take() else { return }
        configuration.link.log.closed(by: peerNode, reason, logger)
        handler.linkClosed(self, reason)
    }
}

// MARK: - Relays

extension AcceptedServiceLink: ServiceLinkRelayOwner {
    func relayConnected(
        passing receiver: any ServiceLinkTransportReceiver
    ) -> (any ServiceLinkTransport)? {
        guard let connection, let welcome = welcome.take() else { return nil }
        _ = connection.sendWelcome(welcome)
        guard let transport = connection.pass(to: receiver) else { return nil }
        counted.add(connection.counters)
        self.connection = nil
        timer.cancel()
        logger.info("relay opened")
        return transport
    }

    func relayFailed(_ reason: String) {
        relay = nil
        configuration.relays?.observe(.refused)
        logger.info("no relay: the other node can't be reached", metadata: ["reason": "\(reason)"])
        connection?.close(.shutDown, saying: ServiceLinkGoAway(.unreachable, reason))
    }

    func relayEnded() {
        relay = nil
        registry.remove(self)
        logger.info("relay closed")
    }
}

// MARK: - Traces

extension AcceptedServiceLink {
    private func tracedRequest(_ id: UInt64, _ method: UInt32, _ body: () -> Void) {
        guard let trace = arriving.take(), let tracer = endOfTurn.tracer else { return body() }
        let name = ServiceMethodName.of(method, in: configuration.service)
        let work = tracer.continueTrace(trace, name, .server)
        tracer.run(work) {
            // Until the answer, which may come later.
            traced[id] = tracer.hold()
            body()
        }
    }

    private func answered(_ request: UInt64, error: String? = nil) {
        guard let work = traced.removeValue(forKey: request) else { return }
        endOfTurn.tracer?.release(work, error: error)
    }

    /// Says to the caller that the push which follows belongs to traced work, if it does.
    private func traceNext() {
        guard let trace = endOfTurn.tracer?.context, machine.isOpen else { return }
        _ = connection?.sendTrace(trace)
    }
}

extension AcceptedServiceLink: ServiceLinkTimerOwner {
    func timerFired() {
        guard let connection else { return }
        switch machine.wake(now: endOfTurn.now) {
        case .none: break
        case .sendHeartbeat: connection.sendHeartbeat()
        case .close(let reason):
            // The connection ends by itself now. A timer for what is overdue already would fire without end.
            return connection.close(reason)
        }
        timer.arm(machine.nextWake, for: self)
    }
}
