import DequeModule
import Logging
import NIOCore
import RTMServiceLink

/// Receives what happens to a connection. All calls come on its event loop.
protocol RedisConnectionDelegate: AnyObject {
    /// Commands are accepted from now on. The server may be another one than before, with other data.
    func connectionIsUp(_ connection: RedisConnection)
    /// The connection is lost, and all open commands fail next. It connects again by itself.
    func connectionIsDown(_ connection: RedisConnection, _ cause: String)
    /// A command was answered, so long after it was sent.
    func connectionAnswered(after time: TimeAmount)
}

/// One connection to one server: keeps it up, logs in, makes sure that the server is one that may be used,
/// sends commands one behind the other, and completes each exactly once, in their order. It is confined to
/// one event loop; the commands of a turn go out in one write at its end.
///
/// The bytes travel through a channel of that loop, and hiredis's reader turns them into replies. So nothing
/// blocks, and no thread has to be shared (docs/presence-redis.md).
final class RedisConnection {
    typealias Completion = RedisClient.Completion

    /// What the server is needed for.
    enum Duty {
        /// It keeps our data, so it has to be a master that deletes nothing by itself.
        case master(isInCluster: Bool)
        /// It answers a question, whoever it is.
        case informant
    }

    private struct Open {
        let sent: NIODeadline
        let done: Completion
    }

    private struct Waiting {
        let command: RedisCommand
        let isAsking: Bool
        let done: Completion
    }

    let endpoint: RedisEndpoint
    let configuration: RedisConfiguration
    private let credentials: RedisCredentials
    private let duty: Duty
    let eventLoop: any EventLoop
    private let endOfTurn: EndOfTurn
    let scripts: [RedisScript]
    private let logger: Logger
    var hashes: [ObjectIdentifier: String] = [:]
    private var delegate: (any RedisConnectionDelegate)?
    private var channel: (any Channel)?
    private var open = Deque<Open>()
    /// Commands that were sent before the first attempt to connect has ended.
    private var waiting: [Waiting] = []
    private var outgoing = ByteBuffer()
    private var isDirty = false
    private var backoff: Backoff
    private var isStopped = true
    /// Whether the connection ends when its last command is answered.
    private var isRetired = false
    /// Whether the first attempt to connect hasn't ended yet.
    private var isNew = true
    /// Grows with each attempt, so that late signals of an old one are ignored.
    private var attempt = 0
    private(set) var downCause = "the connection begins"
    private var nextRefusalLine = NIODeadline.distantPast
    private var nextCheck = NIODeadline.distantPast
    private(set) var isUp = false
    /// What the server says about itself.
    var facts = ServerFacts()
    /// How many commands were sent since the start, for measurements.
    private(set) var commandsSent = 0

    /// - Parameter scripts: the scripts that are loaded on every connection before it is used.
    init(
        to endpoint: RedisEndpoint, _ configuration: RedisConfiguration, as duty: Duty,
        credentials: RedisCredentials, scripts: [RedisScript] = [], on eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.duty = duty
        self.credentials = credentials
        self.scripts = scripts
        self.eventLoop = eventLoop
        self.logger = logger
        endOfTurn = EndOfTurn.shared(on: eventLoop)
        backoff = configuration.backoff
    }

    /// Connects. A started connection and its delegate live until `shutdown`.
    func start(delegate: any RedisConnectionDelegate) {
        self.delegate = delegate
        isStopped = false
        connect()
    }

    func shutdown() {
        isStopped = true
        lose("shut down")
        delegate = nil
    }

    /// Ends the connection when what was sent is answered.
    func retire() {
        isRetired = true
        if !isUp || open.isEmpty { shutdown() }
    }

    // MARK: - Commands

    /// Sends a command, or keeps it until the first attempt to connect has ended.
    ///
    /// - Parameter isAsking: whether the server is asked for a slot that is on its way to it.
    func send(_ command: RedisCommand, isAsking: Bool = false, _ done: @escaping Completion) {
        eventLoop.assertInEventLoop()
        guard !isStopped, isUp || isNew else { return done(.failure(.notConnected(downCause))) }
        guard open.count + waiting.count < configuration.commandsMax else {
            return done(.failure(.tooManyCommands(configuration.commandsMax)))
        }
        guard isUp else {
            return waiting.append(Waiting(command: command, isAsking: isAsking, done: done))
        }
        write(command, isAsking: isAsking, done)
    }

