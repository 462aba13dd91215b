import Logging
import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// Brings the events of committed changes to messaging, until it has acknowledged each. Lives on the event
/// loop of storage.
///
/// An event is in the store from the change it belongs to until messaging has it, so a crash of either
/// service repeats what was under way, and messaging knows a repetition by its source and sequence.
final class Outbox {
    /// How long messaging may take, and how soon it is asked again. Acknowledged events are removed from the
    /// store in groups of this interval.
    private static let timeout = Duration.seconds(10)
    private static let interval = TimeAmount.milliseconds(100)
    /// Limit: events removed in one write.
    private static let removedMax = 1_000

    private let appender: MessagingAppender<Outbox>
    private let threads: StorageThreads
    private let metrics: StorageMetrics
    private let probe: ReadinessProbe
    private let logger: Logger
    private var schedule = OutboxSchedule()
    private var timer: RepeatedTask?

    init(
        to messaging: ServiceLinkAddress, _ link: LinkConfiguration, threads: StorageThreads,
        metrics: StorageMetrics, probe: ReadinessProbe, endOfTurn: EndOfTurn, logger: Logger
    ) {
        appender = MessagingAppender(
            to: messaging, link, node: "storage", timeout: Self.timeout, endOfTurn: endOfTurn, logger: logger)
        self.threads = threads
        self.metrics = metrics
        self.probe = probe
        self.logger = logger
    }

    func start(on eventLoop: any EventLoop) {
        probe.notReady("no connection to messaging at \(appender.address)")
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            bound.value.tick()
        }
        appender.start(caller: self)
        work()
    }

    func stop() {
        timer?.cancel()
        appender.shutdown()
        removeAcknowledged()
    }

    func committed(_ events: [OutboxEvent]) {
        schedule.committed(events)
        work()
    }

    /// - Parameter events: nil: the store could not be read.
    func fetched(_ events: [OutboxEvent]?) {
        schedule.fetched(events)
        // A store that fails is asked again with the next tick.
        if events != nil { work() }
    }

    private func tick() {
        schedule.retry()
        removeAcknowledged()
        work()
    }

    private func work() {
        if let fetch = schedule.nextFetch() {
            let work = StorageRead.Work.events(after: fetch.after, limit: fetch.limit)
            if !threads.reads.put(StorageRead(work: work, link: 0, request: 0)) { schedule.fetched(nil) }
        }
        while appender.isUp, let event = schedule.next() { send(event) }
        metrics.outboxWaiting.set(schedule.count)
    }

    private func send(_ event: OutboxEvent) {
        do throws(RTMError) {
            try event.withRequest { request throws(RTMError) in
                try appender.append(request, context: event.channel)
            }
        } catch {
            schedule.answered(event.channel, isAppended: false)
        }
    }

    private func removeAcknowledged() {
        let sequences = schedule.takeAcknowledged()
        guard !sequences.isEmpty else { return }
        for start in stride(from: 0, to: sequences.count, by: Self.removedMax) {
            let part = Array(sequences[start..<min(start + Self.removedMax, sequences.count)])
            if !threads.writes.put(StorageWrite(.announced(part))) { schedule.putBack(part) }
        }
    }
}

extension Outbox: AppendCaller {
    func messagingIsUp() {
        probe.ready()
        schedule.retry()
        work()
    }

    func messagingIsDown(_ reason: LinkDownReason) {
        probe.notReady("no connection to messaging at \(appender.address): \(reason)")
    }

    func messagingAppended(_ channel: ChannelKey, _ outcome: Result<AppendResponse, LinkRequestFailure>) {
        switch outcome {
        case .success:
            metrics.announced.increment()
            schedule.answered(channel, isAppended: true)
        case .failure(let failure):
            metrics.announceRetries.increment()
            logger.debug("event not taken", metadata: ["cause": "\(failure)"])
            schedule.answered(channel, isAppended: false)
        }
        work()
    }
}

extension OutboxEvent {
    fileprivate func withRequest(_ body: (AppendRequest) throws(RTMError) -> Void) throws(RTMError) {
        let outcome = publisher.withWireText { publisher in
            event.withUnsafeBytes { event in
                Result { () throws(RTMError) in
                    try body(
                        AppendRequest(
                            channel: channel, publisher: publisher, publisherSession: 0, feature: feature,
                            event: WireText(event), source: source, sequence: sequence))
                }
            }
        }
        try outcome.get()
    }
}
