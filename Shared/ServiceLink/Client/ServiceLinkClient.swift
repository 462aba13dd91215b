package import Logging
package import NIOCore
package import RTMModel
package import RTMWire

/// The calling end of a link to one service. It keeps the connection, sends requests and pushes, and
/// completes every accepted request exactly once.
///
/// It is confined to the event loop of its `EndOfTurn`. What is sent during a turn goes out in one write at
/// its end. Nothing is allocated per request: what is known of it lies in a table, and its deadline in a list
/// through that table. What the caller remembers of it stays with the caller, under a number of its own.
///
/// Several nodes may offer the service, and any of them will do. The link begins with one of them by chance,
/// and whenever a connection fails or is lost, the next attempt goes to the next node.
package final class ServiceLinkClient {
    package let configuration: ServiceLinkClientConfiguration
    private let addresses: [ServiceLinkAddress]
    /// The index of the address of the present attempt, or of the connection.
    private var current: Int
    private let endOfTurn: EndOfTurn
    private var logger: Logger
    private let place: ServiceLinkLog.Place
    private let timer: ServiceLinkTimer
    private var machine: ServiceLinkStateMachine
    private var requests: OpenRequests
    private var connection: ServiceLinkConnection?
    private var delegate: (any ServiceLinkClientDelegate)?
    private var counted = ServiceLinkCounters()
    private var isStopping = false
    private let refusal: ServiceLinkRefusal
    /// The open requests that are answered by a closure instead of the delegate, by their slots.
    private var calls: [Int: (ServiceLinkOutcome) -> Void] = [:]
    /// The open requests that are traced, by their slots.
    private var traced: [Int: Tracer.Call] = [:]
    /// To which traced work the next push belongs.
    private var arriving: ServiceLinkTrace?
    /// Why the link is not up; nil while it is up.
    package private(set) var downReason: ServiceLinkDownReason? = .notStarted

    package convenience init(
        _ configuration: ServiceLinkClientConfiguration, to address: ServiceLinkAddress, endOfTurn: EndOfTurn,
        logger: Logger
    ) {
        self.init(configuration, toAnyOf: [address], endOfTurn: endOfTurn, logger: logger)
    }

    /// - Parameter addresses: those of all nodes, one at least.
    package init(
        _ configuration: ServiceLinkClientConfiguration, toAnyOf addresses: [ServiceLinkAddress],
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        self.configuration = configuration
        self.addresses = addresses
        current = addresses.count > 1 ? Int(configuration.link.random() * Double(addresses.count)) : 0
        self.endOfTurn = endOfTurn
        var logger = logger
        logger[metadataKey: "service"] = "\(configuration.service)"
        self.logger = logger
        place = ServiceLinkLog.Place(
            service: configuration.service, address: addresses.map(\.description).joined(separator: ","))
        timer = ServiceLinkTimer(on: endOfTurn.eventLoop)
        machine = ServiceLinkStateMachine(configuration)
        requests = OpenRequests(countMax: configuration.openRequestsMax)
        refusal = ServiceLinkRefusal(
            service: configuration.service, requestsMax: requests.countMax,
            frameBytesMax: configuration.link.frameBytesMax, queueBytesMax: configuration.link.queueBytesMax)
    }

    package var eventLoop: any EventLoop { endOfTurn.eventLoop }
    /// Where the link is, or is tried, at present.
    package var address: ServiceLinkAddress { addresses[current] }
    package var isUp: Bool { machine.isUp && connection?.isOpen == true }
    package var openRequests: Int { requests.count }
    /// The number that the peer's process chose at its start, when the link was last up.
    package var incarnation: UInt64? { machine.incarnation }
    /// How many bytes wait for the peer.
    package var queuedBytes: Int { connection?.queuedBytes ?? 0 }

    package var counters: ServiceLinkCounters {
        var sum = counted
        if let connection { sum.add(connection.counters) }
        return sum
    }

    /// Connects, and connects again whenever the connection is lost. A started link and its delegate live
    /// until `shutdown`.
    package func start(delegate: any ServiceLinkClientDelegate) {
        eventLoop.assertInEventLoop()
        guard machine.start(now: endOfTurn.now) else { return }
        self.delegate = delegate
        configuration.link.log.started(place)
        connect()
    }

    /// Sends a request. An accepted request ends in exactly one `response(_:to:_:_:)`, in a later turn or in
    /// a later round of this one.
    ///
    /// - Parameter context: comes back with the response. The link doesn't look at it.
    ///
    /// Throws, without having sent anything: `.notConnected` (-10025) while the link is down,
    /// `.operationRateExceedLimitation` (-10021) when `openRequestsMax` requests are open or too many bytes
    /// wait for the service, and `.invalidParameter` (-10014) for a body that is longer than a frame.
    package func request(
        _ method: UInt32, _ body: some WireEncodable, timeout: Duration, context: Int
    ) throws(RTMError) {
        _ = try send(method, body, timeout: timeout, context: context)
    }

    /// Sends a request that is answered by a closure. An accepted request ends in exactly one call of it.
    ///
    /// A closure costs an allocation. What is sent for every message has a context instead.
    ///
    /// Throws as `request` does.
    package func call(
        _ method: UInt32, _ body: some WireEncodable, timeout: Duration,
        _ done: @escaping (ServiceLinkOutcome) -> Void
    ) throws(RTMError) {
        calls[try send(method, body, timeout: timeout, context: 0)] = done
    }

    /// - Returns: the slot of the request.
    private func send(
        _ method: UInt32, _ body: some WireEncodable, timeout: Duration, context: Int
    ) throws(RTMError) -> Int {
        eventLoop.assertInEventLoop()
        guard let connection, machine.isUp, connection.isOpen else {
            throw refused(refusal.notConnected)
        }
        let length = body.encodedLength
        guard connection.fits(bodyLength: length) else { throw refused(refusal.tooLong(length)) }
        guard connection.canQueueRequest(bodyLength: length) else { throw refused(refusal.full) }
        let now = endOfTurn.now
        guard let ticket = requests.open(method, context: context, timeout: timeout, now: now) else {
            throw refused(refusal.tooMany)
        }
        if endOfTurn.tracer != nil { trace(ticket.slot, method, over: connection) }
        let isSent = connection.sendRequest(
            id: ticket.id, method: method, timeoutMilliseconds: ticket.timeoutMilliseconds, body: body,
            bodyLength: length)
        guard isSent else {
            takeUnsent(ticket)
            throw refused(refusal.notConnected)
        }
        counted.requests += 1
        if ticket.isNext { timer.arm(ticket.deadline, for: self) }
        return ticket.slot
    }

    private func refused(_ error: RTMError) -> RTMError {
        counted.refused += 1
        return error
    }

    /// Sends a message that has no answer. False if the link is down or the body is longer than a frame: then
    /// it was not sent.
    @discardableResult
    package func push(_ method: UInt32, _ body: some WireEncodable) -> Bool {
        eventLoop.assertInEventLoop()
        let length = body.encodedLength
        guard let connection, machine.isUp, connection.fits(bodyLength: length),
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

    /// Ends the connection because the peer sent what it must not send, and connects anew. To continue would
    /// mean to skip silently what could not be read.
    package func reset(_ fault: String) {
        eventLoop.assertInEventLoop()
        connection?.close(.protocolError(fault), saying: ServiceLinkGoAway(.protocolError, fault))
    }

    /// Closes the link for good. At the end of the turn open requests complete as `disconnected`, and the
    /// delegate is let go.
    package func shutdown() {
        eventLoop.assertInEventLoop()
        guard let connection else { return retire(wasUp: machine.stop()) }
        connection.close(.shutDown, saying: ServiceLinkGoAway(.draining, "the caller shuts down"))
        isStopping = true
    }
}

// MARK: - Connection

extension ServiceLinkClient: ServiceLinkConnectionOwner {
    private func connect() {
        logger[metadataKey: "address"] = "\(address)"
        let fresh = ServiceLinkConnection(
            configuration.link, owner: self, endOfTurn: endOfTurn, logger: logger)
        connection = fresh
        address.connect(fresh, configuration, on: eventLoop)
        timer.arm(machine.nextWake, for: self)
    }

    func connectionOpened(_ connection: ServiceLinkConnection) {
        guard let hello = machine.opened(now: endOfTurn.now, nonce: ServiceLinkHandshake.nonce()) else {
            return connection.close(.shutDown)
        }
        _ = connection.sendHello(hello)
        timer.arm(machine.nextWake, for: self)
    }

    func connectionDidReceive(_ connection: ServiceLinkConnection, now: NIODeadline) {
        if machine.bytesReceived(now: now) { timer.arm(machine.nextWake, for: self) }
    }

    func connection(_ connection: ServiceLinkConnection, received envelope: ServiceLinkEnvelope) -> String? {
        switch envelope {
        case .response(let id, let body):
            counted.responses += 1
            complete(id, .success(body))
        case .failure(let id, let error):
            counted.failures += 1
            complete(id, .failed(error))
        case .push(let method, let body):
            guard machine.isUp else { return "a push before the welcome" }
            counted.pushesIn += 1
            if arriving != nil { return tracedPush(method, body) }
            delegate?.push(self, method: method, body: body)
        case .trace(let trace):
            if endOfTurn.tracer != nil { arriving = trace }
        case .challenge(let challenge):
            guard let proof = machine.challenged(challenge) else { return "a challenge that is out of place" }
            _ = connection.sendProof(proof)
            connection.trust()
        case .welcome(let welcome):
            return welcomed(welcome, on: connection)
        default:
            return "a frame that only a caller sends"
        }
        return nil
    }

    private func complete(_ id: UInt64, _ outcome: ServiceLinkOutcome) {
        guard let request = requests.close(id: id) else {
            counted.responsesTooLate += 1
            return
        }
        complete(request, outcome)
    }

    private func complete(_ request: OpenRequests.Closed, _ outcome: ServiceLinkOutcome) {
        guard !traced.isEmpty, let call = traced.removeValue(forKey: request.slot) else {
            return handOver(request, outcome)
        }
        endOfTurn.tracer?.answered(call, error: outcome.failure) { handOver(request, outcome) }
    }

    private func handOver(_ request: OpenRequests.Closed, _ outcome: ServiceLinkOutcome) {
        if !calls.isEmpty, let done = calls.removeValue(forKey: request.slot) { return done(outcome) }
        delegate?.response(self, to: request.method, request.context, outcome)
    }

    private func welcomed(_ welcome: ServiceLinkWelcome, on connection: ServiceLinkConnection) -> String? {
        let isFirst = machine.incarnation == nil
        switch machine.welcomed(welcome, now: endOfTurn.now) {
        case .up(let peer):
            if !isFirst { counted.reconnects += 1 }
            downReason = nil
            configuration.link.log.cameUp(place, logger, incarnation: peer.incarnation)
            timer.arm(machine.nextWake, for: self)
            delegate?.linkUp(self, peer: peer)
            return nil
        case .refuse(let goAway):
            connection.close(.peerRefused(goAway), saying: goAway)
            return nil
        case .unexpected:
            return "a second welcome"
        }
    }

    func connectionLost(_ connection: ServiceLinkConnection, _ reason: ServiceLinkDownReason) {
        counted.add(connection.counters)
        self.connection = nil
        arriving = nil
        configuration.link.log.wentDown(
            place, logger, reason, wasUp: machine.isUp, isEnding: isStopping)
        downReason = reason
        guard !isStopping else { return retire(wasUp: machine.stop()) }
        current = (current + 1) % addresses.count
        let wasUp = machine.lost(now: endOfTurn.now, random: configuration.link.random())
        timer.arm(machine.nextWake, for: self)
        disconnectRequests()
        if wasUp { delegate?.linkDown(self, reason) } else { delegate?.linkUnreachable(self, reason) }
    }

    private func disconnectRequests() {
        while let request = requests.closeAny() {
            counted.disconnected += 1
            complete(request, .disconnected)
        }
    }

    private func retire(wasUp: Bool) {
        downReason = .shutDown
        timer.cancel()
        disconnectRequests()
        if wasUp { delegate?.linkDown(self, .shutDown) }
        if delegate != nil { configuration.link.log.retired(place) }
        delegate.take()?.linkRetired(self)
    }
}

// MARK: - Traces

extension ServiceLinkClient {
    /// Says to the service that the request which follows belongs to traced work, if it does.
    private func trace(_ slot: Int, _ method: UInt32, over connection: ServiceLinkConnection) {
        let call = endOfTurn.tracer?.call(ServiceMethodName.of(method, in: configuration.service))
        guard let call else { return }
        traced[slot] = call
        _ = connection.sendTrace(call.context)
    }

    private func takeUnsent(_ ticket: OpenRequests.Ticket) {
        _ = requests.close(id: ticket.id)
        if let call = traced.removeValue(forKey: ticket.slot) {
            endOfTurn.tracer?.answered(call, error: "notConnected") {}
        }
    }

    private func tracedPush(_ method: UInt32, _ body: UnsafeRawBufferPointer) -> String? {
        guard let trace = arriving.take(), let tracer = endOfTurn.tracer else { return nil }
        let name = ServiceMethodName.of(method, in: configuration.service)
        tracer.run(tracer.continueTrace(trace, name, .consumer)) {
            delegate?.push(self, method: method, body: body)
        }
        return nil
    }
}

extension ServiceLinkOutcome {
    /// The name of what went wrong.
    fileprivate var failure: String? {
        switch self {
        case .success: nil
        case .failed(let error): "\(error.code)"
        case .timedOut: "timedOut"
        case .disconnected: "disconnected"
        }
    }
}

// MARK: - Time

extension ServiceLinkClient: ServiceLinkTimerOwner {
    func timerFired() {
        let now = endOfTurn.now
        while let request = requests.closeExpired(now: now) {
            counted.timeouts += 1
            complete(request, .timedOut)
        }
        switch machine.wake(now: now) {
        case .none: break
        case .connect: return connect()
        case .sendHeartbeat: connection?.sendHeartbeat()
        case .close(let reason):
            // The connection ends by itself now. A timer for what is overdue already would fire without end.
            connection?.close(reason)
            return timer.arm(requests.nextDeadline, for: self)
        }
        timer.arm(machine.nextWake, for: self)
        timer.arm(requests.nextDeadline, for: self)
    }
}