    /// If the server has forgotten a script, it gets the text again.
    private func write(_ command: RedisCommand, isAsking: Bool, _ done: @escaping Completion) {
        if isAsking { write(RedisCommand("ASKING")) { _ in } }
        guard let script = command.script, let hash = hashes[ObjectIdentifier(script)] else {
            return write(command, done)
        }
        write(command, hash: hash) { [self] outcome in
            guard case .failure(.refused(let text)) = outcome, text.hasPrefix("NOSCRIPT") else {
                return done(outcome)
            }
            if isAsking { write(RedisCommand("ASKING")) { _ in } }
            write(command, done)
        }
    }

    func write(_ command: RedisCommand, hash: String? = nil, _ done: @escaping Completion) {
        command.encode(into: &outgoing, server: facts, hash: hash)
        commandsSent += 1
        open.append(Open(sent: endOfTurn.now, done: done))
        guard !isDirty else { return }
        isDirty = true
        endOfTurn.scheduleWrite(self)
    }

    // MARK: - Connecting

    private func connect() {
        attempt += 1
        let number = attempt
        configuration.dialer.dial(
            endpoint, configuration, for: RedisChannelHandler(self, attempt: number), on: eventLoop
        ) { self.lost(number, $0) }
    }

    func opened(_ number: Int, _ channel: any Channel) {
        guard number == attempt, !isStopped else { return channel.close(promise: nil) }
        self.channel = channel
        watch(number)
        logIn(number)
        if case .master = duty {
            check(number)
            loadScripts(number)
        }
        write(RedisCommand("PING")) { outcome in
            switch outcome {
            case .success: self.isReady(number)
            case .failure(.refused(let text)): self.lost(number, Self.refusal(text))
            case .failure: break
            }
        }
    }

    private func logIn(_ number: Int) {
        var steps: [RedisCommand] = []
        if let login = credentials.login { steps.append(login) }
        if case .master = duty, configuration.database != 0 {
            steps.append(RedisCommand("SELECT", RedisArgument(UInt64(configuration.database))))
        }
        for step in steps {
            write(step) { outcome in
                guard case .failure(.refused(let text)) = outcome else { return }
                self.lost(number, Self.refusal(text))
            }
        }
    }

    private static func refusal(_ text: String) -> String {
        let isOfLogin = ["WRONGPASS", "NOAUTH", "ERR AUTH"].contains { text.hasPrefix($0) }
        let advice = isOfLogin ? " (look at redis.user and redis.password)" : ""
        return "Redis refuses the connection: \(text)\(advice)"
    }

    /// Makes sure that the server may be used. Somebody may make it a replica or change its policy while we
    /// are connected.
    private func check(_ number: Int) {
        guard case .master(let isInCluster) = duty else { return }
        nextCheck = endOfTurn.now + .seconds(5)
        for (index, question) in ServerFacts.questions.enumerated() {
            write(question) { outcome in
                switch outcome {
                case .success(let reply):
                    self.facts.read(reply.string ?? "")
                    guard index == ServerFacts.questions.count - 1,
                        let cause = self.facts.cause(isClusterExpected: isInCluster)
                    else { return }
                    self.lost(number, cause)
                case .failure(.refused(let text)):
                    let isOfUser = text.hasPrefix("NOPERM")
                    self.lost(
                        number,
                        isOfUser
                            ? "Redis refuses INFO, which the user needs: \(text)" : Self.refusal(text))
                case .failure: break
                }
            }
        }
    }

    private func loadScripts(_ number: Int) {
        for script in scripts {
            write(RedisCommand("SCRIPT", "LOAD", .text(script.source))) { outcome in
                switch outcome {
                case .success(let reply): self.hashes[ObjectIdentifier(script)] = reply.string
                case .failure(.refused(let text)):
                    self.lost(number, "Redis refuses the script \(script.name): \(text)")
                case .failure: break
                }
            }
        }
    }

