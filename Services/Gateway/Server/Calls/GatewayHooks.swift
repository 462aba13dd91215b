import Logging
import NIOCore
import RTMModel
import RTMPublishHook
import RTMServiceKit
import RTMWire
import Synchronization

/// Asks the hooks of the apps about what backends publish, as an edge asks about what clients publish.
struct GatewayHooks: Sendable {
    private typealias Answer = (PublishHookQueue.Verdict) -> Void

    /// What belongs to the loop.
    private final class State {
        var gates: [String: PublishHookGate<Answer>] = [:]
        var lastRequest: UInt64 = 0
    }

    private let state: NIOLoopBoundBox<State>
    private let eventLoop: any EventLoop
    private let current: CurrentHooks
    private let metrics: PublishHookMetrics
    private let logger: Logger

    /// The hooks of the configuration, for every task to see.
    private final class CurrentHooks: Sendable {
        let value: Mutex<[String: PublishHook]>
        init(_ hooks: [String: PublishHook]) { value = Mutex(hooks) }
    }

    init(
        _ hooks: [String: PublishHook], on eventLoop: any EventLoop, _ metrics: PublishHookMetrics,
        _ logger: Logger
    ) {
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
        current = CurrentHooks(hooks)
        (self.eventLoop, self.metrics, self.logger) = (eventLoop, metrics, logger)
    }

    /// Takes over the hooks of a new configuration.
    func take(_ hooks: [String: PublishHook]) {
        current.value.withLock { $0 = hooks }
        eventLoop.execute {
            for (app, gate) in state.value.gates { gate.take(hooks[app]) }
        }
    }

    func asks(about channel: ChannelKey) -> Bool {
        current.value.withLock { $0[channel.appID] }?.record.asks(about: channel) ?? false
    }

    /// Has each of the messages of one request judged, and returns when all are.
    ///
    /// - Parameter app: to which all of them belong.
    /// - Returns: each as it is to be published, or why it isn't.
    func judge(
        _ messages: [(message: GatewayMessage, isStored: Bool)], of app: String
    ) async -> [Result<GatewayMessage, RTMError>] {
        guard let hook = current.value.withLock({ $0[app] }) else {
            return messages.map { .success($0.message) }
        }
        let questions = messages.map { $0.message.question(isStored: $0.isStored) }
        let verdicts = await withCheckedContinuation { continuation in
            eventLoop.execute {
                ask(questions, of: hook) { continuation.resume(returning: $0) }
            }
        }
        return zip(messages, verdicts).map { item, verdict in
            verdict.flatMap { verdict in
                Result { () throws(RTMError) in
                    let isAgain = item.message.origin.againAfter != nil
                    return try item.message.with(try verdict.content(isAgain: isAgain))
                }
            }
        }
    }

    private func ask(
        _ questions: [PublishHookQuestion], of hook: PublishHook,
        _ finish: @escaping ([Result<PublishHookQueue.Verdict, RTMError>]) -> Void
    ) {
        let gate = gate(of: hook)
        state.value.lastRequest += 1
        let request = state.value.lastRequest
        let group = AnswerGroup<PublishHookQueue.Verdict>(count: questions.count, finish)
        for (index, question) in questions.enumerated() {
            do throws(RTMError) {
                let verdict = try gate.arrived(
                    { group.received(.success($0), at: index) }, question, by: request, to: question.channel,
                    bytes: question.message.payload.count)
                if let verdict { group.received(.success(verdict), at: index) }
            } catch {
                group.received(.failure(error), at: index)
            }
        }
    }

    private func gate(of hook: PublishHook) -> PublishHookGate<Answer> {
        let app = hook.record.app
        if let gate = state.value.gates[app] { return gate }
        let gate = PublishHookGate<Answer>(
            hook, ownerMessagesMax: MessageRoutes.messagesMax, on: eventLoop, metrics, logger
        ) { decided in
            for (answer, verdict) in decided { answer(verdict) }
        }
        state.value.gates[app] = gate
        return gate
    }
}

extension GatewayMessage {
    fileprivate func question(isStored: Bool) -> PublishHookQuestion {
        PublishHookQuestion(
            channel: channel, publisher: publisher,
            message: PublishHookMessage(
                isText: type == .text, payload: Array(payload.readableBytesView), customType: customType),
            isStored: isStored, origin: origin.instance, sequence: origin.sequence)
    }

    /// The message with another content; nil leaves it as it is.
    fileprivate func with(_ content: PublishHookMessage?) throws(RTMError) -> GatewayMessage {
        guard let content else { return self }
        return try GatewayMessage(
            to: channel, by: publisher, content.isText ? .text : .binary,
            ByteBuffer(bytes: content.payload), customType: content.customType, origin: origin,
            condition: condition)
    }
}
