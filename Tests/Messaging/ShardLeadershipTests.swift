import NIOCore
import RTMRedis
import RTMTestSupport
import Testing

@testable import RTMMessagingServer

/// The journal under everything that may happen to two nodes and to Redis, in virtual time.
@Suite("The journal and who leads") struct ShardLeadershipTests {
    private static let limits = JournalLimits(
        lease: 1_000, retention: 1_000_000, bytesMax: .max, backlogMax: .max)

    @Test(
        "what was told to others is in the memory of every later leader, in order, or the logs begin anew",
        arguments: 0..<400 as Range<UInt64>)
    func history(seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        for _ in 0..<400 { world.step() }
        #expect(world.faults == [])
        world.calm()
        #expect(world.faults == [])
        #expect(world.leaders.count == 1, "somebody leads when everything is well again")
    }

    @Test("a leader whose lease is over goes on if nobody else has taken the lead")
    func lateRenewal() {
        var world = JournalWorld(seed: 1, Self.limits)
        world.nodes[1].sleepsUntil = .max
        world.run(for: 1_500)
        world.nodes[0].sleepsUntil = world.now + 5_000
        world.run(for: 6_000)
        #expect(world.leaders == [0] && world.terms == 1)
    }

    @Test("a leader that hands over writes everything first, and the successor needn't wait")
    func handOver() {
        var world = JournalWorld(seed: 3, Self.limits)
        world.nodes[1].machine.patience = 5_000
        world.nodes[1].sleepsUntil = 1_200
        world.run(for: 1_400)
        #expect(world.leaders == [0])
        world.publishAndHandOver(from: 0)
        world.run(for: 600)
        #expect(world.leaders == [1] && world.faults == [])
        #expect(world.nodes[1].memory == [1, 2], "what waited was written before the lease ended")
        #expect(world.told == [1, 2])
    }

    @Test("a leader that waits too long for Redis takes in again what it should hand over")
    func impatient() {
        var machine = ShardLeadership(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        _ = machine.taken(.taken(term, last: 0, isWhole: true, after: 0), now: 0)
        guard case .append(let append)? = machine.gathered(ByteBuffer(string: "a"), now: 0).first else {
            Issue.record("no batch")
            return
        }
        #expect(machine.handOver(to: "b", isLast: false, now: 10) == [.offer(token: 5, to: "b")])
        #expect(machine.offered(to: "b", under: 5, 0, now: 11) == [.leave])
        #expect(machine.passed(now: 1_010, random: 6) == [])
        #expect(machine.passed(now: 1_011, random: 6) == [.stay])
        #expect(machine.appended(append, .done, now: 1_020, random: 7) == [.release(1)])
    }

    @Test("a leader that can't hand over goes on")
    func staying() {
        var machine = ShardLeadership(Self.limits)
        machine.lead(at: 0)
        #expect(machine.handOver(to: "b", isLast: false, now: 0) == [.offer(token: 5, to: "b")])
        let handOver = LeadershipEffect.handOver(token: 5, last: 0, to: "b")
        #expect(machine.offered(to: "b", under: 5, 0, now: 0) == [.leave, handOver])
        let reinstate = LeadershipEffect.reinstate(token: 7, before: 5, empties: false, isWhole: false)
        #expect(machine.handedOver(.lost, now: 1, random: 7) == [.stay, reinstate])
        #expect(machine.reinstated(.done(last: 0), now: 2, random: 8) == [] && machine.isLeading)
        #expect(machine.handOver(to: "b", isLast: false, now: 2).count == 1, "it may be tried again")
    }

    @Test("a leader whose successor may lead keeps what it has until the successor does")
    func parting() {
        var machine = ShardLeadership(Self.limits)
        machine.lead(at: 0)
        _ = machine.handOver(to: "b", isLast: false, now: 0)
        let handOver = LeadershipEffect.handOver(token: 5, last: 0, to: "b")
        #expect(machine.offered(to: "b", under: 5, 0, now: 0) == [.leave, handOver])
        #expect(machine.handedOver(.done, now: 1, random: 7) == [.part])
        #expect(machine.passed(now: 2, random: 7) == [handOver])
        #expect(machine.handedOver(.done, now: 3, random: 7) == [])
        #expect(machine.passed(now: 4, random: 7) == [handOver])
        #expect(
            machine.handedOver(.ended, now: 5, random: 7) == [.stepDown("another node was asked to lead")])
        #expect(!machine.isLeading)
    }

