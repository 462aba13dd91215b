import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// The storage service on its event loop: it decodes what callers ask, hands it to the threads, and sends the
/// threads' answers. It decides only what can be decided without looking into the store.
final class StorageNode {
    private let logger: Logger
    private let metrics: StorageMetrics
    private let queues: StorageQueues
    /// Counts for what is stored from now on.
    var retention: HistoryRetention
    private let outbox: StorageOutbox
    private let arena = DecodeArena()
    private var links: [UInt64: AcceptedServiceLink] = [:]
    private var leadership: StorageLeadership
    private var nodes = StorageNodes()
    private var bans = BanList()
    /// False from the moment at which this node leads until the store has said who is banned.
    private var areBansKnown = true
    private var inquiries = BanInquiries()
    private var questions = EdgeInquiries()
    /// The links of operators' programs, which have no users.
    private var operators: Set<UInt64> = []
    private var eventWaits = EventWaits()
    private let collector: EventCollector
    /// For how long the events of each app are kept, in milliseconds; apps without events aren't in it.
    private(set) var eventRetention: [String: UInt64] = [:]
    /// False where no app has events, and nothing is left of those that had some.
    private var mayHaveEvents = true
    private let eventLoop: any EventLoop
    private let wallClock: () -> UInt64
    /// The ticket of the last caller that asked for a lock.
    private var lastTicket: UInt64 = 0

    /// - Parameter hasOthers: whether other nodes may share the store.
    init(
        queues: StorageQueues, retention: HistoryRetention, outbox: StorageOutbox, collector: EventCollector,
        on eventLoop: any EventLoop, metrics: StorageMetrics, logger: Logger, hasOthers: Bool = false,
        wallClock: @escaping () -> UInt64 = WallClock.milliseconds
    ) {
        leadership = StorageLeadership(hasOthers: hasOthers)
        metrics.leading.set(hasOthers ? 0 : 1)
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

extension StorageNode: ServiceLinkHandler {
    func linkOpened(_ link: AcceptedServiceLink) {
        links[link.id] = link
        metrics.links.add(1)
        if let push = leadership.announcement { link.push(StorageMethod.leader, push) }
        if !nodes.addresses.isEmpty { link.push(StorageMethod.nodes, nodes.push) }
        guard leadership.serves, areBansKnown else { return }
        for ban in bans.announcement { link.push(StorageMethod.banned, ban) }
    }

    func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) {
        links[link.id] = nil
        operators.remove(link.id)
        metrics.links.add(-1)
        for inquiry in inquiries.lost(link.id) { answer(inquiry) }
        for inquiry in questions.lost(link.id) { answer(inquiry) }
        eventWaits.linkClosed(link.id)
        metrics.eventWaits.set(eventWaits.count)
        _ = queues.writes.put(StorageWrite(.linkLost, link: link.id), mayOverfill: true)
    }

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        do {
            guard leadership.serves else { throw noLeader(method) }
            switch method {
            case StorageMethod.call: try call(CallRequest(body, in: arena), id, link)
            case StorageMethod.appendHistory:
                try append(AppendHistoryRequest(body, in: arena), id, link)
            case StorageMethod.snapshot:
                let request = try SnapshotRequest(body, in: arena)
                try read(.snapshot(request), id, link)
            case StorageMethod.ban:
                try ban(Ban(body, in: arena), id, link)
            case StorageMethod.bans:
                operators.insert(link.id)
                try read(.bans(BansRequest(body, in: arena)), id, link)
            case StorageMethod.askEdges:
                try askEdges(EdgeQuestion(body, in: arena), id, link)
            case StorageMethod.purgeHistory:
                try purge(PurgeHistoryRequest(body, in: arena), id, link)
            case StorageMethod.keepAudit:
                operators.insert(link.id)
                let request = try KeepAudit(body, in: arena)
                try AuditTrail.check(request.line)
                try write(.keepAudit(request), .storageNotAvailable, nil, id, link)
            case StorageMethod.audit:
                operators.insert(link.id)
                try read(.audit(AuditRequest(body, in: arena)), id, link)
            case StorageMethod.events...StorageMethod.deadLetters:
                operators.insert(link.id)
                try events(method, body, id, link)
            default: throw RTMError(.serviceNotSupport, "storage has no method \(method)")
            }
        } catch let error as RTMError {
            refuse(id, error, link)
        } catch {
            refuse(id, RTMError(.invalidParameter, "storage can't read the request: \(error)"), link)
        }
    }

