package import Logging
import NIOCore
import RTMModel
import RTMServiceKit
package import RTMServiceLink
package import RTMWire

/// One shard of the channels at a messaging node: it decodes requests, asks the broker, and sends its
/// answers. No decision is made here.
///
/// The shard and all its links live on one event loop. So a log has one owner and needs no lock, and a link
/// receives everything in the order in which it happened. An installation uses more cores by running more
/// nodes, each of which leads some shards.
package final class MessagingShard {
    /// Limit: bytes of frames in one page of a read, so that a long catch-up doesn't hold up all other
    /// callers.
    private static let pageBytesMax = 256 * 1024
    /// Limit: lists and explanations that are put together at a time. Each has its turns between those of the
    /// messages.
    private static let listsMax = 8

    let limits: BrokerLimits
    let logger: Logger
    private let metrics: MessagingMetrics
    let clock: () -> UInt64
    private let arena = DecodeArena()
    var broker: Broker
    private var hasWholeWindow = true
    package private(set) var links: [Int: AcceptedServiceLink] = [:]
    /// Which pages may be read for each link.
    private var turns = AnswerTurns<PageRead>()
    /// Nil if the shard has no journal: then this node leads it from the start.
    var journal: ShardJournal?
    /// How many lists and explanations are being put together.
    private var listCount = 0
    package var nodes: NodesPush?
    private lazy var feedReads = FeedReads { [unowned self] in answer($0) }

    /// - Parameters:
    ///   - secret: random for each start of the process. It decides which channels share a partition.
    ///   - clock: the time in milliseconds (UTC).
    package convenience init(
        limits: BrokerLimits, firstEpoch: UInt64, secret: UInt64 = .random(in: 0...UInt64.max),
        metrics: MessagingMetrics, logger: Logger, clock: @escaping () -> UInt64
    ) {
        self.init(
            limits: limits, firstEpoch: firstEpoch, secret: secret, journal: nil, metrics: metrics,
            logger: logger, clock: clock)
    }

    /// - Parameter journal: with one, the shard has no logs until this node is the leader.
    init(
        limits: BrokerLimits, firstEpoch: UInt64, secret: UInt64 = .random(in: 0...UInt64.max),
        journal: ShardJournal?, metrics: MessagingMetrics, logger: Logger, clock: @escaping () -> UInt64
    ) {
        broker = Broker(limits: limits, firstEpoch: firstEpoch, secret: secret, now: clock())
        self.limits = limits
        self.journal = journal
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }

    var status: ShardsPage.Shard {
        ShardsPage.Shard(
            term: announcement?.term, channels: broker.channelCount, tailBytes: broker.tailBytes,
            links: links.count,
            backlogBytes: journal?.redis.backlog)
    }

    /// Drops old entries and forgets channels (`Broker.sweep`). The log sweep calls it at a
    /// regular interval.
    package func sweep(_ count: Int) {
        if !feedReads.isEmpty { feedReads.expire(now: clock()) }
        // What a sweep records would gather while Redis is away, or while another node may lead.
        guard !isJournalBehind, journal?.redis.leadership.state.isAwaitingSuccessor != true else { return }
        let now = clock()
        broker.sweep(count, now: now)
        journalSweep(now)
        report(broker.tailWindow(now: now))
    }

    /// Logs once that tails are cut short, and once that they are whole again.
    private func report(_ window: UInt64) {
        let isWhole = window >= UInt64(Limits.resumeWindow.milliseconds)
        guard isWhole != hasWholeWindow else { return }
        hasWholeWindow = isWhole
        guard isWhole else {
            return logger.warning(
                "the tails need more memory than the shard's share of messaging.tail.totalBytesMax: the oldest entries are dropped",
                metadata: ["bytes": "\(broker.tailBytes)"])
        }
        logger.notice("the tails of the shard reach back two minutes again")
    }
}

