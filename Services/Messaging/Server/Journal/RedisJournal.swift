import Logging
import NIOCore
import RTMRedis
import RTMServiceKit

/// Whose journal it is: what happened to the leadership and to the journal. All calls come on the journal's
/// event loop. `ShardLeadership` has the answer to whether this node leads; the delegate doesn't keep one.
protocol JournalDelegate: AnyObject {
    /// This node reads the journal, from its beginning.
    func didBeginRecovery(_ term: JournalTerm)
    /// What was read doesn't count.
    func didDiscardRecovery()
    /// A batch was read, in order.
    ///
    /// - Throws: what this node can't decode.
    func didReadBatch(_ batch: UnsafeRawBufferPointer) throws(JournalFault)
    /// Whether the heads of the partitions are among what was read.
    var hasReadHeads: Bool { get }
    /// This node keeps the logs from now on.
    ///
    /// - Parameter isAnew: whether what was read doesn't count.
    func didBecomeLeader(_ term: JournalTerm, isAnew: Bool)
    /// This node still leads, under a later term.
    func didReinstate(_ term: JournalTerm)
    /// What has happened in this turn so far. It belongs to the batch that gathers now, whose number the gate
    /// has.
    func takeRecords() -> ByteBuffer
    /// What waits under this number, or a smaller one, may leave the node.
    func didWriteBatches(through number: UInt64)
    /// The next page of what is in memory, for a journal that was lost.
    func makeCheckpointPage(isFirst: Bool) -> (bytes: ByteBuffer, isLast: Bool)
    /// Another node leads, or may lead from now on. What is in memory stays until it is certain that the
    /// other node leads.
    func didBeginAwaitingSuccessor(_ reason: String)
    /// This node serves again after all. What was requested meanwhile has no answer.
    func didResumeServing()
    /// Another node leads.
    ///
    /// - Parameter closesLinks: whether the links are from the time in which this node was the leader.
    func didStepDown(_ reason: String, closesLinks: Bool)
}

/// The journal of one shard in Redis: it carries out the actions of `ShardLeadership` and reports what Redis
/// answers. It is confined to one event loop.
final class RedisJournal {
    private static let tick = TimeAmount.milliseconds(25)

    private let client: RedisClient
    private let names: JournalNames
    private let commands: JournalCommands
    private let eventLoop: any EventLoop
    private let probe: ReadinessProbe
    private let metrics: JournalMetrics
    private let confirmation: JournalConfirmation
    private let logger: Logger
    /// Random numbers, of which none is 0.
    private let makeRandom: () -> UInt64
    /// Whether this node leads the shard. The only place that knows.
    private(set) var leadership: ShardLeadership
    private var delegate: (any JournalDelegate)?
    /// The name of the leader that was logged last.
    private var leader = ""
    private var backlogCounted = 0
    /// Whether it is known by now which shards this node should lead.
    private var isAssigned = false
    /// Whether Redis has answered who leads.
    private var hasAnswer = false
    /// Whether this process has never seen a journal of the shard.
    private var mayHaveFirstEpoch = true
    private var shutdown: (successor: String, done: () -> Void)?

    /// - Parameter client: is shared with the journals of the other shards.
    init(
        _ client: RedisClient, names: JournalNames, limits: JournalLimits,
        confirmation: JournalConfirmation, probe: ReadinessProbe, metrics: JournalMetrics, logger: Logger,
        random: @escaping () -> UInt64 = { .random(in: 1...UInt64.max) }
    ) {
        self.client = client
        self.names = names
        commands = JournalCommands(
            names: names, limits: limits, durability: confirmation.durability)
        makeRandom = random
        eventLoop = client.eventLoop
        self.probe = probe
        self.metrics = metrics
        self.confirmation = confirmation
        self.logger = logger
        leadership = ShardLeadership(limits)
        probe.notReady("no connection to Redis at \(client.configuration.deployment) yet")
    }

    func start(delegate: any JournalDelegate) {
        self.delegate = delegate
        wake()
    }

    private func wake() {
        guard delegate != nil else { return }
        if client.isUsable { timePassed() }
        eventLoop.assumeIsolated().scheduleTask(in: Self.tick) { [self] in wake() }
    }

    private func timePassed() {
        guard isAssigned else { return }
        collect()
        let (now, random) = (now, random)
        update { $0.timePassed(now: now, random: random) }
        if let shutdown {
            update { $0.transferRequested(to: shutdown.successor, isLast: true, now: now) }
        }
    }