    /// Edges hand refusals of these calls on to clients, who learn no addresses.
    private static let methodsOfClients = [
        StorageMethod.call, StorageMethod.appendHistory, StorageMethod.snapshot,
    ]

    private func noLeader(_ method: UInt32) -> RTMError {
        let isNamed = !nodes.leader.isEmpty && !Self.methodsOfClients.contains(method)
        let leader = isNamed ? ": \(nodes.leader) does" : ""
        return RTMError(
            .storageNotAvailable, "this storage node doesn't lead\(leader)", retryAfter: .milliseconds(500))
    }

    /// What gateways ask about events and their readers (W-42, W-44).
    private func events(
        _ method: UInt32, _ body: UnsafeRawBufferPointer, _ id: UInt64, _ link: AcceptedServiceLink
    ) throws {
        switch method {
        case StorageMethod.events:
            let request = try EventsRequest(body, in: arena)
            try checkEvents(request.appID)
            let wait = min(request.wait, Self.waitMax).milliseconds
            try read(
                .init(request: request, link: link.id, id: id, deadline: steadyMilliseconds + wait))
        case StorageMethod.claimReader:
            let request = try ClaimReader(body, in: arena)
            try request.check()
            try checkEvents(request.appID)
            try write(.claimReader(request), .storageNotAvailable, nil, id, link)
        case StorageMethod.keepReader:
            let request = try KeepReader(body, in: arena)
            try request.check()
            try write(.keepReader(request), .storageNotAvailable, nil, id, link)
        case StorageMethod.moveReader:
            try write(.moveReader(MoveReader(body, in: arena)), .storageNotAvailable, nil, id, link)
        case StorageMethod.readers: try read(.readers(ReadersRequest(body, in: arena)), id, link)
        default: try read(.deadLetters(DeadLettersRequest(body, in: arena)), id, link)
        }
    }

    /// Limit: how long a read of events waits.
    private static let waitMax = Duration.seconds(60)

    private var steadyMilliseconds: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    private func checkEvents(_ app: String) throws(RTMError) {
        guard eventRetention[app] != nil else {
            throw RTMError(
                .invalidParameter,
                "the app has no events: set events in its record of apps to the time for which they are kept")
        }
    }

    private func read(_ wait: EventWaits.Wait) throws(RTMError) {
        let number = eventWaits.begin(wait)
        let read = StorageRead(work: .appEvents(wait.request), link: wait.link, request: number)
        guard queues.reads.put(read) else {
            _ = eventWaits.ended(number)
            throw overfull(.storageNotAvailable, queues.reads.countMax)
        }
    }

    /// A read of events has ended.
    private func readEvents(_ number: UInt64, _ result: Result<ReadOutcome.Answer, RTMError>) {
        guard let wait = eventWaits.ended(number), let link = links[wait.link] else { return }
        let response: EventsResponse
        switch result {
        case .success(.appEvents(let page)): response = page
        case .success: return
        case .failure(let error): return refuse(wait.id, error, link)
        }
        switch eventWaits.next(after: response, wait, now: steadyMilliseconds) {
        case .answer: link.respond(to: wait.id, response)
        case .readAgain(let request): readAgain(wait, request, link)
        case .wait:
            var wait = wait
            wait.request.after = response.next
            park(wait)
        }
    }

    private func readAgain(_ wait: EventWaits.Wait, _ request: EventsRequest, _ link: AcceptedServiceLink) {
        var wait = wait
        wait.request = request
        do throws(RTMError) { try read(wait) } catch { refuse(wait.id, error, link) }
    }

    private func park(_ wait: EventWaits.Wait) {
        let number = eventWaits.park(wait)
        metrics.eventWaits.set(eventWaits.count)
        let time = TimeAmount.milliseconds(Int64(wait.deadline) - Int64(steadyMilliseconds))
        eventLoop.assumeIsolated().scheduleTask(in: time) {
            guard let wait = self.eventWaits.expired(number), let link = self.links[wait.link] else { return }
            self.metrics.eventWaits.set(self.eventWaits.count)
            link.respond(to: wait.id, EventsResponse(next: wait.request.after))
        }
    }

