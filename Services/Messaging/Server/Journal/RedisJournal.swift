import Logging
import NIOCore
import RTMRedis
import RTMServiceKit

/// Whose journal it is. All calls come on the journal's event loop.
protocol JournalKeeper: AnyObject {
    /// This node is about to lead. What other nodes wrote before comes next, in order.
    func journalReads(_ term: JournalTerm)
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
    /// Another node leads.
    func journalEnded(_ reason: String)
}

/// The journal of messaging in Redis: it does what `JournalMachine` says. It is confined to one event loop.
final class RedisJournal {
    /// Limit: batches that are read at once.
    private static let pageCount: UInt64 = 4
    private static let tick = TimeAmount.milliseconds(25)

    private let client: RedisClient
    private let names: JournalNames
    private let eventLoop: any EventLoop
    private let probe: ReadinessProbe
    private let metrics: JournalMetrics
    private let logger: Logger
    private var machine: JournalMachine
    private var keeper: (any JournalKeeper)?
    private var leader = ""

    init(
        _ redis: RedisConfiguration, names: JournalNames, limits: JournalLimits, on eventLoop: any EventLoop,
        probe: ReadinessProbe, metrics: JournalMetrics, logger: Logger
    ) {
        client = RedisClient(redis, scripts: JournalScripts.all, on: eventLoop, logger: logger)
        self.names = names
        self.eventLoop = eventLoop
        self.probe = probe
        self.metrics = metrics
        self.logger = logger
        machine = JournalMachine(limits)
        probe.notReady("no connection to Redis at \(redis.deployment) yet")
    }

    func start(keeper: any JournalKeeper) {
        self.keeper = keeper
        client.start(delegate: self)
        wake()
    }

    private func wake() {
        guard keeper != nil else { return }
        if client.isUp { pass() }
        eventLoop.assumeIsolated().scheduleTask(in: Self.tick) { [self] in wake() }
    }

    private func pass() {
        handOver()
        perform(machine.passed(now: now, random: random))
    }

    /// A batch may leave within a turn, when Redis answers. What has happened in the turn goes with it.
    private func handOver() {
        if let bytes = keeper?.journalGathers(), bytes.readableBytes > 0 { machine.gather(bytes) }
    }

    /// Lets another node lead, when what was said so far is written.
    func shutdown(_ done: @escaping () -> Void) {
        let token = machine.stop()
        let end: () -> Void = { [self] in
            client.shutdown()
            keeper = nil
            done()
        }
        guard let token, client.isUp else { return end() }
        // The commands are done in their order, so the batch under way is written before this.
        client.run(JournalScripts.release, keys: [names.head], [RedisArgument(token)]) { _ in end() }
    }

    /// Under this number others wait for what gathers.
    var gatheringNumber: UInt64 { machine.gatheringNumber }
    /// Bytes that Redis hasn't got yet.
    var backlog: Int { machine.backlog }
    var limits: JournalLimits { machine.limits }

    /// Something happened that others must not hear of before it is written.
    func gathered(_ bytes: ByteBuffer) {
        perform(machine.gathered(bytes, now: now))
        metrics.backlog.set(machine.backlog)
    }

    /// A caller knows of this lead.
    func heard(of term: UInt64) {
        perform(machine.heard(of: term, now: now))
    }

    /// - Parameter milliseconds: how long it takes until every channel without an entry was told again.
    func keepsChannels(for milliseconds: UInt64) {
        machine.limits.retention = max(machine.limits.retention, 2 * milliseconds)
    }

