import Logging
import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// Collects the events of apps: it reads the feed of each shard of messaging, and has the entries and the new
/// place in the feed kept in one transaction. So whichever process is killed, each entry is kept once. It
/// lives on the event loop of storage.
final class EventCollector {
    /// How long a read waits for entries at messaging, and how long it may take in all.
    private static let wait = Duration.seconds(2)
    private static let timeout = Duration.seconds(15)
    /// A place at which nothing new has come is kept again when it is so much older, in milliseconds: a later
    /// one says more about what was not lost.
    private static let keepInterval: UInt64 = 10_000
    /// What was on its way when a feed was read to its end, and the clocks of two machines, in milliseconds.
    private static let settleDelay: UInt64 = 1_000

    private let feeds: MessagingFeeds
    private let queues: StorageQueues
    private let metrics: StorageMetrics
    private let logger: Logger
    private let wallClock: () -> UInt64
    private let interval: TimeAmount
    private var timer: RepeatedTask?
    private var isStarted = false
    private var settledAt: UInt64 = 0
    /// By app and shard; only apps with events.
    private var readings: [String: [Reading]] = [:]
    /// The apps of which the store has said how far they were read.
    private var known: Set<String> = []
    private var isAsked: Set<String> = []
    private var pending = RequestContexts<Read>()

    /// A read that is under way.
    private struct Read {
        let key: EventLogs.FeedKey
        let after: FeedPosition
    }

    /// The feed of a shard.
    private struct Reading {
        /// Nil until the store says how far it was read.
        var position: FeedPosition?
        /// What the store has.
        var kept = FeedPosition()
        var isBusy = false
        /// When it was last known that nothing is left to read; 0 if that was never.
        var caughtUpAt: UInt64 = 0
        var keptAt: UInt64 = 0
    }

    /// - Parameter interval: how soon what has failed is tried again.
    init(
        from messaging: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, queues: StorageQueues,
        metrics: StorageMetrics, endOfTurn: EndOfTurn, logger: Logger,
        interval: TimeAmount = .milliseconds(100),
        wallClock: @escaping () -> UInt64
    ) {
        feeds = MessagingFeeds(
            to: messaging, link, node: "storage events", timeout: Self.timeout, endOfTurn: endOfTurn,
            logger: logger)
        self.queues = queues
        self.metrics = metrics
        self.logger = logger
        self.interval = interval
        self.wallClock = wallClock
    }

    /// From now on events of these apps are collected, and of no others. Nothing is opened before there is
    /// one.
    func collect(_ apps: Set<String>, on eventLoop: any EventLoop) {
        for app in readings.keys where !apps.contains(app) {
            readings[app] = nil
            known.remove(app)
        }
        for app in apps where readings[app] == nil { readings[app] = [] }
        guard !apps.isEmpty, !isStarted else { return }
        isStarted = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { _ in
            bound.value.tick()
        }
        feeds.start(caller: self)
    }

    func stop() {
        timer?.cancel()
        if isStarted { feeds.shutdown() }
    }

    private func tick() {
        for app in readings.keys where !known.contains(app) && !isAsked.contains(app) { learn(app) }
        work()
        settle()
    }

    /// Asks the store how far the feeds were read.
    private func learn(_ app: String) {
        let read = StorageRead(EventFeedsQuery(appID: app)) { shard, marks in
            shard.collector.learned(app, try? marks.get())
        }
        if queues.reads.put(read) { isAsked.insert(app) }
    }

    /// - Parameter marks: nil if the store could not be read. Then it is asked again with the next tick.
    func learned(_ app: String, _ marks: [EventLogs.FeedKey: EventLogs.FeedMark]?) {
        isAsked.remove(app)
        guard readings[app] != nil, let marks else { return }
        for shard in 0..<max(feeds.shardCount, (marks.keys.map { Int($0.shard) + 1 }.max() ?? 0)) {
            let position = marks[.init(appID: app, shard: UInt32(shard))]?.position ?? FeedPosition()
            set(position, app, shard)
        }
        known.insert(app)
        work()
    }

    private func set(_ position: FeedPosition, _ app: String, _ shard: Int) {
        while readings[app, default: []].count <= shard {
            readings[app]?.append(Reading())
        }
        readings[app]?[shard].position = position
        readings[app]?[shard].kept = position
    }

    // MARK: Reading

    private func work() {
        let now = wallClock()
        for app in readings.keys where known.contains(app) {
            for shard in 0..<feeds.shardCount { read(app, shard, now) }
        }
        reportLag(now)
    }

