import NIOCore
import RTMRedis
import RTMTestSupport
import Testing

@testable import RTMMessagingServer

/// The journal under everything that may happen to two nodes and to Redis, in virtual time.
@Suite("The journal and who leads") struct JournalMachineTests {
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

    @Test("a leader that hands over writes everything first, and the heir needn't wait")
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
        var machine = JournalMachine(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        _ = machine.taken(.taken(term, last: 0, isWhole: true), now: 0)
        guard case .append(let append)? = machine.gathered(ByteBuffer(string: "a"), now: 0).first else {
            Issue.record("no batch")
            return
        }
        #expect(machine.handOver(to: "b", now: 10) == [.leave])
        #expect(machine.passed(now: 1_009, random: 6) == [])
        #expect(machine.passed(now: 1_010, random: 6) == [.stay])
        #expect(machine.appended(append, .done, now: 1_020, random: 7) == [.release(1)])
    }

    @Test("a leader that can't hand over goes on")
    func staying() {
        var machine = JournalMachine(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        _ = machine.taken(.taken(term, last: 0, isWhole: true), now: 0)
        #expect(
            machine.handOver(to: "b", now: 0) == [.leave, .handOver(token: 5, last: 0, to: "b")])
        #expect(machine.handedOver(.refused, now: 1) == [.stay] && machine.isLeading)
        #expect(machine.handOver(to: "b", now: 2).first == .leave, "it may be tried again")
        #expect(machine.handedOver(.done, now: 3) == [.stepDown("another node was asked to lead")])
        #expect(!machine.isLeading)
    }