    @Test("a leader that another node replaced keeps what it has for a lease")
    func replaced() {
        var machine = ShardLeadership(Self.limits)
        machine.lead(at: 0, last: 9)
        #expect(machine.appended(.renewal(of: 5, last: 9), .ended, now: 10, random: 6) == [.part])
        let ask = LeadershipEffect.handOver(token: 5, last: 9, to: "")
        for now in stride(from: 20 as UInt64, to: 1_010, by: 100) {
            #expect(machine.passed(now: now, random: 6) == [ask])
            #expect(machine.handedOver(.ended, now: now, random: 7) == [])
        }
        #expect(machine.passed(now: 1_010, random: 6) == [ask])
        #expect(machine.handedOver(.ended, now: 1_010, random: 7) == [.stepDown("another node leads")])
        #expect(!machine.isLeading)
    }

    @Test(
        "a leader goes on if the Redis in which another node replaced it was itself replaced by an older one")
    func replacedInLostRedis() {
        var machine = ShardLeadership(Self.limits)
        machine.lead(at: 0, last: 9)
        #expect(machine.appended(.renewal(of: 5, last: 9), .ended, now: 10, random: 6) == [.part])
        _ = machine.passed(now: 20, random: 6)
        #expect(machine.handedOver(.unknown, now: 900, random: 7) == [], "the connection was lost")
        _ = machine.passed(now: 1_100, random: 6)
        #expect(machine.handedOver(.lost, now: 1_100, random: 7) == [], "the other node may live and say so")
        _ = machine.passed(now: 2_100, random: 6)
        #expect(
            machine.handedOver(.lost, now: 2_100, random: 7)
                == [.stay, .reinstate(token: 7, before: 5, empties: false, isWhole: false)])
        _ = machine.reinstated(.done(last: 9), now: 2_110, random: 8)
        #expect(machine.isLeading && machine.lead?.written == 9)
    }

    @Test(
        "a Redis that gave another node the lead and was replaced before the node heard of it loses no message",
        arguments: 0..<80 as Range<UInt64>)
    func takeUnheard(seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        world.publishTwice(at: world.leaders[0])
        world.run(for: 500)
        world.takeUnheard()
        world.run(for: 25 * (seed % 4))
        world.lose(.restart)
        world.run(for: 8_000)
        #expect(world.faults == [] && world.leaders.count == 1)
        #expect(world.told == [1, 2] && world.begun == 1, "no new logs")
    }

    @Test("a successor that doesn't read is not waited for: the leader goes on, or ends without it")
    func absentHeir() {
        var staying = ShardLeadership(Self.limits)
        staying.lead(at: 0, last: 9)
        _ = staying.handOver(to: "b", isLast: false, now: 0)
        #expect(staying.offered(to: "b", under: 5, 0, now: 1) == [])
        #expect(staying.passed(now: 500, random: 6).contains(.offer(token: 5, to: "b")))
        #expect(staying.offered(to: "b", under: 5, 0, now: 501) == [])
        #expect(!staying.passed(now: 1_000, random: 6).contains(.offer(token: 5, to: "b")))
        var ending = ShardLeadership(Self.limits)
        ending.lead(at: 0, last: 9)
        _ = ending.handOver(to: "b", isLast: true, now: 0)
        #expect(ending.offered(to: "b", under: 5, 0, now: 1) == [])
        #expect(ending.passed(now: 1_000, random: 6).first == .leave)
        let handOver = LeadershipEffect.handOver(token: 5, last: 9, to: "")
        #expect(ending.appended(.renewal(of: 5, last: 9), .done, now: 1_001, random: 6) == [handOver])
        #expect(ending.handedOver(.done, now: 1_003, random: 7).count == 1)
    }

    /// What may happen to Redis while a lead is handed over.
    enum Loss: CaseIterable { case restart, empty, flush, rollBack }

    @Test(
        "a Redis that loses its data while the lead is handed over loses no message",
        arguments: Loss.allCases, 0..<80 as Range<UInt64>)
    func lossDuringHandover(loss: Loss, seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        world.keepSnapshot()
        world.publishAndHandOver(from: world.leaders[0])
        world.run(for: 25 * (seed % 20))
        world.lose(loss)
        world.run(for: 8_000)
        #expect(world.faults == [] && world.leaders.count == 1)
        #expect(world.told == [1, 2] && world.begun == 1, "no new logs")
    }

    @Test(
        "a leader that is to end while Redis is refused waits for it, and no message is lost",
        arguments: Loss.allCases, 0..<40 as Range<UInt64>)
    func endWithoutRedis(loss: Loss, seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        world.keepSnapshot()
        let leader = world.leaders[0]
        world.publishTwice(at: leader)
        world.run(for: 25 * (seed % 8))
        world.isRedisAway = true
        world.run(for: 25 * (seed % 5))
        world.end(leader, within: 20_000)
        world.run(for: 300 * seed)
        #expect(world.leaders == [leader], "it waits")
        world.lose(loss)
        world.isRedisAway = false
        world.run(for: 10_000)
        #expect(world.faults == [] && world.leaders == [1 - leader] && world.nodes[leader].hasEnded)
        #expect(world.told == [1, 2] && world.begun == 1, "no new logs")
    }

    @Test("a leader whose Redis never comes back ends two seconds before its process has to")
    func endAlone() {
        var farewell = GracefulStepDown(within: 20_000, now: 100)
        #expect(farewell.passed(isLeading: true, isRedisUsable: true, now: 100) == .wait)
        #expect(farewell.passed(isLeading: true, isRedisUsable: false, now: 200) == .report)
        #expect(farewell.passed(isLeading: true, isRedisUsable: false, now: 18_099) == .wait)
        #expect(farewell.passed(isLeading: true, isRedisUsable: false, now: 18_100) == .giveUp)
        #expect(farewell.passed(isLeading: false, isRedisUsable: false, now: 300) == .end)
        farewell = GracefulStepDown(within: 0, now: 100)
        #expect(farewell.passed(isLeading: true, isRedisUsable: false, now: 100) == .giveUp)
    }

    @Test(
        "a node that hears of the later lead while it hands over takes nothing from it",
        arguments: 0..<100 as Range<UInt64>)
    func lateWord(seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        let leader = world.leaders[0]
        world.publishAndHandOver(from: leader)
        for _ in 0..<40 {
            world.run(for: 25)
            world.tell(leader)
        }
        #expect(world.faults == [] && world.told == [1, 2] && world.begun == 1)
        #expect(world.leaders == [1 - leader])
    }

    @Test("a successor in whose journal the leader cuts off what comes next reads from the beginning again")
    func hole() {
        var machine = ShardLeadership(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        let prepared = [LeadershipEffect.prepare(term), .read(token: 9, after: 0)]
        #expect(machine.taken(.successor(of: 9, term, last: 40), now: 0) == prepared)
        #expect(
            machine.pageRead([(1, 1), (2, 1)], hasHeads: true, now: 1, random: 6)
                == [.read(token: 9, after: 2)])
        #expect(machine.pageRead([(8, 1)], hasHeads: true, now: 2, random: 6) == [.forget])
        _ = machine.passed(now: 100, random: 7)
        #expect(machine.taken(.successor(of: 9, term, last: 40), now: 100) == prepared)
    }

    @Test("a successor with much to read tells the leader how far it is")
    func slowHeir() {
        var machine = ShardLeadership(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        _ = machine.taken(.successor(of: 9, term, last: 40), now: 0)
        #expect(
            machine.pageRead([(1, 1), (2, 1)], hasHeads: true, now: 300, random: 6) == [
                .take(token: 6, begins: false, patience: 0, ahead: JournalPosition(leader: 9, last: 2))
            ])
        #expect(machine.taken(.successor(of: 9, term, last: 41), now: 301) == [.read(token: 9, after: 2)])
    }

    @Test("what gathers is cut into batches, and each is waited for under a number of its own")
    func cut() {
        var lead = JournalWriter(
            JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3), token: 5, written: 0, now: 0)
        let half = ByteBuffer(repeating: 1, count: JournalWriter.batchBytesMax / 2)
        var numbers: [UInt64] = []
        for _ in 0..<5 {
            numbers.append(lead.gatheringNumber)
            lead.gathered(half)
        }
        #expect(numbers == [1, 1, 2, 2, 3])
        var written: [(number: UInt64, bytes: Int)] = []
        while let append = lead.next(Self.limits, now: 0) {
            guard case .gathered(let number) = lead.done(now: 0) else { break }
            written.append((number, append.bytes.readableBytes))
        }
        #expect(written.map(\.number) == [1, 2, 3])
        #expect(written.map(\.bytes) == [2, 2, 1].map { $0 * half.readableBytes })
        #expect(lead.isWritten)
    }

    @Test(
        "a node that is alone begins when there was no journal for a while, and its journal takes what it says"
    )
    func alone() {
        var machine = ShardLeadership(Self.limits)
        #expect(
            machine.passed(now: 0, random: 4) == [.take(token: 4, begins: false, patience: 0, ahead: nil)])
        #expect(machine.taken(.empty, now: 0) == [])
        #expect(
            machine.passed(now: 1_000, random: 5) == [.take(token: 5, begins: true, patience: 0, ahead: nil)],
            "a leader that lives would have written it again by now")
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        #expect(
            machine.taken(.taken(term, last: 0, isWhole: true, after: 0), now: 0)
                == [.prepare(term), .lead(term)])
        let append = JournalAppend(
            token: 5, number: 1, bytes: ByteBuffer(string: "a"), oldestKept: 1, isWhole: true)
        #expect(machine.gathered(ByteBuffer(string: "a"), now: 0) == [.append(append)])
        #expect(machine.gathered(ByteBuffer(string: "b"), now: 0) == [])
        #expect(machine.gathered(ByteBuffer(string: "c"), now: 0) == [])
        let next = JournalAppend(
            token: 5, number: 2, bytes: ByteBuffer(string: "bc"), oldestKept: 1, isWhole: true)
        #expect(
            machine.appended(append, .done, now: 1, random: 6) == [.release(1), .append(next)],
            "what gathered meanwhile is one batch")
    }

    @Test("what was handed over before Redis answers goes with the batch whose number it waits for")
    func answerWithinTurn() {
        var machine = ShardLeadership(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        _ = machine.taken(
            .taken(JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3), last: 0, isWhole: true, after: 0),
            now: 0)
        guard case .append(let first)? = machine.gathered(ByteBuffer(string: "a"), now: 0).first else {
            Issue.record("no batch")
            return
        }
        _ = machine.gathered(ByteBuffer(string: "b"), now: 0)
        // A turn begins: something happens, and its number is asked for; then Redis answers.
        let number = machine.lead?.gatheringNumber ?? 0
        machine.gather(ByteBuffer(string: "c"))
        guard case .append(let next)? = machine.appended(first, .done, now: 1, random: 6).last else {
            Issue.record("no second batch")
            return
        }
        #expect(next.bytes == ByteBuffer(string: "bc"))
        #expect(machine.appended(next, .done, now: 2, random: 7) == [.release(number)])
    }

    @Test("a node with another layout says so and never leads")
    func otherLayout() {
        var machine = ShardLeadership(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        #expect(
            machine.taken(.otherLayout("4 shards"), now: 0) == [
                .refuse("the journal in Redis has 4 shards")
            ])
        #expect(machine.isLeading == false)
    }
}

