import DequeModule
package import Logging
package import NIOCore
import NIOPosix
import RTMServiceLink

/// Is told about the connection. All calls come on the client's event loop.
package protocol RedisClientDelegate: AnyObject {
    /// Commands are accepted from now on. The server may be another one than before, with other data.
    func redisIsUp()
    /// The connection is lost, and all open commands have failed. The client reconnects by itself.
    func redisIsDown(_ cause: String)
}

/// One connection to Redis: keeps it up, logs in, sends commands one behind the other, and completes each
/// exactly once, in their order. It is confined to one event loop; the commands of a turn go out in one write
/// at its end.
///
/// The bytes travel through a channel of that loop, and hiredis's reader turns them into replies. So nothing
/// blocks, and no thread has to be shared (docs/presence-redis.md).
package final class RedisClient {
    package typealias Completion = (Result<RedisReply, RedisFailure>) -> Void

    /// A command that every connection begins with. The connection is up when all of them are answered.
    package struct Prelude {
        let command: RedisCommand
        let answered: (RedisReply) -> Void

        package init(_ arguments: RedisArgument..., answered: @escaping (RedisReply) -> Void) {
            self.init(RedisCommand(arguments), answered: answered)
        }

        package init(_ command: RedisCommand, answered: @escaping (RedisReply) -> Void) {
            self.command = command
            self.answered = answered
        }
    }

    private struct Open {
        let deadline: NIODeadline
        let done: Completion
    }

    package let configuration: RedisConfiguration
    private let eventLoop: any EventLoop
    private let endOfTurn: EndOfTurn
    private let scripts: [RedisScript]
    private let logger: Logger
    private var hashes: [ObjectIdentifier: String] = [:]
    private var delegate: (any RedisClientDelegate)?
    /// Makes the commands that a connection begins with. Set it before `start`.
    package var prelude: () -> [Prelude] = { [] }
    private var channel: (any Channel)?
    private var open = Deque<Open>()
    private var outgoing = ByteBuffer()
    private var isDirty = false
    private var backoff: Backoff
    private var isStopped = true
    /// Grows with each connection, so that late signals of an old one are ignored.
    private var attempt = 0
    private var downCause = "not started"
    private var nextRefusalLine = NIODeadline.distantPast
    private var nextPolicyCheck = NIODeadline.distantPast
    package private(set) var isUp = false
    /// How many commands were sent since the start, for measurements.
    package private(set) var commandsSent = 0

    /// - Parameter scripts: the scripts that are loaded on every connection before it is used.
    package init(
        _ configuration: RedisConfiguration, scripts: [RedisScript], on eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.configuration = configuration
        self.scripts = scripts
        self.eventLoop = eventLoop
        self.logger = logger
        endOfTurn = EndOfTurn.shared(on: eventLoop)
        backoff = configuration.backoff
    }

    /// Connects. A started client and its delegate live until `shutdown`.
    package func start(delegate: any RedisClientDelegate) {
        self.delegate = delegate
        isStopped = false
        connect()
    }

    package func shutdown() {
        isStopped = true
        lost("shut down")
        delegate = nil
    }

    // MARK: - Commands

    package func send(_ command: RedisCommand, _ done: @escaping Completion) {
        eventLoop.assertInEventLoop()
        guard isUp else { return done(.failure(.notConnected(downCause))) }
        guard open.count < configuration.commandsMax else {
            return done(.failure(.tooManyCommands(configuration.commandsMax)))
        }
        write(command, done)
    }

    /// Runs a script. If the server has forgotten the script, it gets the text again.
    package func run(
        _ script: RedisScript, keys: [String], _ arguments: [RedisArgument], _ done: @escaping Completion
    ) {
        let rest = [RedisArgument(UInt64(keys.count))] + keys.map { .text($0) } + arguments
        guard let hash = hashes[ObjectIdentifier(script)] else {
            return send(RedisCommand(["EVAL", .text(script.source)] + rest), done)
        }
        send(RedisCommand(["EVALSHA", .text(hash)] + rest)) { [self] outcome in
            guard case .failure(.refused(let text)) = outcome, text.hasPrefix("NOSCRIPT") else {
                return done(outcome)
            }
            send(RedisCommand(["EVAL", .text(script.source)] + rest), done)
        }
    }

    private func write(_ command: RedisCommand, _ done: @escaping Completion) {
        command.encode(into: &outgoing)
        commandsSent += 1
        open.append(Open(deadline: endOfTurn.now + .init(configuration.commandTimeout), done: done))
        guard !isDirty else { return }
        isDirty = true
        endOfTurn.scheduleWrite(self)
    }

    // MARK: - Connection

    private func connect() {
        attempt += 1
        let number = attempt
        let handler = NIOLoopBound(RedisChannelHandler(self, attempt: number), eventLoop: eventLoop)
        let configuration = self.configuration
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(.init(configuration.connectTimeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls = configuration.tls {
                        try channel.pipeline.syncOperations.addHandler(
                            tls.clientHandler(to: configuration.place.host))
                    }
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
        let connected =
            switch configuration.place {
            case .tcp(let host, let port): bootstrap.connect(host: host, port: port)
            case .unixSocket(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        connected.assumeIsolated().whenFailure { error in self.connectionLost(number, "\(error)") }
    }

    fileprivate func connectionOpened(_ number: Int, _ channel: any Channel) {
        guard number == attempt, !isStopped else { return channel.close(promise: nil) }
        self.channel = channel
        watch(number)
        var steps: [RedisCommand] = []
        if let login = configuration.credentials.login { steps.append(login) }
        if configuration.database != 0 {
            steps.append(RedisCommand("SELECT", RedisArgument(UInt64(configuration.database))))
        }
        steps.append(RedisCommand("PING"))
        for step in steps {
            write(step) { outcome in
                guard case .failure(.refused(let text)) = outcome else { return }
                self.connectionLost(number, "Redis refuses the connection: \(text)")
            }
        }
        checkEvictionPolicy(number)
        for script in scripts {
            write(RedisCommand("SCRIPT", "LOAD", .text(script.source))) { outcome in
                switch outcome {
                case .success(let reply): self.hashes[ObjectIdentifier(script)] = reply.string
                case .failure(.refused(let text)):
                    self.connectionLost(number, "Redis refuses the script \(script.name): \(text)")
                case .failure: break
                }
            }
        }
        for step in prelude() {
            write(step.command) { outcome in
                switch outcome {
                case .success(let reply): step.answered(reply)
                case .failure(.refused(let text)):
                    self.connectionLost(number, "Redis refuses a command: \(text)")
                case .failure: break
                }
            }
        }
        write(RedisCommand("PING")) { outcome in
            if case .success = outcome { self.connectionIsReady(number) }
        }
    }

    /// Somebody may change the policy while we are connected.
    private func checkEvictionPolicy(_ number: Int) {
        nextPolicyCheck = endOfTurn.now + .seconds(5)
        write(EvictionPolicy.question) { outcome in
            switch outcome {
            case .success(let reply):
                guard let cause = EvictionPolicy.cause(in: reply.string ?? "") else { return }
                self.connectionLost(number, cause)
            case .failure(.refused(let text)):
                self.connectionLost(number, "Redis refuses INFO, which the user needs: \(text)")
            case .failure: break
            }
        }
    }

    private func connectionIsReady(_ number: Int) {
        guard number == attempt, channel != nil else { return }
        backoff.reset()
        isUp = true
        logger.notice("connected to Redis", metadata: ["address": "\(configuration.place)"])
        delegate?.redisIsUp()
    }

    fileprivate func connectionLost(
        _ number: Int, _ cause: String, _ failure: RedisFailure = .disconnected
    ) {
        guard number == attempt else { return }
        lost(cause, failure)
        guard !isStopped else { return }
        let wait = backoff.next(random: .random(in: 0..<1))
        eventLoop.assumeIsolated().scheduleTask(in: .init(wait)) {
            if !self.isStopped, number + 1 == self.attempt { self.connect() }
        }
    }

    private func lost(_ cause: String, _ failure: RedisFailure = .disconnected) {
        attempt += 1
        channel?.close(promise: nil)
        channel = nil
        outgoing.clear()
        hashes = [:]
        let wasUp = isUp
        isUp = false
        if wasUp || cause != downCause {
            logger.warning(
                "lost the connection to Redis",
                metadata: ["address": "\(configuration.place)", "cause": "\(cause)"])
        }
        downCause = cause
        let failed = open
        open.removeAll()
        // Readiness comes first: a caller whose command has failed may look at it.
        delegate?.redisIsDown("no connection to Redis at \(configuration.place): \(cause)")
        for command in failed { command.done(.failure(failure)) }
    }

    /// Gives up the connection when its oldest command has waited too long.
    private func watch(_ number: Int) {
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) {
            guard number == self.attempt else { return }
            if let first = self.open.first, first.deadline <= .now() {
                return self.connectionLost(
                    number, "no answer within \(self.configuration.commandTimeout)", .timedOut)
            }
            if self.isUp, self.nextPolicyCheck <= .now() { self.checkEvictionPolicy(number) }
            self.watch(number)
        }
    }

    fileprivate func received(_ number: Int, _ reply: RedisReply) {
        guard number == attempt else { return }
        guard let command = open.popFirst() else {
            return connectionLost(number, "Redis sent a reply that no command asked for")
        }
        guard case .error(let text) = reply else { return command.done(.success(reply)) }
        logRefusal(text)
        command.done(.failure(.refused(text)))
    }

    /// Callers say only that something can't be done. A Redis that refuses one command refuses many, so there
    /// is one line a second.
    private func logRefusal(_ text: String) {
        // A forgotten script is sent again, and what a connection begins with is the cause of its end.
        guard isUp, !text.hasPrefix("NOSCRIPT"), endOfTurn.now >= nextRefusalLine else { return }
        nextRefusalLine = endOfTurn.now + .seconds(1)
        logger.warning(
            "Redis refused a command",
            metadata: ["address": "\(configuration.place)", "cause": "\(text.prefix(200))"])
    }

    fileprivate func isCurrent(_ number: Int) -> Bool { number == attempt }
}

extension RedisClient: Flushable {
    package func flushAtEndOfTurn() {
        isDirty = false
        guard let channel, outgoing.readableBytes > 0 else { return outgoing.clear() }
        channel.writeAndFlush(outgoing, promise: nil)
        outgoing = ByteBuffer()
    }
}

/// The end of the channel: bytes go to the reader, replies to the client.
private final class RedisChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: RedisClient
    private let attempt: Int
    private let reader = ReplyReader()

    init(_ client: RedisClient, attempt: Int) {
        self.client = client
        self.attempt = attempt
    }

    func channelActive(context: ChannelHandlerContext) {
        client.connectionOpened(attempt, context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard unwrapInboundIn(data).withUnsafeReadableBytes({ reader.feed($0) }) else {
            return client.connectionLost(attempt, "malformed bytes")
        }
        while client.isCurrent(attempt) {
            switch reader.next() {
            case .reply(let reply): client.received(attempt, reply)
            case .incomplete: return
            case .malformed: return client.connectionLost(attempt, "malformed bytes")
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        client.connectionLost(attempt, "closed by Redis")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        client.connectionLost(attempt, "\(error)")
    }
}
