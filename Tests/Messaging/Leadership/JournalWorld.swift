import NIOCore
import RTMRedisTestSupport
import RTMServiceLink
import RTMTestSupport

@testable import RTMMessagingServer
@testable import RTMRedis

/// Two nodes, a Redis with a replica behind sentinels, and what may happen to them. Time is virtual.
struct JournalWorld {
    var random: SeededGenerator
    private var servers = (0..<2).map { SimulatedRedis(run: "server \($0)", scripts: JournalScripts.all) }
    /// The master that the sentinels name, and the epoch of the failover that made it that.
    private var master = 0
    private var configEpoch: UInt64 = 0
    /// Otherwise an address moves from server to server, and no node learns of an epoch.
    var hasSentinels = true
    /// From when on the other server is a replica, and has what the master has. Until then it takes writes as
    /// if it were still the master, because the sentinels come late.
    private var isReplicaAt: UInt64 = 0
    /// Until when each server stands still. What it is asked meanwhile waits in its socket.
    private var stillUntil: [UInt64] = [0, 0]
    /// What waits there.
    private var late: [(server: Int, configEpoch: UInt64, command: RedisCommand)] = []
    private var runs = 0
    var nodes: [ModelNode]
    var now: UInt64 = 0
    /// What has left a leader, in order.
    var sent: [UInt8] = []
    var faults: [String] = []
    var terms = 0
    /// How often a leader began with new logs.
    var begun: Int { epochs.count }
    /// All that callers have known; they must not see one again that they have left.
    private var epochs: Set<UInt64> = []
    private var epoch: UInt64 = 0
    /// The greatest term that callers know.
    private var knownTerm: UInt64 = 0
    private var next: UInt8 = 0
    private let limits: JournalLimits
    /// Calls on their way, with the time at which they arrive.
    private var calls: [Call] = []
    private var snapshots: [SimulatedRedis] = []
    private let commands: [JournalCommands]

    private struct Call {
        let node: Int
        let at: UInt64
        let action: LeadershipAction
        /// The server that the node was connected to.
        let connection: Connection
    }

    private struct Connection: Equatable {
        var server = 0
        /// As the node knows it.
        var configEpoch: UInt64 = 0
    }

    private var connections = [Connection(), Connection()]
    /// When each node asks the sentinels next.
    private var searchesAt: [UInt64] = [0, 0]
    private var isCalm = false
    /// Connections are refused, and calls that are under way have no answer.
    var isRedisAway = false

    init(seed: UInt64, _ limits: JournalLimits) {
        random = SeededGenerator(seed: seed)
        self.limits = limits
        nodes = [ModelNode(limits), ModelNode(limits)]
        commands = (0..<2).map {
            let names = JournalNames(prefix: "", of: .limits(), node: "\($0)", layout: "one shard")
            return JournalCommands(names: names, limits: limits, durability: .journal)
        }
        for server in servers.indices { load(server) }
    }

    /// Redis gets the scripts from whoever connects.
    private mutating func load(_ server: Int) {
        for script in JournalScripts.all {
            _ = servers[server].answer(RedisCommand("SCRIPT", "LOAD", .text(script.source)), now: now)
        }
    }

    private mutating func restart() {
        runs += 1
        servers[master].restart(as: "run \(runs)")
        load(master)
    }

    /// The sentinels name the other server. It is a replica that lacks the last moments, or a master of
    /// before that nobody has made a replica yet.
    mutating func failOver() {
        let other = 1 - master
        if isReplicaAt <= now { servers[other].takeOver(from: snapshots.last ?? servers[master]) }
        master = other
        configEpoch += 1
        isReplicaAt = now + UInt64.random(in: 4_000...20_000, using: &random)
        for index in nodes.indices {
            searchesAt[index] = now + UInt64.random(in: 0...1_100, using: &random)
        }
    }

    /// The master stands still for so long.
    mutating func standStill(for time: UInt64) { stillUntil[master] = now + time }

    private mutating func search(_ index: Int) {
        searchesAt[index] = now + 1_000
        connections[index] = Connection(server: master, configEpoch: hasSentinels ? configEpoch : 0)
    }