extension ShardLeadership {
    /// Leads with the token 5, and has so many batches in the journal.
    fileprivate mutating func lead(at now: UInt64, last: UInt64 = 0) {
        _ = passed(now: now, random: 5)
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        _ = taken(.taken(term, last: last, isWhole: true, after: 0), now: now)
        guard last > 0 else { return }
        _ = pageRead([(last, 1)], hasHeads: true, now: now, random: 6)
        _ = appended(.renewal(of: 5, last: last), .done, now: now, random: 6)
    }
}

extension JournalAppend {
    fileprivate static func renewal(of token: UInt64, last: UInt64) -> JournalAppend {
        JournalAppend(token: token, number: last, bytes: ByteBuffer(), oldestKept: last, isWhole: true)
    }
}

/// Two nodes, one Redis, and what may happen to them. Time is virtual.
private struct JournalWorld {
    var random: SeededGenerator
    var redis = SimulatedRedis(run: "0", scripts: JournalScripts.all)
    private var runs = 0
    var nodes: [ModelNode]
    var now: UInt64 = 0
    /// What was told to others, in order.
    var told: [UInt8] = []
    var faults: [String] = []
    var terms = 0
    /// How often somebody led with new logs.
    var begun: Int { epochs.count }
    private var epochs: Set<UInt64> = []
    private var epoch: UInt64 = 0
    /// The greatest term that callers have heard of.
    private var heardOf: UInt64 = 0
    private var next: UInt8 = 0
    private let limits: JournalLimits
    /// Calls on their way, with the time at which they arrive.
    private var calls: [(node: Int, at: UInt64, action: LeadershipEffect)] = []
    private var snapshots: [SimulatedRedis] = []
    private let commands: [JournalCommands]
    private var isCalm = false
    /// Connections are refused, and calls that are under way have no answer.
    var isRedisAway = false

