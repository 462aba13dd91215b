import Foundation
import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMWebhookCall
import RTMWire
import Synchronization

/// Delivers one webhook while this gateway owns its reader, and otherwise waits until it may. It does what
/// `WebhookQueue` decides: one task for each request, for the read that waits, and for what storage keeps.
final class WebhookRunner: Sendable {
    /// What a step of the queue answers to.
    private enum Happening: Sendable {
        case read(EventsResponse?)
        case answered(Int, WebhookAnswer)
        case kept(Bool?)
        case alarm
        case stop
    }

    /// How long a read waits at storage for an event.
    private static let readWait = Duration.seconds(20)
    /// How long to wait before a claim that failed is tried again.
    private static let claimPause = Duration.seconds(2)

    let record: WebhookRecord
    private let node: String
    private let settings: WebhookQueue.Settings
    private let backend: Backend
    private let receiver: WebhookReceiver
    private let types: UInt32
    private let metrics: WebhookMetrics
    private let logger: Logger

    private struct State {
        var isStopped = false
        var happen: AsyncStream<Happening>.Continuation?
        /// When the oldest event that isn't delivered happened, while this gateway owns the reader.
        var oldest: UInt64?
        var term: UInt64 = 0
    }
    private let state = Mutex(State())

    /// - Parameter record: one that has no problem (`WebhookRecord.problem`).
    init?(
        _ record: WebhookRecord, node: String, _ settings: WebhookQueue.Settings, _ backend: Backend,
        _ environment: WebhookReceiver.Environment, _ metrics: WebhookMetrics, _ logger: Logger
    ) {
        guard let target = record.target, let types = record.typeBits else { return nil }
        var settings = settings
        if let batch = record.batch { settings.batchEvents = batch }
        if let parallel = record.parallel { settings.parallel = parallel }
        var logger = logger
        logger[metadataKey: "app"] = "\(record.app)"
        logger[metadataKey: "webhook"] = "\(record.name)"
        self.record = record
        (self.node, self.settings, self.backend, self.types) = (node, settings, backend, types)
        (self.metrics, self.logger) = (metrics, logger)
        receiver = WebhookReceiver(target, connectionsMax: settings.parallel, environment)
    }

    /// When the oldest event that isn't delivered happened, in milliseconds since 1970; nil if there is none,
    /// or another gateway owns the reader.
    var oldest: UInt64? { state.withLock { $0.oldest } }

    /// Sends one event that never happened, so that an operator sees whether the receiver takes it.
    func test() async -> WebhookAnswer {
        let time = WallClock.milliseconds()
        let event =
            #"{"app":"\#(record.app)","id":"test-\#(time)","key":"app","number":0,"time":\#(time),"#
            + #""type":"webhook.test"}"#
        return await receiver.post(
            WebhookRequest.body(app: record.app, webhook: record.name, [event]), now: Date())
    }

    /// Waits for the answers to what was sent, keeps the position, and gives the reader up.
    func stop() {
        let happen = state.withLock { state in
            state.isStopped = true
            return state.happen
        }
        happen?.yield(.stop)
    }

    func run() async {
        while !Task.isCancelled, !state.withLock({ $0.isStopped }) {
            let now = WebhookTime.now
            do {
                let claimed = try await backend.claimReader(
                    ClaimReader(
                        appID: record.app, name: record.name, node: node, lease: Duration(settings.lease)))
                if claimed.term > 0 {
                    state.withLock { $0.term = claimed.term }
                    await deliver(claimed, claimedAt: now)
                } else {
                    await pause(min(max(claimed.wait, .milliseconds(100)), Self.claimPause))
                }
            } catch {
                logger.warning("a webhook isn't delivered", metadata: ["cause": "\(error.reason)"])
                await pause(Self.claimPause)
            }
        }
        await receiver.shutdown()
    }

    private func pause(_ duration: Duration) async { try? await Task.sleep(for: duration) }

    // MARK: - As the owner

