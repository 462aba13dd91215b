import NIOCore

@testable import RTMTestKit

/// What happens to several messaging nodes and to their Redis.
///
/// In some seeds only one thing fails at a time, and the next one when the last is long over. Then nothing
/// may be lost, and nobody may be told of a gap. In the others anything fails while anything else does.
final class CompanyFaults {
    enum Kind: CaseIterable {
        case killNode, pauseNode, drainNode, killAll, restartAll
        /// Redis is restarted while a node hands over what it leads to another one.
        case restartRedisAtDrain
        /// A node and Redis don't learn of each other; edges learn of both.
        case blockRedis, cutRedis
        case restartRedis, emptyRedis, rollBackRedis, failOverRedis, flushRedis, slowRedis, hangRedis
        /// A master that was replaced is the master again, with the data from before.
        case returnRedis
        /// An edge and a node don't learn of each other; other nodes learn of both.
        case cutEdge
    }

    /// After the end of a fault, until a next one counts as another one: leases have ended, the journal is
    /// written again, and shards have moved.
    private static let aftermath = 20_000

    private let installation: Installation
    private let redis: RedisProcess
    private let random: RandomStream
    private let kinds: [Kind]
    private let pace: Int
    let isOneAtATime: Bool
    private var isOver = false
    private var lastNumber = 0
    private var underWay: Set<Int> = []

    init?(_ installation: Installation) {
        guard let redis = installation.redis else { return nil }
        self.installation = installation
        self.redis = redis
        let random = installation.world.random("company faults")
        self.random = random
        isOneAtATime = random.chance(2, in: 3)
        // A network on which leases end by themselves would be one more thing that fails.
        if isOneAtATime {
            installation.network.sheltered = Set(RedisProcess.hosts + [RedisProcess.sentinel])
        }
        let some = Kind.allCases.filter { _ in random.chance(1, in: 3) }
        kinds = some.isEmpty ? Kind.allCases : some
        pace = random.number(in: 2_000...15_000)
    }

    func begin() {
        let described = kinds.map { "\($0)" }.joined(separator: ", ")
        note("faults of messaging: \(described)" + (isOneAtATime ? ", one at a time" : ""))
        installation.world.after(.seconds(5)) { self.next() }
    }

    private func next() {
        installation.world.after(random.milliseconds(1...2 * pace)) {
            guard !self.isOver else { return }
            let isFree = !self.isOneAtATime || self.underWay.isEmpty
            if isFree, let kind = self.random.pick(self.kinds) { self.strike(kind) }
            self.next()
        }
    }

    /// Moves leaders, unless something else is under way where only one thing may fail at a time.
    func moveLeaders() {
        guard !isOver, !isOneAtATime || underWay.isEmpty else { return }
        let kinds: [Kind] = [.killNode, .pauseNode, .drainNode, .restartAll]
        if let kind = random.pick(kinds) { strike(kind) }
    }

    /// Nothing more happens, and what has happened is repaired.
    func end() {
        isOver = true
        redis.start()
        redis.cost = 20...200
        for host in installation.messagingHosts {
            installation.messaging[host]?.resume()
            installation.startMessaging(host)
        }
        for number in underWay.sorted() { installation.journal.record(.calm(-number)) }
        underWay = []
    }

    private func note(_ what: String) { installation.journal.record(.fault(what)) }

    /// What is to be called when it is over.
    private func disturb(_ what: String) -> () -> Void {
        lastNumber += 1
        let number = lastNumber
        underWay.insert(number)
        installation.journal.record(.disturbed(-number, what))
        return { [self] in
            guard !isOver else { return }
            installation.journal.record(.calm(-number))
            installation.world.after(.milliseconds(Int64(Self.aftermath))) { self.underWay.remove(number) }
        }
    }

    private func after(_ longest: Int..., do task: @escaping () -> Void) {
        let most = random.pick(longest) ?? 0
        installation.world.after(random.milliseconds(0...most)) { if !self.isOver { task() } }
    }

    // MARK: -

    private func strike(_ kind: Kind) {
        guard let host = random.pick(installation.messagingHosts) else { return }
        switch kind {
        case .killNode: kill([host])
        case .killAll: kill(installation.messagingHosts)
        case .pauseNode: pause(host)
        case .drainNode: drain([host], disturb("\(host) is restarted"))
        case .restartAll: drain(installation.messagingHosts, disturb("every node is restarted in turn"))
        case .restartRedisAtDrain: restartRedis(whileDraining: host)
        case .blockRedis: block(host)
        case .cutRedis:
            let over = disturb("\(host) loses its connections to Redis")
            installation.network.cut(host, redis.host)
            over()
        case .restartRedis: restart("Redis is restarted", .withEverything)
        case .emptyRedis: restart("Redis is restarted without its data", .empty)
        case .rollBackRedis:
            restart("Redis is rolled back", .older(milliseconds: random.number(in: 50...2_000)))
        case .failOverRedis: failOver()
        case .flushRedis:
            let over = disturb("all data are deleted in Redis")
            redis.flush()
            over()
        case .slowRedis:
            let over = disturb("Redis is slow")
            redis.cost = random.pick([5_000...30_000, 100_000...400_000]) ?? 5_000...30_000
            after(2_000, 20_000) {
                self.redis.cost = 20...200
                self.installation.world.after(self.redis.backlog) { over() }
            }
        case .hangRedis: hang()
        case .returnRedis: returnFormerMaster()
        case .cutEdge: cutEdge(from: host)
        }
    }