    init(seed: UInt64, _ limits: JournalLimits) {
        random = SeededGenerator(seed: seed)
        self.limits = limits
        nodes = [ModelNode(limits), ModelNode(limits)]
        commands = (0..<2).map {
            let names = JournalNames(prefix: "", of: .limits(), node: "\($0)", layout: "one shard")
            return JournalCommands(names: names, limits: limits, isConfirmed: false)
        }
        load()
    }

    /// Redis gets the scripts from whoever connects.
    private mutating func load() {
        for script in JournalScripts.all {
            _ = redis.answer(RedisCommand("SCRIPT", "LOAD", .text(script.source)), now: now)
        }
    }

    private mutating func restart() {
        runs += 1
        redis.restart(as: "\(runs)")
        load()
    }

    var leaders: [Int] { nodes.indices.filter { nodes[$0].isLeading } }

    mutating func run(for milliseconds: UInt64) {
        isCalm = true
        let end = now + milliseconds
        while now < end { tick() }
    }

    mutating func calm() {
        isCalm = true
        for index in nodes.indices { nodes[index].sleepsUntil = 0 }
        run(for: 20_000)
    }

    /// Something happens, then some time passes.
    mutating func step() {
        switch Int.random(in: 0..<60, using: &random) {
        case 0:
            // Paused for a while, perhaps longer than the lease.
            let index = Int.random(in: 0..<2, using: &random)
            nodes[index].sleepsUntil = now + UInt64.random(in: 100...4_000, using: &random)
        case 1:
            // Killed, and started again.
            let index = Int.random(in: 0..<2, using: &random)
            nodes[index] = ModelNode(limits)
            calls.removeAll { $0.node == index }
            nodes[index].sleepsUntil = now + UInt64.random(in: 0...2_000, using: &random)
        case 2:
            // Restarted, with everything it had.
            restart()
        case 3:
            redis.empty()
            if Bool.random(using: &random) { restart() }
        case 4:
            // Another server with older data.
            if let older = snapshots.last {
                redis = older
                restart()
            }
        case 5:
            let index = Int.random(in: 0..<2, using: &random)
            handOver(from: index, isLast: random.chance(1, in: 3))
        case 6..<10: snapshots.append(redis)
        default: break
        }
        if snapshots.count > 3 { snapshots.removeFirst() }
        for index in nodes.indices where nodes[index].takesIn && nodes[index].sleepsUntil <= now {
            if random.chance(1, in: 3) { publish(at: index) }
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) { tick() }
    }

