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
/// doesn't know the events before its own fetches them first. The script also says when the channel is due
/// for a visit, so a sweep of any other node finds what a dead node has left in an outbox.
package final class RedisPresenceStore: PresenceStore {
    package var observer: (any PresenceStoreObserver)?
    let client: RedisClient
    let keys: RedisKeys
    let queries: RedisRosterQueries
    let members: RedisMemberIndex
    let rules: PresenceRules
    let time: RedisClock
    private let probe: ReadinessProbe?
    private let logger: Logger
    var announcedEvents = AnnouncedEvents()
    /// By part: when its data began.
    var births: [Int: UInt64] = [:]
    private(set) lazy var leases = RedisLeases(self)
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
        time = RedisClock(client: client, keys: keys, given: clock)
        self.probe = probe
        self.logger = logger
        probe?.notReady("no connection to Redis at \(redis.deployment) yet")
    }

    package func start() {
        client.prelude = { [weak time] in time?.prelude ?? [] }
        client.start(delegate: self)
    }

    /// The time in milliseconds, the same for all nodes.
    func clock() -> UInt64 { time.now() }

    package func shutdown() { client.shutdown() }

    package var isReady: Bool { client.isUp }
    var announcedChannels: Int { announcedEvents.count }
    /// How many commands were sent so far; benchmarks read it.
    package var commandsSent: Int { client.commandsSent }

    // MARK: - Changes

    /// Runs a roster script, hands its events to the observer, and completes with the script's answer.
    ///
    /// - Parameter link: over which an edge asks for the change.
    func change(
        _ channel: ChannelKey, _ script: RedisScript, _ arguments: [RedisArgument],
        over link: EdgeLink = .unknown, _ done: @escaping Completion<RosterReply>
    ) {
        let rules = self.rules.announce(in: channel.type)
        let head: [RedisArgument] = [
            RedisArgument(clock()), RedisArgument(UInt64(rules.announceMax)), RedisArgument(rules.interval),
            RedisArgument(rules.debounce), RedisArgument(.random(in: 1...UInt64.max)), .server(.history),
            .text(RedisKeys.field(channel)), RedisArgument(Self.claim), RedisArgument(link.number),
            RedisArgument(UInt64(rules.statesBytesMax)),
        ]
        let newest = keys.newestLink(under: link.lease, in: RedisKeys.part(of: channel))
        client.run(script, keys: keys.roster(channel) + [newest], head + arguments) { [self] outcome in
            switch outcome {
            case .failure(let failure): done(.failure(RTMError(failure)))
            case .success(let reply):
                guard let reply = RosterReply(reply) else { return done(.failure(RosterReply.unreadable)) }
                members.remove(reply.gone, channel)
                let isOlderLink = link != .unknown && reply.outcome == RosterReply.isOlderLink
                if isOlderLink { observer?.isOlder(link) }
                report(reply, channel) { failure in
                    let failure = failure ?? (isOlderLink ? .olderLink : nil)
                    done(failure.map { .failure($0) } ?? .success(reply))
                }
            }
        }
    }

    /// Reports the events up to the reply's last one, including earlier events of other nodes.
    private func report(_ reply: RosterReply, _ channel: ChannelKey, _ done: @escaping (RTMError?) -> Void) {
        announcedEvents.rosterSeen(channel, isEmpty: reply.isEmpty)
        let base = announcedEvents.base(channel, reply)
        let own = reply.events.filter { $0.sequence > base }
        guard reply.sequence > base, own.first?.sequence != base + 1 else {
            announceEvents(channel, reply, own)
            return done(nil)
        }
        let command = RedisCommand("LRANGE", .text(keys.roster(channel)[7]), "0", "-1")
        client.send(command) { [self] outcome in
            switch outcome {
            case .failure(let failure): done(RTMError(failure))
            case .success(let pending):
                let base = announcedEvents.base(channel, reply)
                let events = (pending.elements ?? []).compactMap(RosterReply.event)
                announceEvents(channel, reply, events.filter { $0.sequence > base })
                done(nil)
            }
        }
    }

    private func announceEvents(_ channel: ChannelKey, _ reply: RosterReply, _ events: RosterReply.Events) {
        announcedEvents.announced(channel, reply, events)
        // Events of an earlier run of Redis come first, under its source.
        let earlier = events.prefix { $0.source != reply.source }
        for event in earlier {
            let numbered = [(sequence: event.sequence, event: event.event)]
            observer?.rosterChanged(
                channel, NumberedEvents(source: event.source, events: numbered, isEmpty: false))
        }
        let present = events.dropFirst(earlier.count).map { (sequence: $0.sequence, event: $0.event) }
        guard !present.isEmpty || reply.isEmpty else { return }
        observer?.rosterChanged(
            channel, NumberedEvents(source: reply.source, events: present, isEmpty: reply.isEmpty))
    }

    package func acknowledge(
        _ channel: ChannelKey, of source: UInt64, through sequence: UInt64, at position: StreamPosition
    ) {
        let roster = keys.roster(channel)
        client.run(
            PresenceScripts.acknowledge, keys: [roster[4], roster[7], roster[11]],
            [
                RedisArgument(source), RedisArgument(sequence),
                .text("\(position.epoch) \(position.offset)"),
            ]
        ) { _ in
            // If it fails, the event stays in the outbox and is appended again, and messaging knows it then.
        }
        announcedEvents.acknowledged(channel, of: source, through: sequence)
    }
}

extension RedisPresenceStore: RedisClientDelegate {
    package func redisIsUp() {
        leases.dataWereLost()
        probe?.ready()
    }

    package func redisIsDown(_ cause: String) { probe?.notReady(cause) }
}

extension RTMError {
    /// The error that the client of a call gets. The address and the words of Redis are for the operator
    /// alone: they are in the log and in `/ready`.
    init(_ failure: RedisFailure) {
        switch failure {
        case .notConnected, .refused:
            self.init(
                .presenceOperationFailed, "presence can't write or read at the moment",
                retryAfter: .seconds(1))
        case .tooManyCommands(let countMax):
            self.init(
                .presenceOperationFailed, "too many calls wait for presence", retryAfter: .seconds(1),
                limit: .init(name: "commands that wait for presence", value: UInt64(countMax)))
        case .timedOut, .disconnected:
            self.init(
                .presenceOperationTimeout,
                "presence did not answer in time; it is not known whether the call was done",
                retryAfter: .seconds(1))
        }
    }
}