    /// For up to a minute.
    private func cutEdge(from host: Host) {
        guard let edge = random.pick(installation.edgeHosts) else { return }
        let over = disturb("\(edge) and \(host) don't hear of each other")
        let way = Way(from: edge, to: host)
        let ways = random.pick([[way], [way.back], [way, way.back]]) ?? [way]
        for way in ways { installation.network.block(way) }
        after(3_000, 60_000, 60_000) {
            for way in ways { self.installation.network.unblock(way) }
            over()
        }
    }

    private func kill(_ hosts: [Host]) {
        let over = disturb("killed: \(hosts)")
        for host in hosts { installation.killMessaging(host, silently: random.chance(1, in: 3)) }
        after(100, 5_000, 30_000) {
            for host in hosts { self.installation.startMessaging(host) }
            over()
        }
    }

    private func pause(_ host: Host) {
        guard let node = installation.messaging[host] else { return }
        let over = disturb("\(host) stands still")
        node.pause()
        after(500, 3_000, 30_000) {
            self.note("\(host) goes on")
            node.resume()
            over()
        }
    }

    /// One after the other, each comes back before the next one goes.
    private func drain(_ hosts: [Host], _ over: @escaping () -> Void) {
        guard let host = hosts.first else { return over() }
        note("\(host) drains")
        installation.drainMessaging(host)
        // A drain has its limit; so long a process may take at most.
        installation.world.after(random.milliseconds(4_000...6_000)) {
            self.installation.killMessaging(host, silently: false)
            // It may have begun to drain right before everything was healed.
            guard !self.isOver else { return self.installation.startMessaging(host) }
            self.after(100, 5_000) {
                self.installation.startMessaging(host)
                self.installation.world.after(.seconds(5)) { self.drain(Array(hosts.dropFirst()), over) }
            }
        }
    }

    private func restartRedis(whileDraining host: Host) {
        guard installation.messagingHosts.count > 1 else { return }
        let older = RedisProcess.Comeback.older(milliseconds: random.number(in: 50...2_000))
        let comeback = random.pick([.withEverything, .empty, older]) ?? .empty
        let over = disturb("\(host) is restarted, and Redis meanwhile")
        installation.drainMessaging(host)
        installation.world.after(random.milliseconds(0...1_500)) {
            self.note("Redis is restarted: \(comeback)")
            self.redis.kill(silently: false, comeback)
            self.installation.world.after(self.random.milliseconds(20...200)) { self.redis.start() }
        }
        installation.world.after(.seconds(14)) {
            self.installation.killMessaging(host, silently: false)
            self.installation.startMessaging(host)
            over()
        }
    }

    private func block(_ host: Host) {
        let over = disturb("\(host) and Redis don't hear of each other")
        let way = Way(from: host, to: redis.host)
        let ways = random.pick([[way], [way.back], [way, way.back]]) ?? [way]
        for way in ways { installation.network.block(way) }
        after(500, 3_000, 30_000) {
            for way in ways { self.installation.network.unblock(way) }
            over()
        }
    }

    private func restart(_ what: String, _ comeback: RedisProcess.Comeback) {
        let over = disturb(what)
        redis.kill(silently: false, comeback)
        after(100, 3_000, 20_000) {
            self.redis.start()
            self.note("Redis is back")
            over()
        }
    }

    /// A replica that lags takes the place of a machine that is gone.
    private func failOver() {
        let over = disturb("Redis fails over")
        redis.kill(silently: true, .older(milliseconds: random.number(in: 0...500)))
        after(2_000, 10_000) {
            self.redis.start()
            self.note("another Redis is there")
            over()
        }
    }

    /// The sentinel chooses the other server, in half of the cases because the master stands still, and soon
    /// chooses the first one again: the same process, which has taken writes meanwhile.
    private func returnFormerMaster() {
        let over = disturb("another Redis is chosen, and then the first one again")
        let isPaused = random.chance(1, in: 2)
        let pause = random.milliseconds(1_000...6_000)
        if isPaused { redis.hang(for: pause) }
        // Sentinels come late.
        let late = TimeAmount.seconds(20)
        installation.world.after(random.milliseconds(isPaused ? 500...3_000 : 0...0)) {
            self.redis.chooseOther(lag: self.random.number(in: 0...500), replicatedAfter: late)
            self.installation.world.after(self.random.milliseconds(500...12_000)) {
                guard !self.isOver else { return }
                self.note("the first Redis is the master again")
                self.redis.chooseOther(lag: 0, replicatedAfter: late)
                self.installation.world.after(.seconds(1)) { over() }
            }
        }
    }

    private func hang() {
        let over = disturb("Redis doesn't answer")
        let time = random.milliseconds(200...(random.pick([1_000, 5_000, 20_000]) ?? 1_000))
        redis.hang(for: time)
        installation.world.after(time) { over() }
    }
}