    mutating func lose(_ loss: ShardLeadershipTests.Loss) {
        switch loss {
        case .restart: restart()
        case .empty:
            redis.empty()
            restart()
        case .flush: redis.empty()
        case .rollBack:
            redis = snapshots[0]
            restart()
        }
    }

    /// All nodes wait for a Redis that stands still. When it goes on, it gives the node that doesn't lead the
    /// lead, but that node has given up to wait.
    mutating func takeUnheard() {
        let other = 1 - leaders[0]
        for index in nodes.indices { nodes[index].sleepsUntil = now + 1_200 }
        run(for: 1_150)
        let take = commands[other].take(token(), epoch: nil, secret: 7, patience: 0, ahead: nil)
        guard let reply = ask(take), case .taken? = JournalAnswer.Take(reply) else {
            return faults.append("\(now): the lead was not given")
        }
    }

    /// Callers tell a node of the last lead.
    mutating func tell(_ index: Int) {
        perform(nodes[index].machine.heard(of: heardOf, now: now), at: index)
    }

    mutating func keepSnapshot() { snapshots.append(redis) }

    mutating func publishTwice(at index: Int) {
        publish(at: index)
        publish(at: index)
    }

    /// The process is told to end.
    mutating func end(_ index: Int, within time: UInt64) {
        nodes[index].farewell = GracefulStepDown(within: time, now: now)
    }

