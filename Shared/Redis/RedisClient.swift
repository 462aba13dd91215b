package import Logging
package import NIOCore
import RTMServiceLink

/// Receives what happens to the connections to Redis. All calls come on the client's event loop.
package protocol RedisClientDelegate: AnyObject {
    /// Every master is connected, and commands are accepted from now on. Some masters may be other ones than
    /// before, with other or older data. It is called again when there is a new master.
    func redisIsUp()
    /// A master isn't known or not connected. The client connects again by itself.
    func redisIsDown(_ cause: String)
}

/// Receives what is to be counted. All calls come on the client's event loop.
package protocol RedisObserver: AnyObject {
    /// A connection to a master is up, perhaps not for the first time.
    func redisConnected()
    func redisRedirected(_ kind: RedisRedirection)
    /// So many masters serve a slot.
    func redisHasMasters(_ count: Int)
    func redisAnswered(after time: TimeAmount)
}

/// Redis as its users see it, however it is deployed: finds the masters, keeps a connection to each, sends
/// every command to the master of its key, and completes it exactly once. It is confined to one event loop.
///
/// The commands to one master go out in their order. Commands to several masters of a Cluster overtake each
/// other, and one that was redirected comes later than those behind it. So who needs an order there waits for
/// the answers (`keepsOrder`).
package final class RedisClient {
    package typealias Completion = (Result<RedisReply, RedisFailure>) -> Void
    package typealias QuestionCompletion =
        (Result<RedisReply, RedisFailure>, _ answer: Result<RedisReply, RedisFailure>?) -> Void

    /// A command that has to be answered before the client is up.
    package struct Prelude {
        let command: RedisCommand
        let answered: (RedisReply) -> Void

        package init(_ command: RedisCommand, answered: @escaping (RedisReply) -> Void) {
            self.command = command
            self.answered = answered
        }
    }

    package let configuration: RedisConfiguration
    package let eventLoop: any EventLoop
    private let scripts: [RedisScript]
    private let logger: Logger
    let isCluster: Bool
    private var delegate: (any RedisClientDelegate)?
    package weak var observer: (any RedisObserver)?
    /// Makes the commands that are answered before the client is up. Set it before `start`.
    package var prelude: () -> [Prelude] = { [] }
    private var locator: any MasterLocator
    private(set) var slots = SlotMap()
    /// The next map, which is used when all its masters are connected.
    private var next: SlotMap?
    private var nextIsWaitedFor = NIODeadline.distantPast
    private var connections: [RedisEndpoint: RedisConnection] = [:]
    /// The connection to the only master; nil in a Cluster.
    private var only: RedisConnection?
    private(set) var isStopped = true
    private var isBeginning = false
    /// Whether the client was up since the start. From then on a Cluster is used as far as it is there.
    private var wasUp = false
    private var downCause = "not started"
    /// Commands in a Cluster without an answer.
    var commandsOpen = 0
    package private(set) var isUp = false
    /// Whether commands are sent. In a Cluster those for a master that is away fail, and the others don't.
    package var isUsable: Bool { isUp || isCluster && wasUp }

    /// - Parameter scripts: the scripts that are loaded on every connection before it is used.
    package init(
        _ configuration: RedisConfiguration, scripts: [RedisScript], on eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.configuration = configuration
        self.scripts = scripts
        self.eventLoop = eventLoop
        self.logger = logger
        switch configuration.deployment {
        case .server(let endpoint): (locator, isCluster) = (FixedMaster(endpoint), false)
        case .sentinel(let endpoints, let master):
            (locator, isCluster) = (MasterSearch(endpoints, master: master), false)
        case .cluster(let seeds): (locator, isCluster) = (ClusterMap(seeds: seeds), true)
        }
    }

    /// Whether commands are done in the order in which they are sent, so that a command is only done if all
    /// before it were.
    package var keepsOrder: Bool { !isCluster }

    /// How many commands were sent over the present connections, for measurements.
    package var commandsSent: Int { connections.values.reduce(0) { $0 + $1.commandsSent } }

    /// Connects. A started client and its delegate live until `shutdown`.
    package func start(delegate: any RedisClientDelegate) {
        self.delegate = delegate
        isStopped = false
        watch()
    }

    package func shutdown() {
        isStopped = true
        goDown("shut down")
        delegate = nil
        let all = connections.values
        (connections, only) = ([:], nil)
        for connection in all { connection.shutdown() }
    }

    // MARK: - Commands

    package func send(_ command: RedisCommand, _ done: @escaping Completion) {
        eventLoop.assertInEventLoop()
        guard isUsable else { return done(.failure(.notConnected(downCause))) }
        dispatch(command, done)
    }

    /// Runs a script. All its keys lie in one slot.
    package func run(
        _ script: RedisScript, keys: [String], _ arguments: [RedisArgument], _ done: @escaping Completion
    ) {
        send(RedisCommand(script, keys: keys, arguments), done)
    }

    /// Sends a command, and then asks the server that has done it, over the same connection: `WAIT`, for
    /// example.
    ///
    /// - Parameter done: gets both answers; the second one is nil if the command has failed.
    package func send(
        _ command: RedisCommand, thenAsk question: RedisCommand, _ done: @escaping QuestionCompletion
    ) {
        eventLoop.assertInEventLoop()
        guard isUsable else { return done(.failure(.notConnected(downCause)), nil) }
        guard !isCluster else { return attempt(command, thenAsk: question, done) }
        guard let only else { return done(.failure(.notConnected(downCause)), nil) }
        only.send(command) { outcome in
            guard case .success = outcome else { return done(outcome, nil) }
            only.send(question) { done(outcome, $0) }
        }
    }

    private func dispatch(_ command: RedisCommand, _ done: @escaping Completion) {
        guard isCluster else {
            guard let only else { return done(.failure(.notConnected(downCause))) }
            return only.send(command, done)
        }
        attempt(command, thenAsk: nil) { outcome, _ in done(outcome) }
    }

    // MARK: - Masters

    private var now: NIODeadline { eventLoop.now }

    /// Looks several times a second whether something has to be asked.
    private func watch() {
        guard !isStopped else { return }
        if next != nil || slots.masters.contains(where: { connections[$0]?.isUp != true }) { doubt() }
        perform(locator.passed(now))
        // After a while the next map counts all the same, and its masters are the cause.
        if let next, now > nextIsWaitedFor { change(to: next) }
        look()
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(50)) { [self] in watch() }
    }

    private func perform(_ actions: [LocatorAction]) {
        for action in actions {
            switch action {
            case .ask(let endpoint, let number): ask(endpoint, number)
            case .use(let next): use(next)
            }
        }
    }

    private func ask(_ endpoint: RedisEndpoint, _ number: Int) {
        let credentials =
            isCluster ? configuration.credentials : configuration.sentinelCredentials
        RedisQuestion.ask(
            locator.question, of: endpoint, configuration, credentials: credentials, on: eventLoop
        ) { [self] outcome in
            guard !isStopped else { return }
            switch outcome {
            case .success(let reply): perform(locator.answered(number, reply, now: now))
            case .failure(let failure): perform(locator.failed(number, failure.words, now: now))
            }
        }
    }

    /// The masters may be other ones by now, so they are looked for at once.
    package func doubt() { locator.doubted(now: now) }

    func moved(_ slot: Int, to master: RedisEndpoint) {
        perform(locator.moved(slot, to: master, now: now))
    }

    /// A node of a Cluster that doesn't know of a failover yet names a master that is gone. So a map that
    /// works is used until all masters of the next one are connected. What sentinels say has an epoch, and
    /// is used at once.
    private func use(_ map: SlotMap) {
        let areUp = map.masters.map { connection(to: $0).isUp }
        guard isCluster, cause == nil, areUp.contains(false) else { return change(to: map) }
        next = map
        nextIsWaitedFor = now + .init(configuration.commandTimeout)
        retireIdle()
    }

    private func change(to map: SlotMap) {
        let hasNewMaster =
            !Set(map.masters).isSubset(of: slots.masters) || map.configEpoch != slots.configEpoch
        (slots, next) = (map, nil)
        retireIdle()
        if !isCluster { only = map.masters.first.map { connection(to: $0) } }
        only?.facts.configEpoch = map.configEpoch
        observer?.redisHasMasters(map.masters.count)
        // A new master may lack what was written to its predecessor last.
        if isUp, hasNewMaster, cause == nil, !isBeginning { begin() }
        look()
    }

    private func retireIdle() {
        let wanted = Set(slots.masters + (next?.masters ?? []))
        for (endpoint, connection) in connections where !wanted.contains(endpoint) {
            connections[endpoint] = nil
            connection.retire()
        }
    }

    /// The connection to a master. It is made on demand.
    func connection(to endpoint: RedisEndpoint) -> RedisConnection {
        if let present = connections[endpoint] { return present }
        let fresh = RedisConnection(
            to: endpoint, configuration, as: .master(isInCluster: isCluster),
            credentials: configuration.credentials, scripts: scripts, on: eventLoop, logger: logger)
        connections[endpoint] = fresh
        fresh.start(delegate: self)
        return fresh
    }

    // MARK: - Up and down

    private func look() {
        if let cause { return goDown(cause) }
        if !isUp, !isBeginning { begin() }
    }

    /// What is missing; nil if every slot has a master that is connected.
    private var cause: String? {
        guard !slots.masters.isEmpty else { return locator.cause }
        for endpoint in slots.masters {
            if let connection = connections[endpoint], !connection.isUp {
                return "no connection to Redis at \(endpoint): \(connection.downCause)"
            }
        }
        return slots.unserved.map {
            "no master of the Redis Cluster serves slot \($0): "
                + "give every slot to a master (CLUSTER SHARDS shows them)"
        }
    }

    /// All masters are connected. The client is up when the preludes are answered.
    private func begin() {
        isBeginning = true
        var missing = 1
        var failure: RedisFailure?
        let answered: () -> Void = { [self] in
            missing -= 1
            guard missing == 0 else { return }
            isBeginning = false
            guard !isStopped, cause == nil else { return }
            if let failure { return goDown(failure.words) }
            goUp()
        }
        for step in prelude() {
            missing += 1
            dispatch(step.command) { outcome in
                switch outcome {
                case .success(let reply): step.answered(reply)
                case .failure(let cause): failure = cause
                }
                answered()
            }
        }
        answered()
    }

    private func goUp() {
        isUp = true
        wasUp = true
        delegate?.redisIsUp()
    }

    private func goDown(_ cause: String) {
        guard isUp || cause != downCause else { return }
        isUp = false
        downCause = cause
        delegate?.redisIsDown(cause)
    }
}

extension RedisClient: RedisConnectionDelegate {
    func connectionIsUp(_ connection: RedisConnection) {
        guard connections[connection.endpoint] === connection else { return }
        observer?.redisConnected()
        if let next, next.masters.allSatisfy({ connections[$0]?.isUp == true }) { change(to: next) }
        look()
    }

    func connectionIsDown(_ connection: RedisConnection, _ cause: String) {
        guard !isStopped, connections[connection.endpoint] === connection else { return }
        doubt()
        if slots.masters.contains(connection.endpoint) { goDown(cause) }
    }

    func connectionAnswered(after time: TimeAmount) { observer?.redisAnswered(after: time) }
}

extension RedisFailure {
    /// The failure as a clause for the operator.
    package var words: String {
        switch self {
        case .notConnected(let cause): cause
        case .tooManyCommands(let countMax): "\(countMax) commands wait for Redis"
        case .timedOut: "no answer in time"
        case .disconnected: "the connection was lost"
        case .refused(let text) where text.hasPrefix("NOREPLICAS"):
            "Redis refuses writes until enough of its replicas are up to date (min-replicas-to-write)"
        case .refused(let text): "Redis refuses a command: \(text)"
        }
    }
}