    private var now: UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }
    private var random: UInt64 { .random(in: 1...UInt64.max) }

    // MARK: - Actions

    private func perform(_ actions: [JournalAction]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: JournalAction) {
        switch action {
        case .take(let token, let begins): take(token, begins: begins)
        case .read(let number): read(after: number)
        case .lead(let term): lead(term, isAnew: false)
        case .leadAnew(let term): lead(term, isAnew: true)
        case .append(let append): send(append)
        case .reinstate(let token, let before, let empties, let isWhole):
            reinstate(token, before: before, empties: empties, isWhole: isWhole)
        case .release(let number): keeper?.journalHasWritten(number)
        case .rewrite(let isFirst): rewrite(isFirst: isFirst)
        case .stepDown(let reason):
            metrics.leading.set(0)
            logger.warning("this node doesn't lead any more", metadata: ["reason": "\(reason)"])
            keeper?.journalEnded(reason)
        case .refuse(let reason):
            probe.notReady(
                "\(reason), and this node is configured for \(names.partitions): "
                    + "the number is fixed for an installation")
        }
    }

    private func take(_ token: UInt64, begins: Bool) {
        let fresh = random
        let arguments: [RedisArgument] = [
            RedisArgument(token), .text(names.node), RedisArgument(limits.lease), .run, RedisArgument(begins),
            RedisArgument(JournalTerm.epoch(from: fresh)), RedisArgument(random),
            RedisArgument(UInt64(names.partitions)),
        ]
        client.run(JournalScripts.take, keys: [names.head], arguments) { [self] outcome in
            guard case .success(let reply) = outcome, let answer = JournalAnswer.Take(reply) else {
                report(outcome)
                return machine.takeFailed(now: now)
            }
            follow(answer)
            perform(machine.taken(answer, now: now))
        }
    }

    private func follow(_ answer: JournalAnswer.Take) {
        if case .held(let node) = answer {
            probe.ready()
            if node != leader { logger.info("another node leads", metadata: ["node": "\(node)"]) }
            leader = node
        }
        if case .taken(let term, _, _) = answer { keeper?.journalReads(term) }
    }

    private func read(after number: UInt64) {
        let range = RedisCommand(
            "XRANGE", .text(names.batches), .text("(\(number)-0"), "+", "COUNT",
            RedisArgument(Self.pageCount))
        client.send(range) { [self] outcome in
            guard case .success(let reply) = outcome else {
                report(outcome)
                return perform(machine.pageRead(nil, hasHeads: false, now: now))
            }
            guard let page = JournalPage(reply) else {
                report(outcome)
                return perform(machine.pageIsUnreadable())
            }
            do throws(JournalFault) {
                for batch in page.batches { try restore(batch.bytes) }
                let batches = page.batches.map { (number: $0.number, bytes: $0.bytes.count) }
                let hasHeads = keeper?.journalHasHeads ?? false
                perform(machine.pageRead(batches, hasHeads: hasHeads, now: now))
            } catch {
                logger.error("the journal can't be read", metadata: ["cause": "\(error)"])
                perform(machine.pageIsUnreadable())
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
        metrics.leading.set(1)
        metrics.terms.increment()
        probe.ready()
        logger.notice(
            isAnew
                ? "this node leads with new logs: what was in the journal may not be all that was acknowledged"
                : "this node leads", metadata: ["term": "\(term.term)"])
        keeper?.journalLeads(term, isAnew: isAnew)
    }

    private func send(_ append: JournalAppend) {
        let began = NIODeadline.now()
        let arguments: [RedisArgument] = [
            RedisArgument(append.token), RedisArgument(append.number), .run, RedisArgument(limits.lease),
            RedisArgument(append.oldestKept), .buffer(append.bytes), RedisArgument(append.isWhole),
        ]
        client.run(JournalScripts.append, keys: [names.head, names.batches], arguments) { [self] outcome in
            if append.bytes.readableBytes > 0 {
                metrics.batches.increment()
                metrics.bytes.increment(by: append.bytes.readableBytes)
                metrics.time.observe(.nanoseconds((NIODeadline.now() - began).nanoseconds))
            }
            let answer = JournalAnswer.Append(outcome)
            if answer == .unknown { report(outcome) }
            if answer == .doubt { logger.warning("Redis may have lost a part of the journal") }
            handOver()
            perform(machine.appended(append, answer, now: now, random: random))
            metrics.backlog.set(machine.backlog)
        }
    }

    private func reinstate(_ token: UInt64, before: UInt64, empties: Bool, isWhole: Bool) {
        guard let term = machine.term else { return }
        let arguments: [RedisArgument] = [
            RedisArgument(token), RedisArgument(before), .text(names.node), RedisArgument(limits.lease), .run,
            RedisArgument(empties), RedisArgument(isWhole), RedisArgument(term.term),
            RedisArgument(term.epoch), RedisArgument(term.secret), RedisArgument(UInt64(names.partitions)),
        ]
        client.run(JournalScripts.reinstate, keys: [names.head, names.batches], arguments) {
            [self] outcome in
            let answer = JournalAnswer.Reinstate(outcome)
            if answer == .unknown { report(outcome) }
            handOver()
            perform(machine.reinstated(answer, now: now, random: random))
        }
    }

    private func rewrite(isFirst: Bool) {
        guard let part = keeper?.journalPart(isFirst: isFirst) else { return }
        handOver()
        if part.isLast { logger.notice("the journal has everything again that this node has in memory") }
        perform(machine.rewrite(part.bytes, isLast: part.isLast, now: now))
    }

    private func report(_ outcome: Result<RedisReply, RedisFailure>) {
        switch outcome {
        case .failure(let failure): probe.notReady("Redis doesn't answer the journal: \(failure)")
        case .success(let reply): probe.notReady("Redis answers the journal with \(reply)")
        }
    }
}

extension RedisJournal: RedisClientDelegate {
    func redisIsUp() {
        probe.ready()
        pass()
    }

    func redisIsDown(_ cause: String) { probe.notReady(cause) }
}

/// Under which keys the journal lies, and who writes it.
struct JournalNames: Sendable {
    /// Both lie in one slot, so that one script can use them.
    let head: String
    let batches: String
    let node: String
    let partitions: Int

    init(prefix: String, node: String, partitions: Int) {
        head = "{\(prefix)journal}:head"
        batches = "{\(prefix)journal}:batches"
        self.node = node
        self.partitions = partitions
    }
}
