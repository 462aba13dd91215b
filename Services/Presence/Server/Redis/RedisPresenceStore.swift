package import Logging
package import NIOCore
package import RTMModel
package import RTMRedis
package import RTMServiceKit
import RTMWire

/// The rosters in Redis, for any number of presence nodes (docs/presence-redis.md).
///
/// Every change of a roster is one script. The script also numbers the events and puts them into the
/// channel's outbox, where they stay until they are in the log. So it doesn't matter which node makes a
/// change and which one appends its events: all nodes use the roster's source and numbers, and a node that
/// doesn't know the events before its own fetches them first. A channel is marked as due before it is
/// changed, so the next sweep of any other node finds what a dead node has left in an outbox.
package final class RedisPresenceStore: PresenceStore {
    package var observer: (any PresenceStoreObserver)?
    let client: RedisClient
    let keys: RedisKeys
    let queries: RedisRosterQueries
    let members: RedisMemberIndex
    let rules: PresenceRules
    private var shared = SharedClock()
    /// A clock that tests move; nil stands for the clock that all nodes share.
    private let given: (() -> UInt64)?
    /// Which run of the Redis server the connection leads to.
    private var run = ""
    private let probe: ReadinessProbe?
    private let logger: Logger
    private var told = ToldEvents()
    /// Leases whose members were reported over the present connection to Redis. All other leases may have
    /// changed while the connection was away, so their edges are asked to report their members.
    var trustedLeases: Set<UInt64> = []
    /// By lease: the losses that are under way at this node.
    var losses: [UInt64: [LeaseLoss]] = [:]
    /// When the data in Redis began. After Redis has lost all data, edges fill the rosters without events.
    var born: UInt64?
    /// Before this time no lease ends, because edges couldn't renew their leases while Redis or this node was
    /// away.
    var leasesEndFrom: UInt64 = 0
    package internal(set) var totals = PresenceTotals()

    /// - Parameter clock: the time in milliseconds, for tests; nil stands for the clock that all nodes share.
    package init(
        _ redis: RedisConfiguration, prefix: String, rules: PresenceRules, on eventLoop: any EventLoop,
        probe: ReadinessProbe?, logger: Logger, clock: (() -> UInt64)? = nil
    ) {
        client = RedisClient(redis, scripts: PresenceScripts.all, on: eventLoop, logger: logger)
        keys = RedisKeys(prefix: prefix)
        queries = RedisRosterQueries(client: client, keys: keys)
        members = RedisMemberIndex(client: client, keys: keys)
        self.rules = rules
        given = clock
        self.probe = probe
        self.logger = logger
        probe?.notReady("no connection to Redis at \(redis.place) yet")
    }

    package func start() {
        client.prelude = { [unowned self] in
            [
                RedisClient.Prelude("INFO", "server") { self.run = Self.runID(in: $0.string ?? "") },
                RedisClient.Prelude(timeQuestion) { self.timeAnswered($0, isFirst: true) },
            ]
        }
        client.start(delegate: self)
    }

    /// The line of `INFO server` that names this run of the server.
    private static func runID(in text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("run_id:") }
        return line.map { String($0.dropFirst("run_id:".count)) } ?? ""
    }

    /// The time in milliseconds, the same for all nodes.
    func clock() -> UInt64 { given?() ?? shared.now(local: Self.local) }

    /// The clock of this process, which nobody sets.
    private static var local: UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }

    /// The longest step of the shared clock between two answers. It is much longer than a sweep takes.
    private static let stepMax: UInt64 = 5_000

    private var timeQuestion: RedisCommand {
        RedisCommand(
            "EVAL", .text(PresenceScripts.clock.source), "1", .text(keys.clock), RedisArgument(Self.stepMax))
    }

    private func timeAnswered(_ reply: RedisReply, isFirst: Bool) {
        guard let time = reply.number else { return }
        shared.set(time, local: Self.local, isFirst: isFirst)
    }

    /// Asks Redis for the time again, because the clocks of two machines drift apart.
    func setClock() {
        client.run(PresenceScripts.clock, keys: [keys.clock], [RedisArgument(Self.stepMax)]) {
            [self] outcome in
            if case .success(let reply) = outcome { timeAnswered(reply, isFirst: false) }
        }
    }

    package func shutdown() { client.shutdown() }

    package var isReady: Bool { client.isUp }
    var channelsTold: Int { told.count }
    /// How many commands were sent so far; benchmarks read it.
    package var commandsSent: Int { client.commandsSent }

    // MARK: - Changes

    /// Runs a roster script, hands its events to the observer, and completes with the script's answer.
    func change(
        _ channel: ChannelKey, _ script: RedisScript, _ arguments: [RedisArgument],
        marksDue: Bool = true, _ done: @escaping Completion<RosterReply>
    ) {
        let now = clock()
        if marksDue {
            // The mark comes first: if this node dies halfway, another one looks after the channel.
            send("ZADD", .text(keys.due), "LT", RedisArgument(now), .text(RedisKeys.field(channel)))
        }
        let rules = self.rules.announce
        let head: [RedisArgument] = [
            RedisArgument(now), RedisArgument(UInt64(rules.announceMax)), RedisArgument(rules.interval),
            RedisArgument(rules.debounce), RedisArgument(.random(in: 1...UInt64.max)), .text(run),
        ]
        client.run(script, keys: keys.roster(channel), head + arguments) { [self] outcome in
            switch outcome {
            case .failure(let failure): done(.failure(RTMError(failure)))
            case .success(let reply):
                guard let reply = RosterReply(reply) else { return done(.failure(RosterReply.unreadable)) }
                members.remove(reply.gone, channel)
                report(reply, channel) { failure in
                    done(failure.map { .failure($0) } ?? .success(reply))
                }
            }
        }
    }

    /// Reports the events up to the reply's last one, including earlier events of other nodes.
    private func report(_ reply: RosterReply, _ channel: ChannelKey, _ done: @escaping (RTMError?) -> Void) {
        told.rosterSeen(channel, isEmpty: reply.isEmpty)
        let base = told.base(channel, reply)
        let own = reply.events.filter { $0.sequence > base }
        guard reply.sequence > base, own.first?.sequence != base + 1 else {
            tell(channel, reply, own)
            return done(nil)
        }
        let command = RedisCommand("LRANGE", .text(keys.roster(channel)[7]), "0", "-1")
        client.send(command) { [self] outcome in
            switch outcome {
            case .failure(let failure): done(RTMError(failure))
            case .success(let pending):
                let base = told.base(channel, reply)
                let events = (pending.elements ?? []).compactMap(RosterReply.event)
                tell(channel, reply, events.filter { $0.sequence > base })
                done(nil)
            }
        }
    }

    private func tell(_ channel: ChannelKey, _ reply: RosterReply, _ events: RosterReply.Events) {
        told.tell(channel, reply, events)
        guard !events.isEmpty || reply.isEmpty else { return }
        observer?.rosterChanged(
            channel, NumberedEvents(source: reply.source, events: events, isEmpty: reply.isEmpty))
    }

    func forgetIdle() { told.forgetIdle(now: clock()) }

    package func acknowledge(_ channel: ChannelKey, through sequence: UInt64, at position: StreamPosition) {
        guard let source = told.source(of: channel) else { return }
        let roster = keys.roster(channel)
        client.run(
            PresenceScripts.acknowledge, keys: [roster[4], roster[7]],
            [
                RedisArgument(source), RedisArgument(sequence),
                .text("\(position.epoch) \(position.offset)"),
            ]
        ) { _ in
            // If it fails, the event stays in the outbox and is appended again, and messaging knows it then.
        }
        told.acknowledged(channel, through: sequence)
    }

    /// Sends a command whose answer changes nothing: when the connection is lost, all other commands fail,
    /// too.
    func send(_ arguments: RedisArgument...) { client.sendOnly(arguments) }
}

extension RedisPresenceStore: RedisClientDelegate {
    package func redisIsUp() {
        trustedLeases = []
        leasesEndFrom = clock() + min(rules.grace, rules.leaseTimeToLive)
        readBirth()
        probe?.ready()
    }

    package func redisIsDown(_ cause: String) { probe?.notReady(cause) }
}

extension RTMError {
    init(_ failure: RedisFailure) {
        switch failure {
        case .notConnected(let cause):
            self.init(
                .presenceOperationFailed, "presence has no connection to Redis: \(cause)",
                retryAfter: .seconds(1))
        case .tooManyCommands(let countMax):
            self.init(
                .presenceOperationFailed, "too many commands wait for Redis", retryAfter: .seconds(1),
                limit: .init(name: "Redis commands", value: UInt64(countMax)))
        case .timedOut, .disconnected:
            self.init(
                .presenceOperationTimeout, "Redis did not answer; it is not known whether the call was done",
                retryAfter: .seconds(1))
        case .refused(let text):
            self.init(.presenceOperationFailed, "Redis refused the call: \(text.prefix(80))")
        }
    }
}