    private func isReady(_ number: Int) {
        guard number == attempt, channel != nil else { return }
        backoff.reset()
        isUp = true
        isNew = false
        logger.notice("connected to Redis", metadata: ["address": "\(endpoint)"])
        let waiting = self.waiting
        self.waiting = []
        for command in waiting { write(command.command, isAsking: command.isAsking, command.done) }
        delegate?.connectionIsUp(self)
        if isRetired, open.isEmpty { shutdown() }
    }

    // MARK: - Losing

    func isCurrent(_ number: Int) -> Bool { number == attempt }

    func lost(_ number: Int, _ cause: String, _ failure: RedisFailure = .disconnected) {
        guard number == attempt else { return }
        lose(cause, failure)
        guard !isStopped, !isRetired else { return }
        let wait = backoff.next(random: configuration.random())
        eventLoop.assumeIsolated().scheduleTask(in: .init(wait)) {
            if !self.isStopped, number + 1 == self.attempt { self.connect() }
        }
    }

    private func lose(_ cause: String, _ failure: RedisFailure = .disconnected) {
        attempt += 1
        channel?.close(promise: nil)
        channel = nil
        outgoing.clear()
        hashes = [:]
        facts = ServerFacts(configEpoch: facts.configEpoch)
        isNew = false
        let wasUp = isUp
        isUp = false
        if wasUp || cause != downCause {
            logger.log(
                level: isStopped ? .debug : .warning, "lost the connection to Redis",
                metadata: ["address": "\(endpoint)", "cause": "\(cause)"])
        }
        downCause = cause
        let failed = open
        let unsent = waiting
        open.removeAll()
        waiting = []
        // Readiness comes first: a caller whose command has failed may look at it.
        delegate?.connectionIsDown(self, "no connection to Redis at \(endpoint): \(cause)")
        for command in failed { command.done(.failure(failure)) }
        for command in unsent { command.done(.failure(.notConnected(cause))) }
    }

    /// Gives up the connection when its oldest command has waited too long.
    private func watch(_ number: Int) {
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) {
            guard number == self.attempt else { return }
            let limit = TimeAmount(self.configuration.commandTimeout)
            if let first = self.open.first, first.sent + limit <= self.eventLoop.now {
                return self.lost(
                    number, "no answer within \(self.configuration.commandTimeout)", .timedOut)
            }
            if self.isUp, self.nextCheck <= self.eventLoop.now { self.check(number) }
            self.watch(number)
        }
    }

    // MARK: - Answers

    func received(_ number: Int, _ reply: RedisReply) {
        guard number == attempt else { return }
        guard let command = open.popFirst() else {
            return lost(number, "Redis sent a reply that no command asked for")
        }
        delegate?.connectionAnswered(after: endOfTurn.now - command.sent)
        guard case .error(let text) = reply else {
            command.done(.success(reply))
            return endIfRetired(number)
        }
        logRefusal(text)
        command.done(.failure(.refused(text)))
        if isUp, text.hasPrefix("READONLY") { lost(number, "this is a replica now, not a master") }
        endIfRetired(number)
    }

    private func endIfRetired(_ number: Int) {
        if isRetired, isCurrent(number), open.isEmpty { shutdown() }
    }

    /// Callers say only that something can't be done. A Redis that refuses one command refuses many, so there
    /// is one line a second.
    private func logRefusal(_ text: String) {
        // A forgotten script is sent again, what a connection begins with is the cause of its end, and a
        // redirection is followed.
        guard isUp, !text.hasPrefix("NOSCRIPT"), Redirection(text, from: endpoint) == nil,
            endOfTurn.now >= nextRefusalLine
        else { return }
        nextRefusalLine = endOfTurn.now + .seconds(1)
        logger.warning(
            "Redis refused a command", metadata: ["address": "\(endpoint)", "cause": "\(text.prefix(200))"])
    }
}

extension RedisConnection: Flushable {
    func flushAtEndOfTurn() {
        isDirty = false
        guard let channel, outgoing.readableBytes > 0 else { return outgoing.clear() }
        channel.writeAndFlush(outgoing, promise: nil)
        outgoing = ByteBuffer()
    }
}
