import Logging
import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// Sends the events of committed changes to messaging until each one is acknowledged. It lives on the event
/// loop of storage.
///
/// An event is in the store from the change it belongs to until messaging has it. So a crash of either
/// service repeats the appends that were under way, and messaging recognises a repetition by its source and
/// sequence.
final class StorageOutbox {
    /// How long messaging may take.
    private static let timeout = Duration.seconds(10)

    private let appender: MessagingAppender
    private let queues: StorageQueues
    private let interval: TimeAmount
    private let metrics: StorageMetrics
    private let probe: ReadinessProbe
    private let logger: Logger
    private var schedule = OutboxSchedule()
    /// The runs that messaging has not answered yet.
    private var pending = RequestContexts<Sent>()
    private var run = ByteBuffer()
    private var timer: RepeatedTask?
    private(set) var state = State.idle

    enum State: Equatable {
        /// This node has had nothing to send, so it has no connection to messaging.
        case idle
        /// Another node sends what the store has.
        case paused
        /// This node has read the events in this term; nil where there are no terms.
        case sending(term: UInt64?)
    }

    /// - Parameter interval: how soon messaging is asked again, and how often the store gets to know what is
    ///   acknowledged.
    init(
        to messaging: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, queues: StorageQueues,
        metrics: StorageMetrics, probe: ReadinessProbe, endOfTurn: EndOfTurn, logger: Logger,
        interval: TimeAmount = .milliseconds(100)
    ) {
        self.interval = interval
        appender = MessagingAppender(
            to: messaging, link, node: "storage", timeout: Self.timeout, endOfTurn: endOfTurn, logger: logger)
        self.queues = queues
        self.metrics = metrics
        self.probe = probe
        self.logger = logger
    }

    /// - Parameter sends: whether this node sends what the store has from the start.
    func start(on eventLoop: any EventLoop, sends: Bool) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.tick()
        }
        // The writer may have begun before.
        guard state == .idle else { return }
        if sends { beginAnew(term: nil) } else { probe.ready() }
    }

    private func connect() {
        guard state == .idle else { return }
        probe.notReady("no connection to messaging at \(appender.addresses)")
        appender.start(caller: self)
    }

    func stop() {
        timer?.cancel()
        if state != .idle { appender.shutdown() }
        keepAcknowledged()
    }

    func committed(_ events: [StorageOutboxEvent]) {
        schedule.committed(events)
        work()
    }

    /// The store may have events that nobody has reported.
    ///
    /// - Parameter term: in which this node has the store now; nil if it has no others beside it.
    func beginAnew(term: UInt64?) {
        connect()
        state = .sending(term: term)
        schedule.beginAnew()
        work()
    }

    /// Another node sends what the store has.
    func pause() {
        guard state != .idle else { return }
        state = .paused
        metrics.outboxWaiting.set(0, of: self)
    }

    /// - Parameter events: nil if the store could not be read.
    func fetched(_ events: [StorageOutboxEvent]?) {
        schedule.fetched(events)
        // A store that has failed is asked again with the next tick.
        if events != nil { work() }
    }

    /// The store has not kept that these are acknowledged.
    func notKept(_ ranges: [ClosedRange<UInt64>]) { schedule.putBack(ranges) }

    private func tick() {
        schedule.retry()
        keepAcknowledged()
        work()
    }

    private func work() {
        guard case .sending = state else { return }
        if let fetch = schedule.nextFetch() {
            let read = StorageRead(OutboxQuery(after: fetch.after, limit: fetch.limit)) { shard, events in
                shard.outbox.fetched(try? events.get())
            }
            if !queues.reads.put(read) { schedule.fetched(nil) }
        }
        while appender.isPartlyUp, let run = schedule.next() { send(run) }
        metrics.outboxWaiting.set(schedule.count, of: self)
    }

    private func send(_ events: OutboxSchedule.Run) {
        guard let first = events.events.first else { return }
        run.clear()
        for event in events.events { event.append(to: &run) }
        let context = pending.insert(Sent(line: events.line, count: events.events.count))
        do throws(RTMError) {
            try run.withUnsafeReadableBytes { bytes in
                Result { () throws(RTMError) in
                    try appender.append(
                        AppendRequest(channel: first.channel, source: first.source, events: EventRun(bytes)),
                        context: context)
                }
            }.get()
        } catch {
            _ = pending.remove(context)
            schedule.answered(events.line, isAppended: false)
        }
    }

    private func keepAcknowledged() {
        guard case .sending(let term) = state else { return }
        let ranges = schedule.takeAcknowledged()
        guard !ranges.isEmpty else { return }
        if !queues.writes.put(StorageWrite(OutboxAcknowledgement(of: ranges, term: term))) {
            schedule.putBack(ranges)
        }
    }
}

extension StorageOutbox: AppendCaller {
    /// A run that is under way.
    struct Sent {
        let line: Int
        let count: Int
    }

    func shardIsUp(_ shard: Int, isWhole: Bool) {
        if isWhole { probe.ready() }
        schedule.retry()
        work()
    }

    func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) { connectFailed(reason) }

    func connectFailed(_ reason: ServiceLinkDownReason) {
        probe.notReady("no connection to messaging at \(appender.addresses): \(reason)")
    }

    func messagingAppended(_ context: Int, _ outcome: ServiceLinkResult<AppendResponse>) {
        let sent = pending.remove(context)
        switch outcome {
        case .success:
            metrics.announced.increment(by: sent.count)
            schedule.answered(sent.line, isAppended: true)
        case .failure(let failure):
            metrics.announceRetries.increment(by: sent.count)
            logger.debug("messaging did not take the events", metadata: ["cause": "\(failure)"])
            schedule.answered(sent.line, isAppended: false)
        }
        work()
    }
}

extension StorageOutboxEvent {
    fileprivate func append(to run: inout ByteBuffer) {
        publisher.withWireText { publisher in
            event.withUnsafeBytes { event in
                EventRun.append(
                    AppendedEvent(
                        publisher: publisher, feature: feature, event: WireText(event), sequence: sequence),
                    to: &run)
            }
        }
    }
}