    @Test("what gathers is cut into batches, and each is waited for under a number of its own")
    func cut() {
        var lead = JournalLead(
            JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3), token: 5, written: 0, now: 0)
        let half = ByteBuffer(repeating: 1, count: JournalLead.batchBytesMax / 2)
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
        var machine = JournalMachine(Self.limits)
        #expect(machine.passed(now: 0, random: 4) == [.take(token: 4, begins: false, patience: 0)])
        #expect(machine.taken(.empty, now: 0) == [])
        #expect(
            machine.passed(now: 1_000, random: 5) == [.take(token: 5, begins: true, patience: 0)],
            "a leader that lives would have written it again by now")
        let term = JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3)
        #expect(
            machine.taken(.taken(term, last: 0, isWhole: true), now: 0) == [.lead(term)])
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
        var machine = JournalMachine(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        _ = machine.taken(
            .taken(JournalTerm(term: 1, follows: 1, epoch: 2, secret: 3), last: 0, isWhole: true), now: 0)
        guard case .append(let first)? = machine.gathered(ByteBuffer(string: "a"), now: 0).first else {
            Issue.record("no batch")
            return
        }
        _ = machine.gathered(ByteBuffer(string: "b"), now: 0)
        // A turn begins: something happens, and its number is asked for; then Redis answers.
        let number = machine.gatheringNumber
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
        var machine = JournalMachine(Self.limits)
        _ = machine.passed(now: 0, random: 5)
        #expect(
            machine.taken(.otherLayout("4 shards"), now: 0) == [
                .refuse("the journal in Redis has 4 shards")
            ])
        #expect(machine.isLeading == false)
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
    private var epoch: UInt64 = 0
    /// The greatest term that callers have heard of.
    private var heardOf: UInt64 = 0
    private var next: UInt8 = 0
    private let limits: JournalLimits
    /// Calls on their way, with the time at which they arrive.
    private var calls: [(node: Int, at: UInt64, action: JournalAction)] = []
    private var snapshots: [SimulatedRedis] = []
    private let commands: [JournalCommands]
    private var isCalm = false

    init(seed: UInt64, _ limits: JournalLimits) {
        random = SeededGenerator(seed: seed)
        self.limits = limits
        nodes = [ModelNode(limits), ModelNode(limits)]
        commands = (0..<2).map {
            let names = JournalNames(prefix: "", of: .limits(), node: "\($0)", layout: "one shard")
            return JournalCommands(names: names, lease: limits.lease, isConfirmed: false)
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
            perform(nodes[index].machine.handOver(to: "\(1 - index)", now: now), at: index)
        case 6..<10: snapshots.append(redis)
        default: break
        }
        if snapshots.count > 3 { snapshots.removeFirst() }
        for index in nodes.indices where nodes[index].takesIn && nodes[index].sleepsUntil <= now {
            if random.chance(1, in: 3) { publish(at: index) }
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) { tick() }
    }

    mutating func publishAndHandOver(from index: Int) {
        publish(at: index)
        publish(at: index)
        perform(nodes[index].machine.handOver(to: "\(1 - index)", now: now), at: index)
    }

    private mutating func publish(at index: Int) {
        next &+= 1
        nodes[index].memory.append(next)
        nodes[index].waiting.append((nodes[index].machine.gatheringNumber, [next]))
        perform(nodes[index].machine.gathered(ByteBuffer(bytes: [next]), now: now), at: index)
    }

    private mutating func tick() {
        now += 25
        let due = calls.filter { $0.at <= now && nodes[$0.node].sleepsUntil <= now }
        calls.removeAll { $0.at <= now && nodes[$0.node].sleepsUntil <= now }
        for call in due { carryOut(call.action, of: call.node) }
        for index in nodes.indices where nodes[index].sleepsUntil <= now {
            perform(nodes[index].machine.passed(now: now, random: token()), at: index)
        }
    }

    private mutating func token() -> UInt64 { .random(in: 1...UInt64.max, using: &random) }

    private mutating func perform(_ actions: [JournalAction], at index: Int) {
        for action in actions {
            switch action {
            case .take, .read, .append, .reinstate, .handOver:
                calls.append((index, now + UInt64.random(in: 0...75, using: &random), action))
            case .lead(let term): lead(index, term, isAnew: false)
            case .leadAnew(let term): lead(index, term, isAnew: true)
            case .release(let number): release(number, at: index)
            case .rewrite: rewrite(index)
            case .leave: nodes[index].isLeaving = true
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
        guard nodes[index].machine.term?.term == heardOf else {
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

    private mutating func carryOut(_ action: JournalAction, of index: Int) {
        // An answer may get lost, after the call was done.
        let isLost = !isCalm && Int.random(in: 0..<30, using: &random) == 0
        switch action {
        case .take(let token, let begins, let patience):
            let command = commands[index].take(
                token, epoch: begins ? now : nil, secret: 7, patience: patience)
            guard let reply = ask(command), let answer = JournalAnswer.Take(reply) else {
                return faults.append("\(now): no answer to a take")
            }
            if isLost { return nodes[index].machine.takeFailed(now: now) }
            if case .taken = answer { nodes[index].memory = [] }
            perform(nodes[index].machine.taken(answer, now: now), at: index)
        case .read(let token, let after):
            guard token == nodes[index].machine.token else { return }
            if isLost {
                return perform(nodes[index].machine.pageRead(nil, hasHeads: false, now: now), at: index)
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
            perform(nodes[index].machine.pageRead(batches, hasHeads: true, now: now), at: index)
        case .append(let append):
            let answer = JournalAnswer.Append(redis.answer(commands[index].append(append), now: now))
            let heard = isLost ? JournalAnswer.Append.unknown : answer
            perform(
                nodes[index].machine.appended(append, heard, now: now, random: token()), at: index)
        case .reinstate(let token, let before, let empties, let isWhole):
            guard let term = nodes[index].machine.term else { return }
            let command = commands[index].reinstate(
                token, before: before, empties: empties, isWhole: isWhole, term)
            let answer = JournalAnswer.Reinstate(redis.answer(command, now: now))
            let heard = isLost ? JournalAnswer.Reinstate.unknown : answer
            let next = self.token()
            perform(nodes[index].machine.reinstated(heard, now: now, random: next), at: index)
        case .handOver(let token, let last, let heir):
            let command = commands[index].release(token, last: last, to: heir)
            let answer = JournalAnswer.HandOver(redis.answer(command, now: now))
            perform(nodes[index].machine.handedOver(isLost ? .unknown : answer, now: now), at: index)
        case .lead, .leadAnew, .release, .rewrite, .leave, .stay, .stepDown, .refuse: break
        }
    }
}