    private mutating func awaitSuccessor(of index: Int) {
        let isLeading = nodes[index].machine.isLeading
        let step = nodes[index].farewell?.passed(
            isLeading: isLeading, isRedisUsable: !isRedisAway, now: now)
        switch step {
        case .wait, .report, nil:
            if !isRedisAway { handOver(from: index, isLast: true) }
        case .end, .giveUp:
            nodes[index].machine.stop()
            nodes[index].isLeading = false
            nodes[index].hasEnded = true
            nodes[index].farewell = nil
        }
    }

    mutating func publishAndHandOver(from index: Int) {
        publishTwice(at: index)
        handOver(from: index, isLast: false)
    }

    private mutating func handOver(from index: Int, isLast: Bool) {
        let actions = nodes[index].machine.handOver(to: "\(1 - index)", isLast: isLast, now: now)
        perform(actions, at: index)
    }

    private mutating func publish(at index: Int) {
        next &+= 1
        nodes[index].memory.append(next)
        nodes[index].waiting.append((nodes[index].machine.lead?.gatheringNumber ?? 0, [next]))
        perform(nodes[index].machine.gathered(ByteBuffer(bytes: [next]), now: now), at: index)
    }

    private mutating func tick() {
        now += 25
        let due = calls.filter { $0.at <= now && nodes[$0.node].sleepsUntil <= now }
        calls.removeAll { $0.at <= now && nodes[$0.node].sleepsUntil <= now }
        for call in due { carryOut(call.action, of: call.node) }
        for index in nodes.indices where nodes[index].sleepsUntil <= now {
            if !isRedisAway { perform(nodes[index].machine.passed(now: now, random: token()), at: index) }
            if nodes[index].farewell != nil { awaitSuccessor(of: index) }
        }
    }

    private mutating func token() -> UInt64 { .random(in: 1...UInt64.max, using: &random) }

    private mutating func perform(_ actions: [LeadershipEffect], at index: Int) {
        for action in actions {
            switch action {
            case .take, .read, .append, .reinstate, .offer, .handOver:
                calls.append((index, now + UInt64.random(in: 0...75, using: &random), action))
            case .lead(let term): lead(index, term, isAnew: false)
            case .leadAnew(let term): lead(index, term, isAnew: true)
            case .release(let number): release(number, at: index)
            case .rewrite: rewrite(index)
            case .prepare, .forget: nodes[index].memory = []
            case .leave: nodes[index].isLeaving = true
            case .part: break
            case .stay: nodes[index].isLeaving = false
            case .stepDown:
                nodes[index].isLeading = false
                nodes[index].isLeaving = false
                nodes[index].waiting = []
                nodes[index].memory = []
            case .refuse: faults.append("\(now): refused")
            }
        }
    }

    private mutating func lead(_ index: Int, _ term: JournalTerm, isAnew: Bool) {
        terms += 1
        if isAnew { nodes[index].memory = [] }
        nodes[index].isLeading = true
        guard term.term == heardOf || term.follows >= heardOf else {
            return perform(nodes[index].machine.heard(of: heardOf, now: now), at: index)
        }
        heardOf = term.term
        // Who is attached to logs of another epoch is told of a gap.
        if term.epoch != epoch { told = [] }
        epoch = term.epoch
        epochs.insert(epoch)
        let memory = nodes[index].memory
        if !isSubsequence(told, of: memory) {
            faults.append("\(now): node \(index) leads with \(memory), but \(told) was told")
        }
    }

    /// What a dead leader wrote and told nobody lies between: who attaches anew is told of it then.
    private func isSubsequence(_ told: [UInt8], of memory: [UInt8]) -> Bool {
        var rest = memory[...]
        for entry in told {
            guard let place = rest.firstIndex(of: entry) else { return false }
            rest = rest[(place + 1)...]
        }
        return true
    }

    private mutating func release(_ number: UInt64, at index: Int) {
        let released = nodes[index].waiting.prefix { $0.number <= number }
        nodes[index].waiting.removeFirst(released.count)
        // Nobody listens to a node that doesn't know the last lead, and it is told so.
        guard nodes[index].machine.lead?.term.term == heardOf else {
            return perform(nodes[index].machine.heard(of: heardOf, now: now), at: index)
        }
        for entry in released.flatMap(\.entries) { told.append(entry) }
        if !isSubsequence(told, of: nodes[index].memory) {
            faults.append("\(now): node \(index) told \(told), but it has \(nodes[index].memory)")
        }
    }

