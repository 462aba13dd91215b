import Logging
import NIOCore
import RTMRedis
import RTMServiceKit

/// Whose journal it is. All calls come on the journal's event loop.
protocol JournalDelegate: AnyObject {
    /// This node is to lead. What other nodes wrote before comes next, in order.
    func journalReads(_ term: JournalTerm)
    /// It isn't to lead after all.
    func journalForgets()
    /// - Throws: what this node can't read.
    func journalHas(_ batch: UnsafeRawBufferPointer) throws(JournalFault)
    /// This node keeps the logs from now on.
    ///
    /// - Parameter isAnew: whether what was read doesn't count.
    func journalLeads(_ term: JournalTerm, isAnew: Bool)
    /// Whether it is known by now where the partitions stand.
    var journalHasHeads: Bool { get }
    /// What has happened in this turn so far. It belongs to the batch that gathers now, whose number the gate
    /// has.
    func journalGathers() -> ByteBuffer
    /// What waits under this number, or a smaller one, may leave the node.
    func journalHasWritten(_ number: UInt64)
    /// The next part of what is in memory, for a journal that was lost.
    func journalPart(isFirst: Bool) -> (bytes: ByteBuffer, isLast: Bool)
    /// This node is about to let another one lead: it takes nothing in any more, and says nothing.
    func journalLeaves()
    /// Another node may lead. What is in memory stays until it does.
    func journalParts()
    /// It goes on leading after all. What was asked meanwhile has no answer.
    func journalStays()
    /// Another node leads.
    func journalEnded(_ reason: String)
}