extension MessagingShard: NodeShard {
    package static var leaderPush: ServicePush<LeaderPush> { MessagingMethod.leader }
    package static var nodesPush: ServicePush<NodesPush> { MessagingMethod.nodes }

    package func linkOpened(_ link: AcceptedServiceLink) {
        links[Int(link.id)] = link
        if let journal { link.pass(journal.gate) }
        if let nodes { link.push(MessagingMethod.nodes, nodes) }
        if let announcement { link.push(MessagingMethod.leader, announcement) }
        metrics.links.add(1)
    }

    package func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) {
        links[Int(link.id)] = nil
        broker.linkClosed(Int(link.id), now: clock())
        feedReads.linkClosed(link)
        turns.linkClosed(link.id)
        closeGate()
        metrics.links.add(-1)
    }

    package func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        // While the shard drains, requests get no answer: the links close in a moment, and callers repeat
        // them at the next leader.
        guard journal?.redis.leadership.state.isDraining != true else { return }
        defer { closeGate() }
        do {
            try checkLeadership(method)
            switch method {
            case MessagingMethod.publish: try publish(PublishRequest(scanning: body), id, link)
            case MessagingMethod.attach: try attach(AttachRequest(body, in: arena), id, link)
            case MessagingMethod.list: try list(ListRequest(body, in: arena), id, link)
            case MessagingMethod.read:
                try read(PageRead(request: ReadRequest(body, in: arena), id: id), link, within: timeout)
            case MessagingMethod.backendPublish:
                try publish(BackendPublishRequest(scanning: body), id, link)
            case MessagingMethod.append: try append(AppendRequest(scanning: body), id, link)
            case MessagingMethod.feed: try feed(FeedRequest(body, in: arena), id, link)
            case MessagingMethod.explain: try explain(ExplainRequest(body, in: arena), id, link)
            default: throw RTMError(.serviceNotSupport, "messaging has no method \(method)")
            }
        } catch let error as RTMError {
            metrics.refused.increment()
            if error.code == .channelInstanceExceedLimitation { metrics.channelsRefused.increment() }
            link.fail(id, error)
        } catch {
            metrics.refused.increment()
            link.fail(id, RTMError(.invalidParameter, "messaging can't read the request: \(error)"))
        }
    }

    package func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {
        if method == MessagingMethod.outdated.number, let push = try? LeaderPush(body, in: arena) {
            journal?.redis.termReported(push.term)
        }
        guard method == MessagingMethod.detach.number, let detach = try? DetachPush(body, in: arena) else {
            return
        }
        broker.detach(
            .init(link: Int(link.id), id: detach.interest), isLoggedOut: detach.isLoggedOut, now: clock())
        closeGate()
    }

    private func publish(_ request: PublishRequest, _ id: UInt64, _ link: AcceptedServiceLink)
        throws(RTMError)
    {
        let appended = try broker.publish(request, now: clock())
        let entries = appended.entries
        if entries.count == 0 { metrics.repeated.increment() }
        link.respond(
            to: id,
            PublishResponse(
                offset: entries.offset, timestampMilliseconds: entries.timestamp, order: entries.time.order))
        deliver(appended)
    }

    private func publish(_ request: BackendPublishRequest, _ id: UInt64, _ link: AcceptedServiceLink)
        throws(RTMError)
    {
        let (response, appended) = try broker.publish(
            request.publish, if: request.condition, now: clock())
        if response.outcome == .repeated { metrics.repeated.increment() }
        link.respond(to: id, response)
        if let appended { deliver(appended) }
    }

    private func append(_ request: AppendRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws(RTMError)
    {
        let events = try broker.append(request, now: clock())
        link.respond(
            to: id, AppendResponse(position: events.position, timestampMilliseconds: events.timestamp))
        if events.appended.isEmpty && !request.events.bytes.isEmpty { metrics.repeated.increment() }
        for appended in events.appended { deliver(appended) }
    }

    private func deliver(_ appended: Broker.Appended) {
        let entries = appended.entries
        metrics.appended.increment(by: entries.count)
        if !feedReads.isEmpty { feedReads.appended(entries.app) }
        guard !appended.interests.isEmpty else { return }
        broker.frames(of: appended).withUnsafeReadableBytes { frames in
            appended.interests.each { interest in
                guard let link = links[interest.link] else { return }
                _ = link.push(
                    MessagingMethod.delivery,
                    DeliveryPush(
                        interest: interest.id, offset: entries.offset, offsetsBetween: entries.offsetsBetween,
                        count: entries.count, publisherSession: entries.publisherSession,
                        feature: entries.feature, frames: WireText(frames)))
                metrics.pushed.increment(by: entries.count)
            }
        }
    }

    private func attach(_ request: AttachRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws(RTMError)
    {
        let attached = try broker.attach(
            .init(link: Int(link.id), id: request.interest), to: request.channel, after: request.after,
            ownership: request.ownership, owner: request.owner, attempt: request.attempt,
            returns: request.returns, now: clock())
        if let superseded = attached.superseded {
            links[superseded.link]?.push(
                MessagingMethod.superseded, SupersededPush(interest: superseded.id, owner: request.owner))
            metrics.superseded.increment()
        }
        if let start = attached.skippedTo {
            metrics.gaps.increment()
            link.push(
                MessagingMethod.skip,
                SkipPush(
                    interest: request.interest, position: start, features: attached.lost,
                    wentBack: attached.wentBack))
        }
        var offset = attached.skippedTo?.offset ?? request.after?.offset ?? 0
        for entry in attached.missed {
            push(entry, behind: offset, to: request.interest, on: link)
            offset = entry.offset
        }
        metrics.replayed.increment(by: attached.missed.count)
        link.respond(to: id, AttachResponse(position: attached.position, ownership: attached.ownership))
    }

    private struct PageRead {
        let request: ReadRequest
        let id: UInt64
    }

    /// Reads a page when the link has room for it.
    private func read(
        _ read: PageRead, _ link: AcceptedServiceLink, within timeout: Duration
    ) throws(RTMError) {
        let turn = AnswerTurns<PageRead>.Turn(
            read, app: read.request.channel.appID, caller: "", bytesMax: Self.pageBytesMax,
            deadline: link.eventLoop.now + TimeAmount(timeout))
        switch turns.ask(turn, of: link.id, queuedBytes: link.queuedBytes) {
        case .begin: try answer(read, link)
        case .wait: break
        case .refuse(let waitingMax):
            throw RTMError(
                .channelSubscribeFailed, "too many pages wait until the link has room",
                retryAfter: .seconds(1), limit: .init(name: "waiting pages", value: UInt64(waitingMax)))
        }
    }

    package func linkBecameWritable(_ link: AcceptedServiceLink) {
        while let turn = turns.next(of: link.id, queuedBytes: link.queuedBytes) {
            // Who has stopped waiting takes no answer.
            guard turn.deadline > link.eventLoop.now else {
                turns.ended(turn.bytesMax, of: link.id)
                continue
            }
            do throws(RTMError) {
                try answer(turn.work, link)
            } catch {
                metrics.refused.increment()
                link.fail(turn.work.id, error)
            }
        }
    }

    /// The page is in the link's queue afterwards, and counts there.
    private func answer(_ read: PageRead, _ link: AcceptedServiceLink) throws(RTMError) {
        let (request, id) = (read.request, read.id)
        defer { turns.ended(Self.pageBytesMax, of: link.id) }
        // Another node may have become the leader while the read waited.
        try checkLeadership(MessagingMethod.read.number)
        let page = try broker.read(request, bytesMax: Self.pageBytesMax, now: clock())
        var frames = ByteBuffer()
        for entry in page.entries { frames.writeImmutableBuffer(entry.frame) }
        metrics.replayed.increment(by: page.entries.count)
        if page.gap { metrics.gaps.increment() }
        frames.withUnsafeReadableBytes { bytes in
            link.respond(
                to: id,
                ReadResponse(frames: WireText(bytes), position: page.position, gap: page.gap, more: page.more)
            )
        }
    }

    private func list(_ request: ListRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws(RTMError) {
        guard request.name.isEmpty else {
            let channel = ChannelKey(appID: request.appID, type: request.type, name: request.name)
            link.respond(to: id, broker.listing(channel, now: clock()))
            return
        }
        try checkListCapacity()
        let scan = try ChannelScan(request)
        listCount += 1
        look(scan, id, link)
    }

    private func checkListCapacity() throws(RTMError) {
        guard listCount >= Self.listsMax else { return }
        throw RTMError(
            .operationRateExceedLimitation, "\(Self.listsMax) lists are being put together",
            retryAfter: .seconds(1), limit: .init(name: "lists at a time", value: UInt64(Self.listsMax)))
    }

    private func look(_ begun: ChannelScan, _ id: UInt64, _ link: AcceptedServiceLink) {
        var scan = begun
        let answer = scan.look(in: broker.channels, settlesAt: broker.settlesAt, now: clock())
        guard links[Int(link.id)] === link, answer == nil else {
            listCount -= 1
            if let answer { link.respond(to: id, answer) }
            return
        }
        link.eventLoop.assumeIsolated().execute { self.look(scan, id, link) }
    }

    private func explain(
        _ request: ExplainRequest, _ id: UInt64, _ link: AcceptedServiceLink
    ) throws(RTMError) {
        try checkListCapacity()
        listCount += 1
        search(EntrySearch(request, in: broker, now: clock()), id, link)
    }

    private func search(_ begun: EntrySearch, _ id: UInt64, _ link: AcceptedServiceLink) {
        var search = begun
        let answer = search.look(in: broker) { number in
            links[number].map {
                ExplainedLink(node: $0.peerNode, waitingBytes: UInt64($0.queuedBytes))
            }
        }
        guard links[Int(link.id)] === link, answer == nil else {
            listCount -= 1
            if let answer { link.respond(to: id, answer) }
            return
        }
        link.eventLoop.assumeIsolated().execute { self.search(search, id, link) }
    }

    private func feed(_ request: FeedRequest, _ id: UInt64, _ link: AcceptedServiceLink) {
        let now = clock()
        let page = broker.feed(request.appID, after: request.after, bytesMax: Self.pageBytesMax, now: now)
        let wait = request.wait.milliseconds
        guard page.isEmpty, request.after.epoch != 0, wait > 0, let app = broker.number(ofApp: request.appID)
        else { return respond(page, to: id, link) }
        feedReads.wait(
            .init(request: request, id: id, link: link, app: app, deadline: now + wait))
    }

    /// Answers a read that has waited. If another node leads by now, its link has closed.
    private func answer(_ read: FeedReads.Read) {
        let page = broker.feed(
            read.request.appID, after: read.request.after, bytesMax: Self.pageBytesMax, now: clock())
        respond(page, to: read.id, read.link)
    }

    private func respond(_ page: Broker.FeedPage, to id: UInt64, _ link: AcceptedServiceLink) {
        metrics.fed.increment(by: page.count)
        if page.gap { metrics.feedGaps.increment() }
        page.frames.withUnsafeReadableBytes { bytes in
            link.respond(
                to: id,
                FeedResponse(frames: WireText(bytes), next: page.next, gap: page.gap, more: page.more))
        }
    }

    private func push(
        _ entry: LogEntry, behind offset: UInt64, to interest: UInt64, on link: AcceptedServiceLink
    ) {
        entry.frame.withUnsafeReadableBytes { bytes in
            _ = link.push(
                MessagingMethod.delivery,
                DeliveryPush(
                    interest: interest, offset: entry.offset, offsetsBetween: entry.offset - offset - 1,
                    count: 1,
                    publisherSession: entry.publisherSession, feature: entry.feature, frames: WireText(bytes))
            )
        }
    }
}