    private func read(_ app: String, _ shard: Int, _ now: UInt64) {
        // The number of shards may become known later than what the store has.
        if readings[app, default: []].count <= shard { set(FeedPosition(), app, shard) }
        guard let reading = readings[app]?[shard], !reading.isBusy, feeds.isUp(shard),
            let position = reading.position
        else { return }
        let context = pending.insert(
            Read(key: .init(appID: app, shard: UInt32(shard)), after: position))
        do throws(RTMError) {
            try feeds.read(
                FeedRequest(appID: app, after: position, wait: Self.wait), of: shard, context: context)
            readings[app]?[shard].isBusy = true
        } catch {
            _ = pending.remove(context)
        }
    }

    /// Announces what is due, as far as everything before was collected.
    private func settle() {
        let now = wallClock()
        guard now >= settledAt + 1_000 else { return }
        settledAt = now
        for (app, shards) in readings where !shards.isEmpty && shards.count >= feeds.shardCount {
            let isCaughtUp = shards.indices.allSatisfy { feeds.isUp($0) && shards[$0].caughtUpAt > 0 }
            guard isCaughtUp, let oldest = shards.map(\.caughtUpAt).min() else { continue }
            let time = oldest - min(oldest, Self.settleDelay)
            _ = queues.writes.put(StorageWrite(EventSettlement(appID: app, time: time)))
        }
    }

    private func reportLag(_ now: UInt64) {
        let waited = Self.wait.milliseconds
        let lags = readings.values.joined().map { reading in
            now > reading.caughtUpAt + waited && reading.caughtUpAt > 0
                ? now - reading.caughtUpAt - waited : 0
        }
        metrics.eventsLag.set(Int((lags.max() ?? 0) / 1_000), of: self)
    }

    // MARK: Keeping

    private func keep(_ read: Read, _ response: FeedResponse, _ reading: Reading) {
        let key = read.key
        let shard = Int(key.shard)
        let now = wallClock()
        if !response.more { readings[key.appID]?[shard].caughtUpAt = now }
        let entries = Self.entries(response.frames)
        let isNews =
            !entries.isEmpty || response.gap || reading.kept.epoch == 0
            || now > reading.keptAt + Self.keepInterval
        guard isNews else {
            readings[key.appID]?[shard].position = response.next
            readings[key.appID]?[shard].isBusy = false
            return work()
        }
        let feed = CollectedFeed(
            appID: key.appID, shard: key.shard, after: read.after, next: response.next, gap: response.gap,
            entries: entries)
        if response.gap {
            metrics.eventGaps.increment()
            logger.warning(
                "events were lost before they were collected: the app gets the event gap",
                metadata: ["app": "\(key.appID)", "shard": "\(key.shard)"])
        }
        readings[key.appID]?[shard].position = response.next
        readings[key.appID]?[shard].keptAt = now
        if !queues.writes.put(StorageWrite(feed)) { kept(key, false) }
    }

    /// The store has the entries and the place, or nothing of both.
    func kept(_ key: EventLogs.FeedKey, _ isKept: Bool) {
        let shard = Int(key.shard)
        guard let shards = readings[key.appID], shards.indices.contains(shard),
            let position = shards[shard].position
        else { return }
        guard isKept else {
            // It is read again from where the store is, and not before the store says where that is.
            readings[key.appID]?[shard].isBusy = false
            known.remove(key.appID)
            return
        }
        readings[key.appID]?[shard].kept = position
        readings[key.appID]?[shard].isBusy = false
        work()
    }

    /// What can't be read is passed over: it is no event, or one of a newer version.
    private static func entries(_ frames: WireText) -> [CollectedFeed.Entry] {
        var reader = FrameReader(frameBytesMax: .max)
        var entries: [CollectedFeed.Entry] = []
        try? reader.read(ByteBuffer(bytes: frames.bytes)) { frame in
            if let content = try? PublishedEntry(scanning: frame) {
                entries.append(.init(content: content, frame: Array(frame)))
            }
            return .nextFrame
        }
        return entries
    }
}

extension EventCollector: FeedCaller {
    func shardIsUp(_ shard: Int, isWhole: Bool) { work() }
    func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {}
    func connectFailed(_ reason: ServiceLinkDownReason) {}

    func messagingFed(_ context: Int, _ outcome: ServiceLinkResult<FeedResponse>) {
        let read = pending.remove(context)
        let key = read.key
        // The app may have lost its events meanwhile.
        guard let shards = readings[key.appID], shards.indices.contains(Int(key.shard)) else { return }
        let reading = shards[Int(key.shard)]
        switch outcome {
        case .success(let response): keep(read, response, reading)
        case .failure(let failure):
            // It is tried again with the next tick.
            logger.debug("messaging did not send its feed", metadata: ["cause": "\(failure)"])
            readings[key.appID]?[Int(key.shard)].isBusy = false
        }
    }
}