    private func collected(_ outcome: WriteOutcome) {
        metrics.eventsKept.increment(by: outcome.eventsKept)
        for feed in outcome.collected { collector.kept(feed.feed, feed.isKept) }
        for (app, offset) in outcome.newEvents {
            for wait in eventWaits.kept(app, newest: offset) {
                guard let link = links[wait.link] else { continue }
                readAgain(wait, wait.request, link)
            }
        }
        metrics.eventWaits.set(eventWaits.count)
    }

    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {
        guard leadership.serves else { return }
        switch method {
        case StorageMethod.session:
            guard let push = try? SessionPush(body, in: arena) else { return }
            _ = queues.writes.put(StorageWrite(.session(push), link: link.id), mayOverfill: true)
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

    private func refuse(_ id: UInt64, _ error: RTMError, _ link: AcceptedServiceLink) {
        metrics.refused.increment()
        if error.conflict != nil { metrics.conflicts.increment() }
        link.fail(id, error)
    }

    private func call(_ call: CallRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        let caller = call.caller
        switch try StorageRequest(scanning: call.request.bytes) {
        case .writeMetadata(let request):
            let channel = try request.target.key(of: caller)
            try request.check()
            try write(.metadata(request, of: channel), .storageNotAvailable, caller, id, link)
        case .lock(let request):
            let channel = try request.place.key(of: caller)
            try NameRule.lock.check(request.name.utf8)
            lastTicket += 1
            try write(
                .lock(request, of: channel, ticket: lastTicket), .lockOperationFailed, caller, id, link)
        case .getMetadata(let target): try read(.metadata(target.key(of: caller)), id, link)
        case .getLocks(let place): try read(.locks(place.key(of: caller)), id, link)
        case .getHistory(let request):
            let query = try HistorySelection(request, of: caller)
            try retention.check(caller.appID)
            try read(.history(query), id, link)
        case nil: throw RTMError(.serviceNotSupport, "storage doesn't know this request")
        }
    }

    /// Stores a message of a message or user channel (H-1).
    private func append(_ request: AppendHistoryRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        let channel = request.channel
        guard channel.type == .message || channel.type == .user else {
            throw RTMError(.invalidChannelType, "only message and user channels have a history")
        }
        try retention.check(channel.appID)
        let time = request.timestampMilliseconds
        let content = HistoryMessage(
            type: request.message.type ?? .binary, payload: Array(request.message.payload.bytes),
            customType: request.message.customType.string, publisher: request.publisher,
            timestampMilliseconds: time)
        let origin = request.origin
        let isKnown = origin.instance != 0 && origin.sequence != 0
        let message = StoredMessage(
            channel: channel, content: content,
            origin: isKnown ? .init(instance: origin.instance, sequence: origin.sequence) : nil,
            expiry: retention.expiry(of: time, app: channel.appID))
        try write(.history(message), .historyOperationFailed, nil, id, link)
    }

    /// Limit: messages removed in one write of a purge, for the same reason as `expiredMax`.
    private static let purgedMax = 500

    private func purge(_ request: PurgeHistoryRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        let channel = request.channel
        guard channel.type == .message || channel.type == .user else {
            throw RTMError(.invalidChannelType, "only message and user channels have a history")
        }
        try write(
            .purgeHistory(.init(request, limit: Self.purgedMax)), .historyOperationFailed, nil, id, link)
    }

    /// Removes the next messages of a purge, or answers it. A purge whose caller is gone stops where it is.
    private func purged(
        _ purge: HistoryPurge, _ count: Int, _ request: UInt64, _ link: AcceptedServiceLink
    ) {
        let next = purge.next(after: count)
        guard count == purge.limit else {
            link.respond(to: request, PurgeHistoryResponse(removed: UInt64(next.removed)))
            return
        }
        let write = StorageWrite(.purgeHistory(next), link: link.id, request: request)
        _ = queues.writes.put(write, mayOverfill: true)
    }

    private func write(
        _ work: StorageWrite.Work, _ code: ErrorCode, _ caller: Caller?, _ id: UInt64,
        _ link: AcceptedServiceLink
    ) throws(RTMError) {
        let write = StorageWrite(work, caller: caller, link: link.id, request: id)
        guard queues.writes.put(write) else { throw overfull(code, queues.writes.countMax) }
    }

    private func read(_ work: StorageRead.Work, _ id: UInt64, _ link: AcceptedServiceLink) throws(RTMError) {
        let read = StorageRead(work: work, link: link.id, request: id)
        guard queues.reads.put(read) else { throw overfull(work.failureCode, queues.reads.countMax) }
    }

    private func overfull(_ code: ErrorCode, _ countMax: Int) -> RTMError {
        RTMError(
            code, "too many requests wait for the disk", retryAfter: .seconds(1),
            limit: .init(name: "waiting storage requests", value: UInt64(countMax)))
    }
}

// MARK: - What goes out

extension StorageNode {
    /// A group of writes has ended. The answers go first, so a waiter learns its ticket before the ticket is
    /// called.
    func written(_ outcome: WriteOutcome) {
        for answered in outcome.answers {
            // The ban holds, whether the operator still waits or not.
            if case .success(.banned(let ban, let before)) = answered.result {
                ask(ban, before, for: answered.request, answered.link)
                continue
            }
            guard let link = links[answered.link] else { continue }
            switch answered.result {
            case .success(let answer): respond(answer, to: answered.request, link)
            case .failure(let error): refuse(answered.request, error, link)
            }
        }
        for settled in outcome.settled { report(settled) }
        for ban in outcome.bans { push(ban) }
        if outcome.hasListedBans, !areBansKnown {
            areBansKnown = true
            for link in links.values { link.push(StorageMethod.banned, BanList.end) }
        }
        if let failure = outcome.failure {
            if leadership.serves { metrics.failures[.init(cause: failure.kind)].increment() }
            if failure.kind == .fenced { take(leadership.lost()) }
        }
        if let expired = outcome.expired { expireHistory(after: expired) }
        if let size = outcome.size { metrics.report(size) }
        if let removed = outcome.eventsExpired {
            metrics.eventsExpired.increment(by: removed)
            // There are probably more.
            if removed >= Self.eventsRemovedMax { removeEvents() }
            mayHaveEvents = removed > 0 || !eventRetention.isEmpty
        }
        collected(outcome)
        if outcome.hasBegunAnew { take(leadership.began(term: outcome.term)) }
        outbox.committed(outcome.events)
    }

    private func take(_ action: StorageLeadership.Action) {
        metrics.leading.set(leadership.serves ? 1 : 0)
        switch action {
        case .none: break
        case .becomeLeader: becomeLeader()
        case .beginAnew: beginAnew()
        case .follow: follow()
        }
    }

    /// Callers report their sessions when they learn that this node leads. Who is banned, and the events that
    /// the node before has not sent, are read from the store.
    private func becomeLeader() {
        logger.notice("this storage node leads")
        bans = BanList()
        areBansKnown = false
        for link in links.values {
            if let push = leadership.announcement { link.push(StorageMethod.leader, push) }
        }
        outbox.beginAnew()
        start()
        collector.collect(Set(eventRetention.keys), on: eventLoop)
    }

    private func follow() {
        logger.warning("another storage node leads: all links are closed")
        outbox.pause()
        collector.collect([], on: eventLoop)
        for link in links.values { link.close() }
    }

    /// The writer has forgotten which sessions there are and who waits for locks. Callers report that when
    /// they connect, so they connect again, as after a restart of storage. Bans and events that were in doubt
    /// are read from the store.
    private func beginAnew() {
        logger.warning("storage has begun anew with what the database holds: all links are closed")
        outbox.beginAnew()
        start()
        for link in links.values { link.close() }
    }

    /// The database has said which nodes share it.
    func learned(_ nodes: StorageNodes) {
        defer { self.nodes = nodes }
        guard nodes.addresses != self.nodes.addresses else { return }
        for link in links.values { link.push(StorageMethod.nodes, nodes.push) }
    }

    private func respond(_ answer: WriteOutcome.Answer, to request: UInt64, _ link: AcceptedServiceLink) {
        switch answer {
        case .call(let response):
            response.withUnsafeReadableBytes { bytes in
                link.respond(to: request, StorageCallResponse(response: WireText(bytes)))
            }
        case .waiting(let ticket):
            link.respond(to: request, StorageCallResponse(response: .empty, ticket: ticket))
        case .historyAppended:
            metrics.historyStored.increment()
            link.respond(to: request, NoContent())
        case .purged(let purge, let count): purged(purge, count, request, link)
        // It is answered when the edges have reported.
        case .banned: break
        case .keptAudit: link.respond(to: request, NoContent())
        case .claimedReader(let claimed): link.respond(to: request, claimed)
        case .keptReader(let isKept): link.respond(to: request, ReaderKept(isKept: isKept))
        case .movedReader(let isFound): link.respond(to: request, ReaderMoved(isFound: isFound))
        }
    }

    private func report(_ settled: LockStep.Settled) {
        guard let link = links[settled.link] else { return }
        switch settled.outcome {
        case .failure(let error):
            link.push(StorageMethod.lockGranted, LockGrantedPush(ticket: settled.ticket, error: error))
        case .success(let token):
            LockAcquired(fencingToken: token).field.withUnsafeReadableBytes { bytes in
                _ = link.push(
                    StorageMethod.lockGranted,
                    LockGrantedPush(ticket: settled.ticket, response: WireText(bytes)))
            }
        }
    }

    func read(_ outcomes: [ReadOutcome]) {
        for outcome in outcomes {
            if case .events = outcome.read.work {
                if case .success(.events(let events)) = outcome.result {
                    outbox.fetched(events)
                } else {
                    outbox.fetched(nil)
                }
                continue
            }
            if case .eventFeeds(let app) = outcome.read.work {
                if case .success(.eventFeeds(let marks)) = outcome.result {
                    collector.learned(app, marks)
                } else {
                    collector.learned(app, nil)
                }
                continue
            }
            if case .appEvents = outcome.read.work {
                readEvents(outcome.read.request, outcome.result)
                continue
            }
            guard let link = links[outcome.read.link] else { continue }
            switch outcome.result {
            case .success(.call(let response)):
                response.withUnsafeReadableBytes { bytes in
                    link.respond(
                        to: outcome.read.request, StorageCallResponse(response: WireText(bytes)))
                }
            case .success(.snapshot(let frames)):
                frames.withUnsafeReadableBytes { bytes in
                    link.respond(to: outcome.read.request, SnapshotResponse(frames: WireText(bytes)))
                }
            case .success(.bans(let page)): link.respond(to: outcome.read.request, page)
            case .success(.readers(let page)): link.respond(to: outcome.read.request, page)
            case .success(.deadLetters(let page)): link.respond(to: outcome.read.request, page)
            case .success(.audit(let page)): link.respond(to: outcome.read.request, page)
            case .success(.events), .success(.eventFeeds), .success(.appEvents): break
            case .failure(let error): refuse(outcome.read.request, error, link)
            }
        }
    }
}

// MARK: - Operators

extension StorageNode {
    /// How long edges may take to report what they found.
    private static let reportTime = TimeAmount.seconds(2)

    private func ban(_ ban: Ban, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        operators.insert(link.id)
        try NameRule.user.check(ban.userID.utf8)
        try OperatorText.check(ban)
        guard !inquiries.isFull else {
            throw RTMError(
                .storageOperationFailed, "\(BanInquiries.countMax) commands of operators are under way",
                retryAfter: .seconds(2),
                limit: .init(name: "commands of operators", value: UInt64(BanInquiries.countMax)))
        }
        try write(.ban(ban), .storageNotAvailable, nil, id, link)
    }

    /// Every edge gets the ban, because nobody knows where the user is (S-4), and reports what it found.
    private func ask(_ ban: Ban, _ before: Ban?, for request: UInt64, _ link: UInt64) {
        let edges = links.values.filter { !operators.contains($0.id) }
        let numbered = inquiries.begin(ban, before: before, asking: edges.map(\.id), for: link, request)
        push(numbered)
        if let inquiry = inquiries.ended(numbered.number) { return answer(inquiry) }
        edges.first?.eventLoop.assumeIsolated().scheduleTask(in: Self.reportTime) {
            if let inquiry = self.inquiries.expire(numbered.number) { self.answer(inquiry) }
        }
    }

    /// Passes a gateway's question on to all edges, which report within the same time.
    private func askEdges(_ question: EdgeQuestion, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        operators.insert(link.id)
        guard !questions.isFull else {
            throw RTMError(
                .operationRateExceedLimitation, "\(EdgeInquiries.countMax) questions to edges are under way",
                retryAfter: .seconds(1),
                limit: .init(name: "questions to edges", value: UInt64(EdgeInquiries.countMax)))
        }
        let edges = links.values.filter { !operators.contains($0.id) }
        let number = questions.begin(
            EdgesAsked(count: edges.count), [], asking: edges.map(\.id), for: link.id, id)
        ByteBuffer(bytes: question.query.bytes).withUnsafeReadableBytes { query in
            let numbered = EdgeQuestion(number: number, query: WireText(query))
            for edge in edges { edge.push(StorageMethod.edgeQuestion, numbered) }
        }
        if let inquiry = questions.ended(number) { return answer(inquiry) }
        link.eventLoop.assumeIsolated().scheduleTask(in: Self.reportTime) {
            if let inquiry = self.questions.expire(number) { self.answer(inquiry) }
        }
    }

    private func answer(_ inquiry: EdgeInquiries.Inquiry) {
        guard let link = links[inquiry.link] else { return }
        // The answers lie one behind the other while they are written.
        var all = ByteBuffer()
        for findings in inquiry.outcome { all.writeImmutableBuffer(findings) }
        all.withUnsafeReadableBytes { bytes in
            var start = 0
            let answers = inquiry.outcome.map { findings in
                defer { start += findings.readableBytes }
                let part = bytes[start..<start + findings.readableBytes]
                return EdgeAnswer(findings: WireText(UnsafeRawBufferPointer(rebasing: part)))
            }
            link.respond(
                to: inquiry.request,
                EdgeAnswers(asked: UInt32(inquiry.question.count), answers: answers))
        }
    }

    private func push(_ ban: Ban) {
        var kept = ban
        kept.number = 0
        bans.take(kept, nowMilliseconds: WallClock.milliseconds())
        for link in links.values { link.push(StorageMethod.banned, ban) }
    }

    /// The line says who did what to whom, and why.
    private func answer(_ inquiry: BanInquiries.Inquiry) {
        let (ban, outcome) = (inquiry.question, inquiry.outcome)
        var metadata: Logger.Metadata = [
            "command": "\(OperatorText.command(ban))", "app": "\(ban.appID)", "user": "\(ban.userID)",
            "by": "\(ban.by)", "reason": "\(ban.reason)",
            "appKnown": .stringConvertible(outcome.isAppKnown),
            "sessions": .stringConvertible(outcome.sessions),
            "unanswered": .stringConvertible(outcome.asked - outcome.answered),
        ]
        if ban.untilMilliseconds > 0 { metadata["until"] = "\(Timestamp.text(ban.untilMilliseconds))" }
        logger.notice("an operator's command", metadata: metadata)
        links[inquiry.link]?.respond(to: inquiry.request, outcome)
    }
}

// MARK: - Time

extension StorageNode {
    /// Reads who is shut out. Links that are open already get the list then.
    func start() {
        if leadership.serves { _ = queues.writes.put(StorageWrite(.listBans)) }
    }

    /// Limit: messages removed in one write, so that no other write waits long behind it.
    private static let expiredMax = 500
    /// Limit: channels visited in one write. Each visit may read a page of the file, which then displaces
    /// another page in memory.
    private static let searchedMax = 100

    /// Removes expired messages and unused channels, so that the file stays as small as its content. The
    /// service calls it once a second.
    func cleanUp() {
        guard leadership.serves else { return }
        expireHistory()
        _ = queues.writes.put(StorageWrite(.removeUnusedChannels(limit: Self.searchedMax)))
        if mayHaveEvents { removeEvents() }
    }

    /// Limit: events of an app that are removed in one write.
    private static let eventsRemovedMax = 2_000

    private func removeEvents() {
        let now = wallClock()
        let cutoffs = eventRetention.mapValues { now - min(now, $0) }
        _ = queues.writes.put(StorageWrite(.removeEvents(before: cutoffs, limit: Self.eventsRemovedMax)))
    }

    /// The apps whose events are kept, and for how long.
    func keepEvents(for times: [String: UInt64]) {
        mayHaveEvents = true
        eventRetention = times
        if leadership.serves { collector.collect(Set(times.keys), on: eventLoop) }
    }

    /// Asks for the removal of expired messages (H-11). Reads leave them out even before that.
    private func expireHistory() {
        _ = queues.writes.put(StorageWrite(.removeExpiredHistory(limit: Self.expiredMax)))
    }

    private func expireHistory(after removed: Int) {
        metrics.historyExpired.increment(by: removed)
        // There are probably more. Writes that wait meanwhile come first.
        if removed == Self.expiredMax { expireHistory() }
    }
}

extension StorageNodes {
    /// Addresses that aren't HOST:PORT are left out.
    fileprivate var push: NodesPush {
        NodesPush(
            nodes: addresses.compactMap { text in
                (try? HostPort(text: text)).map { NodeAddress(host: $0.host, port: UInt32($0.port)) }
            })
    }
}

/// The response to a request that needs no content: success is the whole answer.
private struct NoContent: WireMessage {
    func write(to sink: inout some FieldSink) {}
}