    // MARK: - Which node should lead

    /// - Parameter isPreferredLeader: whether this node should lead the shard, as long as the nodes live that
    ///   do now. The others lead it only if no other node does.
    func assign(isPreferredLeader: Bool) {
        isAssigned = true
        leadership.electionDelay = isPreferredLeader ? 0 : leadership.limits.lease / 2
    }

    /// The number of shards isn't that of the nodes that live.
    func refuse(_ layout: String) { perform(.refuse("the messaging nodes that run have \(layout)")) }

    /// Lets another node lead, when everything is written.
    func transferLeadership(to successor: String) { transferLeadership(to: successor, isLast: false) }

    private func transferLeadership(to successor: String, isLast: Bool) {
        if !successor.isEmpty {
            logger.notice("another node is to lead", metadata: ["node": "\(successor)"])
        }
        collect()
        let now = now
        update { $0.transferRequested(to: successor, isLast: isLast, now: now) }
    }

    /// Lets another node lead, when everything is written, and ends. While Redis can't be reached, the
    /// journal waits until `end()`.
    func shutdown(successor: String, _ done: @escaping () -> Void) {
        shutdown = (successor, done)
        guard leadership.keepsLogs else { return end() }
        if client.isUsable { transferLeadership(to: successor, isLast: true) }
    }

    /// Ends a shutdown at once.
    func end() {
        guard let shutdown = shutdown.take() else { return }
        update {
            $0.stop()
            return []
        }
        delegate = nil
        shutdown.done()
    }

    // MARK: - What happens at this node

    /// Under this number output waits for what gathers.
    var pendingNumber: UInt64 { leadership.writer?.pendingNumber ?? 0 }
    /// Bytes that Redis hasn't got yet.
    var backlog: Int { leadership.writer?.backlog ?? 0 }
    var limits: JournalLimits { leadership.limits }

    /// Something happened that must not leave the node before it is written.
    func record(_ bytes: ByteBuffer) {
        let now = now
        update { $0.recorded(bytes, now: now) }
        countBacklog()
    }

    /// A batch may leave within a turn, when Redis answers. What has happened in the turn goes with it.
    private func collect() {
        if let bytes = delegate?.takeRecords(), bytes.readableBytes > 0 { leadership.recorded(bytes) }
    }

    /// The metric is the sum of all shards.
    private func countBacklog() {
        metrics.backlog.add(backlog - backlogCounted)
        backlogCounted = backlog
    }

    /// A caller knows this term.
    func termReported(_ term: UInt64) {
        let now = now
        update { $0.laterTermReported(term, now: now) }
    }

    /// - Parameter milliseconds: how long it takes until every channel without an entry was recorded again.
    func keepBatches(forTwice milliseconds: UInt64) {
        leadership.limits.retention = max(leadership.limits.retention, 2 * milliseconds)
    }