/// The journal of one shard in Redis: it does what `ShardLeadership` says. It is confined to one event loop.
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
    private var machine: ShardLeadership
    private var keeper: (any JournalDelegate)?
    private var leader = ""
    private var backlogCounted = 0
    private var isLeadCounted = false
    /// Whether it is known by now which shards this node should lead.
    private var isPlaced = false
    /// Whether Redis has said who leads.
    private var hasAnswer = false
    /// Whether no lead of this process has begun a journal or read one.
    private var mayHaveEra = true
    private var farewell: (successor: String, done: () -> Void)?

    /// - Parameter client: is shared with the journals of the other shards.
    init(
        _ client: RedisClient, names: JournalNames, limits: JournalLimits,
        confirmation: JournalConfirmation, probe: ReadinessProbe, metrics: JournalMetrics, logger: Logger,
        random: @escaping () -> UInt64 = { .random(in: 1...UInt64.max) }
    ) {
        self.client = client
        self.names = names
        commands = JournalCommands(
            names: names, limits: limits, isConfirmed: confirmation.isNeeded)
        makeRandom = random
        eventLoop = client.eventLoop
        self.probe = probe
        self.metrics = metrics
        self.confirmation = confirmation
        self.logger = logger
        machine = ShardLeadership(limits)
        probe.notReady("no connection to Redis at \(client.configuration.deployment) yet")
    }

    func start(keeper: any JournalDelegate) {
        self.keeper = keeper
        wake()
    }

    private func wake() {
        guard keeper != nil else { return }
        if client.isUsable { pass() }
        eventLoop.assumeIsolated().scheduleTask(in: Self.tick) { [self] in wake() }
    }

    // MARK: - Which node is to lead

    var isLeading: Bool { machine.isLeading }

    /// - Parameter isWanted: whether the shard is this node's, as long as all nodes live that do now. The
    ///   others lead it only where nobody else does.
    func place(isWanted: Bool) {
        isPlaced = true
        machine.patience = isWanted ? 0 : machine.limits.lease / 2
    }

    /// The number of shards isn't that of the nodes that live.
    func refuse(_ layout: String) { perform(.refuse("the messaging nodes that run have \(layout)")) }

    /// Lets another node lead, when what was said so far is written.
    func handOver(to successor: String) { handOver(to: successor, isLast: false) }

    private func handOver(to successor: String, isLast: Bool) {
        if !successor.isEmpty { logger.notice("another node is to lead", metadata: ["node": "\(successor)"]) }
        collect()
        perform(machine.handOver(to: successor, isLast: isLast, now: now))
    }

    private func pass() {
        guard isPlaced else { return }
        collect()
        perform(machine.passed(now: now, random: random))
        if let farewell { perform(machine.handOver(to: farewell.successor, isLast: true, now: now)) }
    }

    /// A batch may leave within a turn, when Redis answers. What has happened in the turn goes with it.
    private func collect() {
        if let bytes = keeper?.journalGathers(), bytes.readableBytes > 0 { machine.gather(bytes) }
    }

    /// Lets another node lead, when what was said so far is written, and ends. While Redis can't be reached
    /// it waits, until it is told to end at once.
    func shutdown(successor: String, _ done: @escaping () -> Void) {
        farewell = (successor, done)
        guard machine.isLeading else { return end() }
        if client.isUsable { handOver(to: successor, isLast: true) }
    }

    /// Ends a shutdown at once.
    func end() {
        guard let farewell = farewell.take() else { return }
        machine.stop()
        keeper = nil
        farewell.done()
    }

    /// Under this number others wait for what gathers.
    var gatheringNumber: UInt64 { machine.lead?.gatheringNumber ?? 0 }
    /// Bytes that Redis hasn't got yet.
    var backlog: Int { machine.lead?.backlog ?? 0 }
    var limits: JournalLimits { machine.limits }

    /// Something happened that others must not hear of before it is written.
    func gathered(_ bytes: ByteBuffer) {
        perform(machine.gathered(bytes, now: now))
        countBacklog()
    }

    /// The metric is the sum of all shards.
    private func countBacklog() {
        metrics.backlog.add(backlog - backlogCounted)
        backlogCounted = backlog
    }

    private func countLead(_ leads: Bool) {
        if leads != isLeadCounted { metrics.leading.add(leads ? 1 : -1) }
        isLeadCounted = leads
    }

    /// A caller knows of this lead.
    func heard(of term: UInt64) {
        perform(machine.heard(of: term, now: now))
    }

    /// - Parameter milliseconds: how long it takes until every channel without an entry was told again.
    func keepsChannels(for milliseconds: UInt64) {
        machine.limits.retention = max(machine.limits.retention, 2 * milliseconds)
    }

    private var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }
    private var random: UInt64 { makeRandom() }

    // MARK: - Actions

    private func perform(_ actions: [LeadershipEffect]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: LeadershipEffect) {
        switch action {
        case .take(let token, let begins, let patience, let ahead):
            take(token, begins: begins, patience, ahead)
        case .prepare(let term): keeper?.journalReads(term)
        case .forget: keeper?.journalForgets()
        case .read(let token, let number): read(token, after: number)
        case .lead(let term): lead(term, isAnew: false)
        case .leadAnew(let term): lead(term, isAnew: true)
        case .append(let append): send(append)
        case .reinstate(let token, let before, let empties, let isWhole):
            reinstate(token, before: before, empties: empties, isWhole: isWhole)
        case .release(let number): keeper?.journalHasWritten(number)
        case .rewrite(let isFirst): rewrite(isFirst: isFirst)
        case .offer(let token, let successor): offer(token, to: successor)
        case .leave: keeper?.journalLeaves()
        case .handOver(let token, let last, let successor): handOver(token, last: last, to: successor)
        case .part:
            countLead(false)
            keeper?.journalParts()
        case .stay:
            countLead(true)
            keeper?.journalStays()
        case .stepDown(let reason):
            countLead(false)
            logger.notice("this node doesn't lead any more", metadata: ["reason": "\(reason)"])
            keeper?.journalEnded(reason)
            countBacklog()
            end()
        case .refuse(let reason):
            probe.notReady(
                "\(reason), and this node is configured for \(names.layout): "
                    + "messaging.shards is fixed for an installation")
        }
    }

    private func take(_ token: UInt64, begins: Bool, _ patience: UInt64, _ ahead: JournalPosition?) {
        guard begins else { return take(token, epoch: nil, patience, ahead) }
        client.send(commands.exists) { [self] outcome in
            guard case .success(let reply) = outcome else { return takeFailed(outcome) }
            guard reply.number == 0 else { return take(token, epoch: nil, patience, ahead) }
            askForEra { [self] epoch in take(token, epoch: epoch, patience, ahead) }
        }
    }

    private func askForEra(_ done: @escaping (_ firstEpoch: UInt64) -> Void) {
        guard mayHaveEra else { return done(JournalTerm.epoch(from: random)) }
        client.send(commands.era(JournalTerm.epoch(from: random))) { [self] outcome in
            guard case .success(let reply) = outcome, reply.string != "wait" else {
                return takeFailed(outcome)
            }
            done(reply.number.map { $0 + names.epochsBefore } ?? JournalTerm.epoch(from: random))
        }
    }

    /// - Parameter epoch: of the first partition, if a journal is to begin; nil if none is.
    private func take(_ token: UInt64, epoch: UInt64?, _ patience: UInt64, _ ahead: JournalPosition?) {
        let command = commands.take(token, epoch: epoch, secret: random, patience: patience, ahead: ahead)
        client.send(command) { [self] outcome in
            guard case .success(let reply) = outcome, let answer = JournalAnswer.Take(reply) else {
                return takeFailed(outcome)
            }
            hasAnswer = true
            if case .taken = answer { mayHaveEra = false }
            follow(answer)
            perform(machine.taken(answer, now: now))
        }
    }

    private func takeFailed(_ outcome: Result<RedisReply, RedisFailure>) {
        if case .failure = outcome { report(outcome) }
        perform(machine.takeFailed(now: now))
    }

    private func follow(_ answer: JournalAnswer.Take) {
        switch answer {
        case .held(let node):
            probe.ready()
            if node != leader { logger.info("another node leads", metadata: ["node": "\(node)"]) }
            leader = node
        case .successor: probe.ready()
        case .empty, .taken, .otherLayout: break
        }
    }

    private func read(_ token: UInt64, after number: UInt64) {
        client.send(commands.read(after: number)) { [self] outcome in
            guard token == machine.readToken else { return }
            guard case .success(let reply) = outcome else {
                report(outcome)
                return perform(machine.pageRead(nil, hasHeads: false, now: now, random: random))
            }
            guard let page = JournalPage(reply) else {
                report(outcome)
                return perform(machine.pageIsUnreadable(now: now))
            }
            do throws(JournalFault) {
                for batch in page.batches { try restore(batch.bytes) }
                let batches = page.batches.map { (number: $0.number, bytes: $0.bytes.count) }
                let hasHeads = keeper?.journalHasHeads ?? false
                perform(machine.pageRead(batches, hasHeads: hasHeads, now: now, random: random))
            } catch {
                logger.error("the journal can't be read", metadata: ["cause": "\(error)"])
                perform(machine.pageIsUnreadable(now: now))
            }
        }
    }

    private func restore(_ batch: [UInt8]) throws(JournalFault) {
        let keeper = self.keeper
        let outcome: Result<Void, JournalFault> = batch.withUnsafeBytes { bytes in
            Result { () throws(JournalFault) in try keeper?.journalHas(bytes) }
        }
        try outcome.get()
    }

    private func lead(_ term: JournalTerm, isAnew: Bool) {
        countLead(true)
        metrics.terms.increment()
        probe.ready()
        logger.notice(
            isAnew
                ? "this node leads with new logs: the journal may not have all that was acknowledged"
                : "this node leads", metadata: ["term": "\(term.term)"])
        keeper?.journalLeads(term, isAnew: isAnew)
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
            if answer == .doubt { logger.warning("Redis may have lost a part of the journal") }
            collect()
            perform(machine.appended(append, answer, now: now, random: random))
            countBacklog()
        }
    }

    private func reinstate(_ token: UInt64, before: UInt64, empties: Bool, isWhole: Bool) {
        guard let term = machine.lead?.term else { return }
        let command = commands.reinstate(token, before: before, empties: empties, isWhole: isWhole, term)
        client.send(command) { [self] outcome in
            let answer = JournalAnswer.Reinstate(outcome)
            if answer == .unknown { report(outcome) }
            collect()
            perform(machine.reinstated(answer, now: now, random: random))
        }
    }

    private func offer(_ token: UInt64, to successor: String) {
        client.send(commands.offer(token, to: successor)) { [self] outcome in
            collect()
            perform(machine.offered(to: successor, under: token, (try? outcome.get())?.number, now: now))
        }
    }

    private func handOver(_ token: UInt64, last: UInt64, to successor: String) {
        client.send(commands.release(token, last: last, to: successor)) { [self] outcome in
            collect()
            perform(machine.handedOver(JournalAnswer.HandOver(outcome), now: now, random: random))
        }
    }

    private func rewrite(isFirst: Bool) {
        guard let part = keeper?.journalPart(isFirst: isFirst) else { return }
        collect()
        if part.isLast { logger.notice("the journal has everything again that this node has in memory") }
        perform(machine.rewrite(part.bytes, isLast: part.isLast, now: now))
    }

    private func report(_ outcome: Result<RedisReply, RedisFailure>) {
        switch outcome {
        case .failure(let failure): probe.notReady("Redis doesn't answer the journal: \(failure)")
        case .success(let reply):
            let text = reply.string ?? "no text"
            probe.notReady("Redis answers the journal with something else: \(text)")
        }
    }
}

extension RedisJournal {
    func redisIsUp() {
        if hasAnswer { probe.ready() } else { probe.notReady("Redis has not said yet which node leads") }
        pass()
    }

    func redisIsDown(_ cause: String) { probe.notReady(cause) }
}