    private mutating func rewrite(_ index: Int) {
        let part = nodes[index].memory
        perform(
            nodes[index].machine.rewrite(ByteBuffer(bytes: part), isLast: true, now: now), at: index)
    }

    private mutating func ask(_ command: RedisCommand) -> RedisReply? {
        try? redis.answer(command, now: now).get()
    }

    /// The call wasn't done.
    private mutating func fail(_ action: LeadershipEffect, of index: Int) {
        let next = token()
        let actions: [LeadershipEffect] =
            switch action {
            case .take: nodes[index].machine.takeFailed(now: now)
            case .read(let token, _):
                token == nodes[index].machine.readToken
                    ? nodes[index].machine.pageRead(nil, hasHeads: false, now: now, random: next) : []
            case .append(let append):
                nodes[index].machine.appended(append, .unknown, now: now, random: next)
            case .reinstate: nodes[index].machine.reinstated(.unknown, now: now, random: next)
            case .handOver: nodes[index].machine.handedOver(.unknown, now: now, random: next)
            case .offer(let token, let successor):
                nodes[index].machine.offered(to: successor, under: token, nil, now: now)
            default: []
            }
        perform(actions, at: index)
    }

    private mutating func carryOut(_ action: LeadershipEffect, of index: Int) {
        if isRedisAway { return fail(action, of: index) }
        // An answer may get lost, after the call was done.
        let isLost = !isCalm && Int.random(in: 0..<30, using: &random) == 0
        switch action {
        case .take(let token, let begins, let patience, let ahead):
            let command = commands[index].take(
                token, epoch: begins ? now : nil, secret: 7, patience: patience, ahead: ahead)
            guard let reply = ask(command), let answer = JournalAnswer.Take(reply) else {
                return faults.append("\(now): no answer to a take")
            }
            if isLost { return perform(nodes[index].machine.takeFailed(now: now), at: index) }
            perform(nodes[index].machine.taken(answer, now: now), at: index)
        case .read(let token, let after):
            guard token == nodes[index].machine.readToken else { return }
            let next = self.token()
            if isLost {
                return perform(
                    nodes[index].machine.pageRead(nil, hasHeads: false, now: now, random: next), at: index)
            }
            let reply = ask(commands[index].read(after: after))
            // A page of a few, so that there are several.
            let page = (reply.flatMap { JournalPage($0)?.batches } ?? []).prefix(3)
            for batch in page {
                for entry in batch.bytes where !nodes[index].memory.contains(entry) {
                    nodes[index].memory.append(entry)
                }
            }
            let batches = page.map { (number: $0.number, bytes: $0.bytes.count) }
            perform(
                nodes[index].machine.pageRead(batches, hasHeads: true, now: now, random: next), at: index)
        case .append(let append):
            let answer = JournalAnswer.Append(redis.answer(commands[index].append(append), now: now))
            let heard = isLost ? JournalAnswer.Append.unknown : answer
            perform(
                nodes[index].machine.appended(append, heard, now: now, random: token()), at: index)
        case .reinstate(let token, let before, let empties, let isWhole):
            guard let term = nodes[index].machine.lead?.term else { return }
            let command = commands[index].reinstate(
                token, before: before, empties: empties, isWhole: isWhole, term)
            let answer = JournalAnswer.Reinstate(redis.answer(command, now: now))
            let heard = isLost ? JournalAnswer.Reinstate.unknown : answer
            let next = self.token()
            perform(nodes[index].machine.reinstated(heard, now: now, random: next), at: index)
        case .handOver(let token, let last, let successor):
            let command = commands[index].release(token, last: last, to: successor)
            let answer = JournalAnswer.HandOver(redis.answer(command, now: now))
            let next = self.token()
            perform(
                nodes[index].machine.handedOver(isLost ? .unknown : answer, now: now, random: next), at: index
            )
        case .offer(let token, let successor):
            let ahead = ask(commands[index].offer(token, to: successor))?.number
            perform(
                nodes[index].machine.offered(to: successor, under: token, isLost ? nil : ahead, now: now),
                at: index)
        case .lead, .leadAnew, .prepare, .forget, .release, .rewrite, .leave, .part, .stay, .stepDown,
            .refuse:
            break
        }
    }
}