    var leaders: [Int] { nodes.indices.filter { nodes[$0].leadership.keepsLogs } }

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
        switch Int.random(in: 0..<66, using: &random) {
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
            servers[master].empty()
            if Bool.random(using: &random) { restart() }
        case 4:
            // Another server with older data.
            if let older = snapshots.last {
                servers[master] = older
                restart()
            }
        case 5:
            let index = Int.random(in: 0..<2, using: &random)
            transfer(from: index, isLast: random.chance(1, in: 3))
        case 6..<10: snapshots.append(servers[master])
        case 10..<13:
            if Bool.random(using: &random) { standStill(for: UInt64.random(in: 100...6_000, using: &random)) }
            failOver()
            snapshots = []
        default: break
        }
        if snapshots.count > 3 { snapshots.removeFirst() }
        for index in nodes.indices where nodes[index].takesRequests && nodes[index].sleepsUntil <= now {
            if random.chance(1, in: 3) { publish(at: index) }
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) { tick() }
    }

    mutating func lose(_ loss: ShardLeadershipTests.Loss) {
        switch loss {
        case .restart: restart()
        case .empty:
            servers[master].empty()
            restart()
        case .flush: servers[master].empty()
        case .rollBack:
            servers[master] = snapshots[0]
            restart()
        }
    }

    /// All nodes wait for a Redis that stands still. When it resumes, it makes the follower the
    /// leader, but the follower doesn't wait for the answer any more.
    mutating func leadershipGivenUnknown() {
        let other = 1 - leaders[0]
        for index in nodes.indices { nodes[index].sleepsUntil = now + 1_200 }
        run(for: 1_150)
        let request = commands[other].requestLeadership(
            token(), epoch: nil, secret: 7, electionDelay: 0, readUntil: nil)
        let outcome = servers[master].answer(request, configEpoch: configEpoch, now: now)
        guard let reply = try? outcome.get(), case .granted? = JournalAnswer.LeadershipRequest(reply) else {
            return faults.append("\(now): the leadership was not given")
        }
    }

    /// Callers report the last term to a node.
    mutating func reportTerm(to index: Int) {
        perform(nodes[index].leadership.laterTermReported(knownTerm, now: now), at: index)
    }

    mutating func keepSnapshot() { snapshots.append(servers[master]) }

    mutating func publishTwice(at index: Int) {
        publish(at: index)
        publish(at: index)
    }

    /// The process has to end.
    mutating func end(_ index: Int, within time: UInt64) {
        nodes[index].stepDown = GracefulStepDown(within: time, now: now)
    }

    private mutating func awaitSuccessor(of index: Int) {
        let keepsLogs = nodes[index].leadership.keepsLogs
        let step = nodes[index].stepDown?.timePassed(
            keepsShards: keepsLogs, isRedisUsable: !isRedisAway, now: now)
        switch step {
        case .wait, .report, nil:
            if !isRedisAway { transfer(from: index, isLast: true) }
        case .end, .giveUp:
            nodes[index].leadership.stop()
            nodes[index].hasEnded = true
            nodes[index].stepDown = nil
        }
    }

    mutating func publishAndTransfer(from index: Int) {
        publishTwice(at: index)
        transfer(from: index, isLast: false)
    }

    private mutating func transfer(from index: Int, isLast: Bool) {
        let actions = nodes[index].leadership.transferRequested(to: "\(1 - index)", isLast: isLast, now: now)
        perform(actions, at: index)
    }

    private mutating func publish(at index: Int) {
        next &+= 1
        nodes[index].memory.append(next)
        nodes[index].waiting.append((nodes[index].leadership.writer?.pendingNumber ?? 0, [next]))
        perform(nodes[index].leadership.recorded(ByteBuffer(bytes: [next]), now: now), at: index)
    }

    private mutating func tick() {
        now += 25
        for index in nodes.indices where searchesAt[index] <= now && nodes[index].sleepsUntil <= now {
            search(index)
        }
        wake()
        let due = calls.filter { $0.at <= now && nodes[$0.node].sleepsUntil <= now }
        calls.removeAll { $0.at <= now && nodes[$0.node].sleepsUntil <= now }
        for call in due { carryOut(call) }
        for index in nodes.indices where nodes[index].sleepsUntil <= now {
            if !isRedisAway {
                perform(nodes[index].leadership.timePassed(now: now, random: token()), at: index)
            }
            if nodes[index].stepDown != nil { awaitSuccessor(of: index) }
        }
    }

    /// What has waited in the socket of a server that stood still is done now. Nobody waits for the answer.
    private mutating func wake() {
        let due = late.filter { stillUntil[$0.server] <= now }
        late.removeAll { stillUntil[$0.server] <= now }
        for call in due {
            _ = servers[call.server].answer(call.command, configEpoch: call.configEpoch, now: now)
        }
    }

    private mutating func token() -> UInt64 { .random(in: 1...UInt64.max, using: &random) }

    private mutating func perform(_ actions: [LeadershipAction], at index: Int) {
        for action in actions {
            switch action {
            case .requestLeadership, .readJournal, .append, .reinstate, .offerLeadership,
                .transferLeadership:
                calls.append(
                    Call(
                        node: index, at: now + UInt64.random(in: 0...75, using: &random), action: action,
                        connection: connections[index]))
            case .announceTerm(let term): learn(term, from: index)
            case .searchMaster: searchesAt[index] = now + 100
            case .becomeLeader(let term, let isAnew): becomeLeader(index, term, isAnew: isAnew)
            case .releaseOutput(let number): release(number, at: index)
            case .writeCheckpoint: writeCheckpoint(index)
            case .beginRecovery, .discardRecovery: nodes[index].memory = []
            case .awaitSuccessor, .resumeServing: break
            case .stepDown:
                nodes[index].waiting = []
                nodes[index].memory = []
            case .refuse: faults.append("\(now): refused")
            }
        }
    }

    private mutating func becomeLeader(_ index: Int, _ term: JournalTerm, isAnew: Bool) {
        terms += 1
        if isAnew { nodes[index].memory = [] }
        guard learn(term, from: index) else { return }
        let memory = nodes[index].memory
        if !isSubsequence(sent, of: memory) {
            faults.append("\(now): node \(index) leads with \(memory), but \(sent) was sent")
        }
    }

    /// Callers learn that a node leads.
    ///
    /// - Returns: whether they believe it.
    @discardableResult
    private mutating func learn(_ term: JournalTerm, from index: Int) -> Bool {
        guard term.announcement.continues(knownTerm) else {
            perform(nodes[index].leadership.laterTermReported(knownTerm, now: now), at: index)
            return false
        }
        knownTerm = term.term
        // Subscribers of logs of another epoch get a gap.
        if term.epoch != epoch {
            sent = []
            if !epochs.insert(term.epoch).inserted {
                faults.append("\(now): the epoch \(term.epoch) was left, and comes back")
            }
        }
        epoch = term.epoch
        return true
    }

    /// What a dead leader wrote and never sent lies between: who attaches anew receives it then.
    private func isSubsequence(_ sent: [UInt8], of memory: [UInt8]) -> Bool {
        var rest = memory[...]
        for entry in sent {
            guard let place = rest.firstIndex(of: entry) else { return false }
            rest = rest[(place + 1)...]
        }
        return true
    }

    private mutating func release(_ number: UInt64, at index: Int) {
        let released = nodes[index].waiting.prefix { $0.number <= number }
        nodes[index].waiting.removeFirst(released.count)
        // Callers ignore a node that doesn't know the last term, and report that term to it.
        guard nodes[index].leadership.writer?.term.term == knownTerm else {
            return perform(nodes[index].leadership.laterTermReported(knownTerm, now: now), at: index)
        }
        for entry in released.flatMap(\.entries) { sent.append(entry) }
        if !isSubsequence(sent, of: nodes[index].memory) {
            faults.append("\(now): node \(index) sent \(sent), but it has \(nodes[index].memory)")
        }
    }

    private mutating func writeCheckpoint(_ index: Int) {
        let page = nodes[index].memory
        perform(
            nodes[index].leadership.checkpointPageMade(ByteBuffer(bytes: page), isLast: true, now: now),
            at: index)
    }

    /// The call wasn't done.
    private mutating func fail(_ action: LeadershipAction, of index: Int) {
        let next = token()
        let actions: [LeadershipAction] =
            switch action {
            case .requestLeadership: nodes[index].leadership.leadershipRequestFailed(now: now)
            case .readJournal(let leaderToken, _):
                leaderToken == nodes[index].leadership.readToken
                    ? nodes[index].leadership.pageRead(nil, hasHeads: false, now: now, random: next) : []
            case .append(let append):
                nodes[index].leadership.appendAnswered(append, .unknown, now: now, random: next)
            case .reinstate: nodes[index].leadership.reinstatementAnswered(.unknown, now: now, random: next)
            case .transferLeadership:
                nodes[index].leadership.transferAnswered(.unknown, now: now, random: next)
            case .offerLeadership(let leaderToken, let successor):
                nodes[index].leadership.offerAnswered(to: successor, under: leaderToken, nil, now: now)
            default: []
            }
        perform(actions, at: index)
    }

    /// What an action asks Redis; nil if it asks nothing, or is out of date.
    private func command(_ action: LeadershipAction, of index: Int) -> RedisCommand? {
        let (commands, leadership) = (commands[index], nodes[index].leadership)
        switch action {
        case .requestLeadership(let leaderToken, let createsJournal, let delay, let readUntil):
            return commands.requestLeadership(
                leaderToken, epoch: createsJournal ? now * 2 + UInt64(index) : nil, secret: 7,
                electionDelay: delay,
                readUntil: readUntil)
        case .readJournal(let leaderToken, let after):
            return leaderToken == leadership.readToken ? commands.read(after: after) : nil
        case .append(let append): return commands.append(append)
        case .reinstate(let leaderToken, let before, let empties, let isWhole):
            return leadership.writer.map {
                commands.reinstate(
                    leaderToken, before: before, empties: empties, isWhole: isWhole, $0.term)
            }
        case .transferLeadership(let leaderToken, let last, let successor):
            return commands.transfer(leaderToken, last: last, to: successor)
        case .offerLeadership(let leaderToken, let successor):
            return commands.offer(leaderToken, to: successor)
        case .becomeLeader, .beginRecovery, .discardRecovery, .releaseOutput, .writeCheckpoint,
            .announceTerm, .searchMaster, .awaitSuccessor, .resumeServing, .stepDown, .refuse:
            return nil
        }
    }

    private mutating func carryOut(_ call: Call) {
        let (index, action, connection) = (call.node, call.action, call.connection)
        if isRedisAway { return fail(action, of: index) }
        guard let command = command(action, of: index) else { return }
        guard stillUntil[connection.server] <= now else {
            late.append((connection.server, connection.configEpoch, command))
            return fail(action, of: index)
        }
        let outcome = servers[connection.server].answer(
            command, configEpoch: connection.configEpoch, now: now)
        // An answer may get lost, after the call was done. So it does when its connection is gone.
        let isLost = !isCalm && Int.random(in: 0..<30, using: &random) == 0
        if isLost || connection != connections[index] { return fail(action, of: index) }
        received(outcome, action, index)
    }

    private mutating func received(
        _ outcome: Result<RedisReply, RedisFailure>, _ action: LeadershipAction, _ index: Int
    ) {
        let (next, reply) = (token(), try? outcome.get())
        switch action {
        case .requestLeadership:
            guard let answer = reply.flatMap({ JournalAnswer.LeadershipRequest($0) }) else {
                return faults.append("\(now): no answer to a request for the leadership")
            }
            perform(nodes[index].leadership.leadershipRequestAnswered(answer, now: now), at: index)
        case .readJournal: read(reply, next, at: index)
        case .append(let append):
            perform(
                nodes[index].leadership.appendAnswered(
                    append, JournalAnswer.Append(outcome), now: now, random: next), at: index)
        case .reinstate:
            perform(
                nodes[index].leadership.reinstatementAnswered(
                    JournalAnswer.Reinstatement(outcome), now: now, random: next), at: index)
        case .transferLeadership:
            perform(
                nodes[index].leadership.transferAnswered(
                    JournalAnswer.Transfer(outcome), now: now, random: next), at: index)
        case .offerLeadership(let leaderToken, let successor):
            perform(
                nodes[index].leadership.offerAnswered(
                    to: successor, under: leaderToken, reply?.number, now: now), at: index)
        default: break
        }
    }

    private mutating func read(_ reply: RedisReply?, _ next: UInt64, at index: Int) {
        // A page of a few, so that there are several.
        let page = (reply.flatMap { JournalPage($0)?.batches } ?? []).prefix(3)
        for batch in page {
            for entry in batch.bytes where !nodes[index].memory.contains(entry) {
                nodes[index].memory.append(entry)
            }
        }
        let batches = page.map { (number: $0.number, bytes: $0.bytes.count) }
        perform(nodes[index].leadership.pageRead(batches, hasHeads: true, now: now, random: next), at: index)
    }
}
