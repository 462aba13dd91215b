import Foundation
import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMWebhookCall
import RTMWire
import Synchronization

/// Delivers one webhook while this gateway owns its reader, and otherwise waits until it may. It does what
/// `WebhookDelivery` decides: one task for each claim, for each request, for the read that waits, and for
/// what storage keeps.
final class WebhookRunner: Sendable {
    /// What an action is answered with.
    private enum Happening: Sendable {
        case claimed(Result<ReaderClaimed, RTMError>)
        case read(EventsResponse?, term: UInt64)
        case answered(Int, WebhookAnswer, term: UInt64)
        case kept(Bool?, term: UInt64)
        case alarm(NIODeadline)
        case begin
        case stop
    }

    let record: WebhookRecord
    private let delivery: WebhookDelivery
    private let backend: Backend
    private let receiver: WebhookReceiver
    private let metrics: WebhookMetrics
    private let logger: Logger

    private struct State {
        var isStopped = false
        var happen: AsyncStream<Happening>.Continuation?
        /// When the oldest event that isn't delivered happened, while this gateway owns the reader.
        var oldest: UInt64?
    }
    private let state = Mutex(State())

    /// - Parameter record: one that has no problem (`WebhookRecord.problem`).
    init?(
        _ record: WebhookRecord, node: String, _ settings: WebhookQueue.Settings, _ backend: Backend,
        _ environment: CheckedHTTPClient.Environment, _ metrics: WebhookMetrics, _ logger: Logger
    ) {
        guard let target = record.target, let delivery = WebhookDelivery(record, node: node, settings) else {
            return nil
        }
        var logger = logger
        logger[metadataKey: "app"] = "\(record.app)"
        logger[metadataKey: "webhook"] = "\(record.name)"
        (self.record, self.delivery, self.backend) = (record, delivery, backend)
        (self.metrics, self.logger) = (metrics, logger)
        receiver = WebhookReceiver(target, connectionsMax: delivery.settings.parallel, environment)
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
        var delivery = delivery
        while !Task.isCancelled, !delivery.isFinished { await act(&delivery) }
        await receiver.shutdown()
    }

    /// Claims the reader, and delivers until it is lost or given up.
    private func act(_ delivery: inout WebhookDelivery) async {
        var random = SystemRandomNumberGenerator()
        // What the tasks yield is bounded by their number, so the stream is, too.
        let (happenings, happen) = AsyncStream.makeStream(of: Happening.self)
        happen.yield(.begin)
        let isStopped = state.withLock { state in
            state.happen = happen
            return state.isStopped
        }
        if isStopped { happen.yield(.stop) }
        await withDiscardingTaskGroup { group in
            for await happening in happenings {
                let (now, term) = (WebhookTime.now, delivery.term)
                if case .alarm(let deadline) = happening, !delivery.rang(deadline) { continue }
                take(happening, &delivery, now, &random)
                // What was begun in a term ends with it.
                if term != nil && delivery.term == nil || delivery.isFinished { break }
                for action in delivery.actions(now: now, using: &random) { begin(action, in: &group, happen) }
                state.withLock { $0.oldest = delivery.oldest }
                if let alarm = delivery.nextAlarm(now: now) {
                    group.addTask {
                        await self.pause(.nanoseconds((alarm - now.uptime).nanoseconds))
                        happen.yield(.alarm(alarm))
                    }
                }
            }
            delivery.forgetAlarms()
            state.withLock { state in (state.happen, state.oldest) = (nil, nil) }
            group.cancelAll()
        }
    }

    private func begin(
        _ action: WebhookDelivery.Action, in group: inout DiscardingTaskGroup,
        _ happen: AsyncStream<Happening>.Continuation
    ) {
        if action.isRead {
            // Unstructured: a read waits at storage for an event, and nothing ends it. Were it waited for, a
            // webhook that was moved or is another gateway's now would stand still meanwhile.
            Task { happen.yield(await self.perform(action)) }
        } else {
            group.addTask { happen.yield(await self.perform(action)) }
        }
    }

    private func pause(_ duration: Duration) async { try? await Task.sleep(for: duration) }

    private func take(
        _ happening: Happening, _ delivery: inout WebhookDelivery, _ now: WebhookTime,
        _ random: inout SystemRandomNumberGenerator
    ) {
        switch happening {
        case .claimed(.success(let claimed)): delivery.claimed(claimed, now: now)
        case .claimed(.failure(let error)):
            logger.warning("a webhook isn't delivered", metadata: ["cause": "\(error.reason)"])
            delivery.claimed(nil, now: now)
        case .read(let page, let term): delivery.received(page, term: term, now: now)
        case .answered(let id, let answer, let term):
            metrics.answered(answer)
            delivery.answered(id, answer, term: term, now: now, using: &random)
        case .kept(let isKept, let term):
            if delivery.kept(isKept, term: term, now: now) {
                logger.info("another gateway delivers the webhook now")
            }
        case .alarm, .begin: break
        case .stop: delivery.stop()
        }
    }

    private func perform(_ action: WebhookDelivery.Action) async -> Happening {
        switch action {
        case .claim(let request):
            do {
                return .claimed(.success(try await backend.ask(StorageMethod.claimReader, request)))
            } catch {
                return .claimed(.failure(error))
            }
        case .read(let request, let term):
            return .read(try? await backend.ask(StorageMethod.events, request), term: term)
        case .deliver(let request, let term):
            let body = request.body(app: record.app, webhook: record.name)
            return .answered(request.id, await receiver.post(body, now: Date()), term: term)
        case .keep(let request, let term):
            if !request.letters.isEmpty {
                metrics.gaveUp(request.letters.count)
                logger.error(
                    "events of a webhook became dead letters",
                    metadata: [
                        "count": "\(request.letters.count)", "cause": "\(request.letters[0].reason)",
                    ])
            }
            return .kept(try? await backend.ask(StorageMethod.keepReader, request).isKept, term: term)
        }
    }
}

extension WebhookDelivery.Action {
    fileprivate var isRead: Bool { if case .read = self { true } else { false } }
}

extension WebhookTime {
    static var now: WebhookTime { WebhookTime(uptime: .now(), milliseconds: WallClock.milliseconds()) }
}
