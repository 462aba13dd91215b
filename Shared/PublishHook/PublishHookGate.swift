package import Logging
package import NIOCore
package import RTMModel
import RTMServiceLink

/// Asks a hook. What travels, and where to, is its own matter (`RTMWebhookCall` asks over HTTP).
package protocol PublishHookCaller: Sendable {
    /// Never throws: whatever happens is a reply. The gate doesn't rely on a reply that comes in time.
    func ask(_ question: PublishHookQuestion) async -> PublishHookReply

    func shutdown() async
}

/// The hook of an app as the configuration has it, and how it is asked.
package struct PublishHook: Sendable {
    package let record: PublishHookRecord
    package let caller: any PublishHookCaller

    package init(_ record: PublishHookRecord, _ caller: any PublishHookCaller) {
        (self.record, self.caller) = (record, caller)
    }
}

/// Holds the messages of an app on one event loop while its hook is asked about them: the shell of
/// `PublishHookQueue`. It has a loop of its own thread, and nothing of it is shared.
package final class PublishHookGate<Message> {
    package typealias Decided = (Message, PublishHookQueue.Verdict)

    private let app: String
    private let eventLoop: any EventLoop
    private let metrics: PublishHookMetrics
    private let logger: Logger
    private let proceed: ([Decided]) -> Void
    /// Nil after the configuration has dropped the hook: then nothing more is asked about, and what is on
    /// hold keeps its order.
    private var hook: PublishHook?
    private let ownerMessagesMax: Int
    private var queue: PublishHookQueue
    private var held: [PublishHookQueue.ID: Message] = [:]
    private var askedAt: [PublishHookQueue.ID: NIODeadline] = [:]
    /// When the timer that is set fires.
    private var alarm: NIODeadline?
    private var random = SystemRandomNumberGenerator()

    /// - Parameters:
    ///   - ownerMessagesMax: how many messages of one session may be on hold.
    ///   - proceed: gets what continues, in its order.
    package init(
        _ hook: PublishHook, ownerMessagesMax: Int = 64, on eventLoop: any EventLoop,
        _ metrics: PublishHookMetrics, _ logger: Logger, proceed: @escaping ([Decided]) -> Void
    ) {
        self.hook = hook
        app = hook.record.app
        queue = PublishHookQueue(.init(hook.record, ownerMessagesMax))
        (self.ownerMessagesMax, self.eventLoop, self.metrics) = (ownerMessagesMax, eventLoop, metrics)
        (self.logger, self.proceed) = (logger, proceed)
    }

    /// The configuration has changed. Questions that are under way keep their answers.
    package func take(_ hook: PublishHook?) {
        self.hook = hook
        if let record = hook?.record { queue.settings = .init(record, ownerMessagesMax) }
    }

    /// A message has been admitted.
    ///
    /// - Returns: what is to become of it now; nil if it is on hold, and `proceed` gets it later.
    /// - Throws: `.operationRateExceedLimitation` (-10021) if too much is on hold.
    package func arrived(
        _ message: @autoclosure () -> Message, _ question: @autoclosure () -> PublishHookQuestion,
        by owner: UInt64, to channel: ChannelKey, bytes: Int
    ) throws(RTMError) -> PublishHookQueue.Verdict? {
        let isAskedAbout = hook?.record.asks(about: channel) ?? false
        let now = NIODeadline.now()
        let arrival: PublishHookQueue.Arrival
        do throws(RTMError) {
            arrival = try queue.arrived(
                by: owner, to: channel, bytes: bytes, isAskedAbout: isAskedAbout, now: now)
        } catch {
            metrics.overflowed()
            throw error
        }
        switch arrival {
        case .decided(let verdict):
            if isAskedAbout { metrics.decidedWithoutQuestion() }
            return verdict
        case .wait(let id):
            if isAskedAbout { metrics.decidedWithoutQuestion() }
            held[id] = message()
        case .ask(let id):
            held[id] = message()
            askedAt[id] = now
            if let caller = hook?.caller { ask(id, question(), caller) }
            setAlarm()
        }
        metrics.heldChanged(by: 1)
        return nil
    }

    /// A session is no more. What it has on hold is dropped.
    package func ended(_ owner: UInt64) {
        let dropped = queue.ended(owner)
        for id in dropped { held[id] = nil }
        metrics.heldChanged(by: -dropped.count)
    }

    private func ask(
        _ id: PublishHookQueue.ID, _ question: PublishHookQuestion, _ caller: any PublishHookCaller
    ) {
        let gate = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        // Unstructured: the loop must not wait for it. It ends with the answer, and the caller bounds its
        // time.
        Task {
            let reply = await caller.ask(question)
            eventLoop.execute { gate.value.answered(id, reply) }
        }
    }

    private func answered(_ id: PublishHookQueue.ID, _ reply: PublishHookReply) {
        let now = NIODeadline.now()
        guard let start = askedAt[id] else { return }
        metrics.answered(reply, after: .nanoseconds((now - start).nanoseconds))
        settle(reply) { $0.answered(id, reply, now: now, using: &$1) }
        askedAt[id] = nil
    }

    private func timeIsUp() {
        alarm = nil
        let now = NIODeadline.now()
        settle(nil) { $0.expired(now: now, using: &$1) }
        setAlarm()
    }

    private func settle(
        _ reply: PublishHookReply?,
        _ step: (inout PublishHookQueue, inout SystemRandomNumberGenerator) -> [PublishHookQueue.Decision]
    ) {
        let wasAway = queue.isAway
        let decisions = step(&queue, &random)
        if queue.isAway != wasAway { logOutage(reply) }
        let decided = decisions.compactMap { decision in
            held.removeValue(forKey: decision.id).map { ($0, decision.verdict) }
        }
        guard !decided.isEmpty else { return }
        metrics.heldChanged(by: -decided.count)
        proceed(decided)
    }

    private func logOutage(_ reply: PublishHookReply?) {
        guard queue.isAway else {
            return logger.notice("the hook before publishing is back", metadata: ["app": "\(app)"])
        }
        var cause = "no answer in time"
        if case .failed(let failure, _)? = reply { cause = failure }
        logger.warning(
            "the hook before publishing is away",
            metadata: [
                "app": "\(app)", "cause": "\(cause)",
                "messages": "\(queue.settings.onFailure == .publish ? "published unasked" : "refused")",
            ])
    }

    private func setAlarm() {
        guard let time = queue.deadline(), alarm.map({ time < $0 }) ?? true else { return }
        alarm = time
        eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
            if self?.alarm == time { self?.timeIsUp() }
        }
    }
}

extension PublishHookQueue.Settings {
    fileprivate init(_ record: PublishHookRecord, _ ownerMessagesMax: Int) {
        self.init(
            deadline: TimeAmount(record.deadline), onFailure: record.onFailure,
            ownerMessagesMax: ownerMessagesMax)
    }
}
