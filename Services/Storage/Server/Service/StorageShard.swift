import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// One shard of what storage keeps, at a node: it decodes what callers ask, hands it to the threads, and
/// sends the threads' answers. It decides only what can be decided without looking into the store.
///
/// The shard and all its links live on one event loop.
final class StorageShard {
    let number: Int
    /// How many shards there are.
    let shardCount: Int
    let logger: Logger
    let metrics: StorageMetrics
    let queues: StorageQueues
    /// Counts for what is stored from now on.
    var retention: HistoryRetention
    let outbox: StorageOutbox
    let collector: EventCollector
    let arena = DecodeArena()
    var links: [UInt64: AcceptedServiceLink] = [:]
    var leadership: StorageLeadership
    var nodes: NodesPush?
    /// Where the node is reached that leads the shard, or its name; empty if that isn't known.
    var leader = ""
    var bans = BanList()
    var inquiries = BanInquiries()
    var questions = EdgeInquiries()
    /// The links of gateways and of operators' programs, which have no users.
    var operators: Set<UInt64> = []
    var eventWaits = EventWaits()
    /// Which reads may begin for each link.
    var turns = AnswerTurns<StorageRead>()
    /// For how long the events of each app are kept, in milliseconds; apps without events aren't in it.
    var eventRetention: [String: UInt64] = [:]
    /// Nil where the store is this node's alone.
    var cleaningPace: CleaningPace?
    /// False where no app has events, and nothing is left of those that had some.
    var mayHaveEvents = true
    let eventLoop: any EventLoop
    let wallClock: () -> UInt64
    /// The ticket of the last caller that asked for a lock.
    var lastTicket: UInt64 = 0

    /// - Parameter hasOthers: whether other nodes may share the store.
    init(
        _ number: Int = 0, among shardCount: Int = 1, queues: StorageQueues, retention: HistoryRetention,
        outbox: StorageOutbox, collector: EventCollector,
        on eventLoop: any EventLoop, metrics: StorageMetrics, logger: Logger, hasOthers: Bool = false,
        wallClock: @escaping () -> UInt64 = WallClock.milliseconds
    ) {
        leadership = StorageLeadership(hasOthers: hasOthers)
        if hasOthers { cleaningPace = CleaningPace() } else { metrics.leading.add(1) }
        self.number = number
        self.shardCount = shardCount
        self.wallClock = wallClock
        self.collector = collector
        self.eventLoop = eventLoop
        self.queues = queues
        self.retention = retention
        self.outbox = outbox
        self.metrics = metrics
        self.logger = logger
    }
}

// MARK: - What comes in

extension StorageShard: NodeShard {
    static var leaderPush: ServicePush<LeaderPush> { StorageMethod.leader }
    static var nodesPush: ServicePush<NodesPush> { StorageMethod.nodes }

    func linkOpened(_ link: AcceptedServiceLink) {
        links[link.id] = link
        metrics.links.add(1)
        if let push = leadership.announcement { link.push(StorageMethod.leader, push) }
        if let nodes { link.push(StorageMethod.nodes, nodes) }
        guard leadership.serves else { return }
        for ban in bans.announcement { link.push(StorageMethod.banned, ban) }
    }

    func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) {
        links[link.id] = nil
        operators.remove(link.id)
        metrics.links.add(-1)
        for inquiry in inquiries.lost(link.id) { answer(inquiry) }
        for inquiry in questions.lost(link.id) { answer(inquiry) }
        turns.linkClosed(link.id)
        metrics.waitingReads.set(turns.waitingCount, of: self)
        eventWaits.linkClosed(link.id)
        metrics.eventWaits.set(eventWaits.count, of: self)
        _ = queues.writes.put(StorageWrite(LostLink(), link: link.id), mayOverfill: true)
    }

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        do {
            guard leadership.serves else { throw noLeader(method) }
            cleaningPace?.used()
            if StorageMethod.names[method] != nil, !Self.methodsOfClients.contains(method) {
                operators.insert(link.id)
            }
            let call = StorageCall(id: id, link: link, deadline: eventLoop.now + TimeAmount(timeout))
            switch method {
            case StorageMethod.call: try self.call(CallRequest(body, in: arena), call)
            case StorageMethod.appendHistory: try append(AppendHistoryRequest(body, in: arena), call)
            case StorageMethod.snapshot: try read(SnapshotRequest(body, in: arena), call)
            case StorageMethod.ban: try ban(Ban(body, in: arena), call)
            case StorageMethod.bans: try read(StorageMethod.bans, body, call)
            case StorageMethod.askEdges: try askEdges(EdgeQuestion(body, in: arena), call)
            case StorageMethod.purgeHistory: try purge(PurgeHistoryRequest(body, in: arena), call)
            case StorageMethod.keepAudit: try keep(KeepAudit(body, in: arena), call)
            case StorageMethod.audit: try read(StorageMethod.audit, body, call)
            case StorageMethod.events: try readEvents(EventsRequest(body, in: arena), call)
            case StorageMethod.claimReader: try claim(ClaimReader(body, in: arena), call)
            case StorageMethod.keepReader: try keep(KeepReader(body, in: arena), call)
            case StorageMethod.moveReader: try write(MoveReader(body, in: arena), call)
            case StorageMethod.readers: try read(StorageMethod.readers, body, call)
            case StorageMethod.deadLetters: try read(StorageMethod.deadLetters, body, call)
            default: throw RTMError(.serviceNotSupport, "storage has no method \(method)")
            }
        } catch let error as RTMError {
            refuse(id, error, link)
        } catch {
            refuse(id, RTMError(.invalidParameter, "storage can't read the request: \(error)"), link)
        }
    }

    func linkBecameWritable(_ link: AcceptedServiceLink) { readNext(for: link) }

    /// Edges hand refusals of these calls on to clients, who learn no addresses.
    private static let methodsOfClients = [
        StorageMethod.call.number, StorageMethod.appendHistory.number, StorageMethod.snapshot.number,
    ]

    private func noLeader(_ method: UInt32) -> RTMError {
        let isNamed = !leader.isEmpty && !Self.methodsOfClients.contains(method)
        let leader = isNamed ? ": \(self.leader) does" : ""
        return RTMError(
            .storageNotAvailable, "this storage node doesn't lead\(leader)", retryAfter: .milliseconds(100))
    }

    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {
        guard leadership.serves else { return }
        switch method {
        case StorageMethod.session:
            guard let push = try? SessionPush(body, in: arena) else { return }
            _ = queues.writes.put(StorageWrite(push, link: link.id), mayOverfill: true)
        case StorageMethod.banReport:
            guard let report = try? BanReport(body, in: arena) else { return }
            if let inquiry = inquiries.take(report, from: link.id) { answer(inquiry) }
        case StorageMethod.edgeAnswer:
            guard let answer = try? EdgeAnswer(body, in: arena) else { return }
            let findings = ByteBuffer(bytes: answer.findings.bytes)
            let inquiry = questions.take(answer.number, from: link.id) { $0.append(findings) }
            if let inquiry { self.answer(inquiry) }
        default: break
        }
    }

    func refuse(_ id: UInt64, _ error: RTMError, _ link: AcceptedServiceLink) {
        metrics.refused.increment()
        if error.conflict != nil { metrics.conflicts.increment() }
        link.fail(id, error)
    }
}