    private func deliver(_ claimed: ReaderClaimed, claimedAt: WebhookTime) async {
        let journal = try? JSONDecoder().decode(WebhookJournal.self, from: Data(claimed.state))
        var queue = WebhookQueue(after: claimed.position, journal, settings, now: claimedAt)
        var random = SystemRandomNumberGenerator()
        let (happenings, happen) = AsyncStream.makeStream(of: Happening.self)
        // What the tasks yield is bounded by their number, so the stream is, too.
        let isStopped = state.withLock { state in
            state.happen = happen
            return state.isStopped
        }
        if isStopped { queue.stop() }
        await withDiscardingTaskGroup { group in
            var alarm = NIODeadline.distantFuture
            happen.yield(.alarm)
            for await happening in happenings {
                let now = WebhookTime.now
                switch happening {
                case .read(let page?):
                    queue.received(
                        page.events.map { WebhookEvent($0, app: record.app) }, next: page.next, now: now)
                case .read(nil): queue.readFailed(now: now)
                case .answered(let id, let answer):
                    metrics.answered(answer)
                    queue.answered(id, answer, now: now, using: &random)
                case .kept(let isKept): queue.kept(isKept, now: now)
                case .alarm: alarm = .distantFuture
                case .stop: queue.stop()
                }
                for action in queue.actions(now: now, using: &random) {
                    guard case .read = action else {
                        group.addTask { happen.yield(await self.perform(action, claimed.term)) }
                        continue
                    }
                    // Unstructured: a read waits at storage for an event, and nothing ends it. Were it waited
                    // for, a webhook that was moved or is another gateway's now would stand still meanwhile.
                    Task { happen.yield(await self.perform(action, claimed.term)) }
                }
                state.withLock { $0.oldest = queue.oldest }
                if queue.isFinished { break }
                let wake = queue.wake(now: now)
                if wake < alarm {
                    alarm = wake
                    group.addTask {
                        await self.pause(.nanoseconds((wake - now.uptime).nanoseconds))
                        happen.yield(.alarm)
                    }
                }
            }
            state.withLock { state in
                (state.happen, state.oldest) = (nil, nil)
            }
            group.cancelAll()
        }
        if queue.isSuperseded { logger.info("another gateway delivers the webhook now") }
    }

    private func perform(_ action: WebhookQueue.Action, _ term: UInt64) async -> Happening {
        switch action {
        case .read(let position, let limit):
            return .read(
                try? await backend.events(
                    EventsRequest(
                        appID: record.app, after: position, limit: UInt32(limit), types: types,
                        channelPrefix: record.channels ?? "", wait: Self.readWait)))
        case .deliver(let request):
            let body = request.body(app: record.app, webhook: record.name)
            return .answered(request.id, await receiver.post(body, now: Date()))
        case .keep(let progress):
            if !progress.letters.isEmpty {
                metrics.gaveUp(progress.letters.count)
                logger.error(
                    "events of a webhook became dead letters",
                    metadata: [
                        "count": "\(progress.letters.count)", "cause": "\(progress.letters[0].reason)",
                    ])
            }
            return .kept(try? await backend.keepReader(keep(progress, term)).isKept)
        }
    }

    private func keep(_ progress: WebhookProgress, _ term: UInt64) -> KeepReader {
        let now = WallClock.milliseconds()
        let journal = (try? JSONEncoder().encode(progress.journal)) ?? Data()
        return KeepReader(
            appID: record.app, name: record.name, term: term,
            lease: progress.isLast ? .zero : Duration(settings.lease), position: progress.position,
            state: Array(journal),
            letters: progress.letters.map {
                DeadLetter(
                    position: $0.event.position, timeMilliseconds: now, reason: $0.reason,
                    body: Array($0.event.body.utf8))
            })
    }
}

extension WebhookTime {
    static var now: WebhookTime { WebhookTime(uptime: .now(), milliseconds: WallClock.milliseconds()) }
}

extension WebhookEvent {
    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    init(_ event: AppEvent, app: String) {
        let body = EventBody(event, app: app)
        // It has texts and numbers alone, which always can be written.
        let bytes = (try? Self.encoder.encode(body)) ?? Data()
        self.init(
            position: event.position, key: body.key, milliseconds: event.timeMilliseconds,
            body: String(decoding: bytes, as: UTF8.self))
    }
}