    private var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }
    private var random: UInt64 { makeRandom() }

    // MARK: - Effects

    /// Feeds an event to the leadership, and carries out what follows from it.
    private func update(_ event: (inout ShardLeadership) -> [LeadershipAction]) {
        let wasLeader = leadership.isLeader
        let actions = event(&leadership)
        let isLeader = leadership.isLeader
        if isLeader != wasLeader { metrics.leading.add(isLeader ? 1 : -1) }
        for action in actions { perform(action) }
    }

    private func perform(_ action: LeadershipAction) {
        switch action {
        case .requestLeadership(let leaderToken, let createsJournal, let electionDelay, let readUntil):
            requestLeadership(leaderToken, createsJournal: createsJournal, electionDelay, readUntil)
        case .readJournal(let leaderToken, let number): read(leaderToken, after: number)
        case .append(let append): send(append)
        case .reinstate(let leaderToken, let before, let empties, let isWhole):
            reinstate(leaderToken, before: before, empties: empties, isWhole: isWhole)
        case .offerLeadership(let leaderToken, let successor): offer(leaderToken, to: successor)
        case .transferLeadership(let leaderToken, let last, let successor):
            transfer(leaderToken, last: last, to: successor)
        case .beginRecovery(let term): delegate?.didBeginRecovery(term)
        case .discardRecovery: delegate?.didDiscardRecovery()
        case .becomeLeader(let term, let isAnew): becomeLeader(term, isAnew: isAnew)
        case .releaseOutput(let number): delegate?.didWriteBatches(through: number)
        case .writeCheckpoint(let isFirst): writeCheckpoint(isFirst: isFirst)
        case .announceTerm(let term): delegate?.didReinstate(term)
        case .searchMaster: client.doubt()
        case .awaitSuccessor(let reason): delegate?.didBeginAwaitingSuccessor(reason)
        case .resumeServing: delegate?.didResumeServing()
        case .stepDown(let reason, let closesLinks):
            logger.notice("this node is no longer the leader", metadata: ["reason": "\(reason)"])
            delegate?.didStepDown(reason, closesLinks: closesLinks)
            countBacklog()
            end()
        case .refuse(let reason):
            probe.notReady(
                "\(reason), and this node is configured for \(names.layout): "
                    + "messaging.shards is fixed for an installation")
        }
    }

    private func requestLeadership(
        _ leaderToken: UInt64, createsJournal: Bool, _ electionDelay: UInt64, _ readUntil: JournalPosition?
    ) {
        guard createsJournal else {
            return requestLeadership(leaderToken, epoch: nil, electionDelay, readUntil)
        }
        client.send(commands.exists) { [self] outcome in
            guard case .success(let reply) = outcome else { return leadershipRequestFailed(outcome) }
            guard reply.number == 0 else {
                return requestLeadership(leaderToken, epoch: nil, electionDelay, readUntil)
            }
            askForFirstEpoch { [self] epoch in
                requestLeadership(leaderToken, epoch: epoch, electionDelay, readUntil)
            }
        }
    }

    private func askForFirstEpoch(_ done: @escaping (_ firstEpoch: UInt64) -> Void) {
        guard mayHaveFirstEpoch else { return done(JournalTerm.epoch(from: random)) }
        client.send(commands.firstEpoch(JournalTerm.epoch(from: random))) { [self] outcome in
            guard case .success(let reply) = outcome, reply.string != "wait" else {
                return leadershipRequestFailed(outcome)
            }
            done(reply.number.map { $0 + names.epochsBefore } ?? JournalTerm.epoch(from: random))
        }
    }

    /// - Parameter epoch: the epoch of the first partition, if a journal may begin; otherwise nil.
    private func requestLeadership(
        _ leaderToken: UInt64, epoch: UInt64?, _ electionDelay: UInt64, _ readUntil: JournalPosition?
    ) {
        let command = commands.requestLeadership(
            leaderToken, epoch: epoch, secret: random, electionDelay: electionDelay, readUntil: readUntil)
        client.send(command) { [self] outcome in
            guard case .success(let reply) = outcome, let answer = JournalAnswer.LeadershipRequest(reply)
            else {
                return leadershipRequestFailed(outcome)
            }
            hasAnswer = true
            if answer != .empty { mayHaveFirstEpoch = false }
            logLeader(answer)
            let now = now
            update { $0.leadershipRequestAnswered(answer, now: now) }
        }
    }

    private func leadershipRequestFailed(_ outcome: Result<RedisReply, RedisFailure>) {
        if case .failure = outcome { report(outcome) }
        let now = now
        update { $0.leadershipRequestFailed(now: now) }
    }

    private func logLeader(_ answer: JournalAnswer.LeadershipRequest) {
        switch answer {
        case .held(let node, _, _):
            probe.ready()
            if node != leader { logger.info("another node leads", metadata: ["node": "\(node)"]) }
            leader = node
        case .successor: probe.ready()
        case .empty, .granted, .otherLayout: break
        }
    }

    private func read(_ leaderToken: UInt64, after number: UInt64) {
        client.send(commands.read(after: number)) { [self] outcome in
            guard leaderToken == leadership.readToken else { return }
            guard case .success(let reply) = outcome else {
                report(outcome)
                return pageRead(nil, hasHeads: false)
            }
            guard let page = JournalPage(reply) else {
                report(outcome)
                return pageUnreadable()
            }
            do throws(JournalFault) {
                for batch in page.batches { try restore(batch.bytes) }
                let batches = page.batches.map { (number: $0.number, bytes: $0.bytes.count) }
                pageRead(batches, hasHeads: delegate?.hasReadHeads ?? false)
            } catch {
                logger.error("the journal can't be read", metadata: ["cause": "\(error)"])
                pageUnreadable()
            }
        }
    }

    private func restore(_ batch: [UInt8]) throws(JournalFault) {
        let delegate = self.delegate
        let outcome: Result<Void, JournalFault> = batch.withUnsafeBytes { bytes in
            Result { () throws(JournalFault) in try delegate?.didReadBatch(bytes) }
        }
        try outcome.get()
    }

    private func pageRead(_ batches: [(number: UInt64, bytes: Int)]?, hasHeads: Bool) {
        let (now, random) = (now, random)
        update { $0.pageRead(batches, hasHeads: hasHeads, now: now, random: random) }
    }

    private func pageUnreadable() {
        let now = now
        update { $0.pageUnreadable(now: now) }
    }

    private func becomeLeader(_ term: JournalTerm, isAnew: Bool) {
        metrics.terms.increment()
        probe.ready()
        if term.hasNewLogs {
            metrics.newLogs.increment()
            let cause =
                isAnew
                ? "Redis may have lost what was acknowledged"
                : "there was no journal in Redis, which is so when an installation is new"
            logger.warning(
                "this node leads with new logs: clients that come back to older ones get gaps",
                metadata: ["term": "\(term.term)", "cause": "\(cause)"])
        } else {
            logger.notice("this node leads", metadata: ["term": "\(term.term)"])
        }
        delegate?.didBecomeLeader(term, isAnew: isAnew)
    }

    private func send(_ append: JournalAppend) {
        let began = eventLoop.now
        client.append(commands.append(append), confirmedBy: confirmation) { [self] outcome, shortage in
            if append.bytes.readableBytes > 0 {
                metrics.batches.increment()
                metrics.bytes.increment(by: append.bytes.readableBytes)
                metrics.time.observe(.nanoseconds((eventLoop.now - began).nanoseconds))
            }
            // It is written once more until it counts.
            let answer = shortage == nil ? JournalAnswer.Append(outcome) : .unknown
            if let shortage { probe.notReady(shortage) }
            if shortage == nil, answer == .unknown { report(outcome) }
            if answer != .unknown { probe.ready() }
            if answer == .doubt { logger.warning("Redis may have lost batches of the journal") }
            collect()
            let (now, random) = (now, random)
            update { $0.appendAnswered(append, answer, now: now, random: random) }
            countBacklog()
        }
    }

    private func reinstate(_ leaderToken: UInt64, before: UInt64, empties: Bool, isWhole: Bool) {
        guard let term = leadership.writer?.term else { return }
        let command = commands.reinstate(
            leaderToken, before: before, empties: empties, isWhole: isWhole, term)
        client.send(command) { [self] outcome in
            let answer = JournalAnswer.Reinstatement(outcome)
            if answer == .unknown { report(outcome) }
            collect()
            let (now, random) = (now, random)
            update { $0.reinstatementAnswered(answer, now: now, random: random) }
        }
    }

    private func offer(_ leaderToken: UInt64, to successor: String) {
        client.send(commands.offer(leaderToken, to: successor)) { [self] outcome in
            collect()
            let (now, ahead) = (now, (try? outcome.get())?.number)
            update { $0.offerAnswered(to: successor, under: leaderToken, ahead, now: now) }
        }
    }

    private func transfer(_ leaderToken: UInt64, last: UInt64, to successor: String) {
        client.send(commands.transfer(leaderToken, last: last, to: successor)) { [self] outcome in
            collect()
            let (now, random) = (now, random)
            update { $0.transferAnswered(JournalAnswer.Transfer(outcome), now: now, random: random) }
        }
    }

    private func writeCheckpoint(isFirst: Bool) {
        guard let page = delegate?.makeCheckpointPage(isFirst: isFirst) else { return }
        collect()
        if page.isLast { logger.notice("the journal has everything again that this node has in memory") }
        let now = now
        update { $0.checkpointPageMade(page.bytes, isLast: page.isLast, now: now) }
    }

    private func report(_ outcome: Result<RedisReply, RedisFailure>) {
        switch outcome {
        case .failure(let failure): probe.notReady("the journal can't be written: \(failure.words)")
        case .success(let reply):
            let text = reply.string ?? "no text"
            probe.notReady("Redis answers the journal with something else: \(text)")
        }
    }
}

extension RedisJournal {
    func redisIsUp() {
        if hasAnswer { probe.ready() } else { probe.notReady("Redis has not answered yet which node leads") }
        timePassed()
    }

    func redisIsDown(_ cause: String) { probe.notReady(cause) }
}
