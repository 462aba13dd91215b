import Foundation
import NIOCore
package import RTMCredentials
package import RTMPublishHook
import RTMServiceKit

/// Asks a hook with a signed request, as webhooks are sent.
package struct HTTPPublishHook: PublishHookCaller {
    /// Limit: bytes of an answer. It has room for the longest payload with each of its bytes as an escape.
    private static let answerBytesMax = 256 * 1_024

    private let receiver: WebhookReceiver

    package init(_ receiver: WebhookReceiver) { self.receiver = receiver }

    package init(_ target: WebhookTarget, connectionsMax: Int, _ environment: CheckedHTTPClient.Environment) {
        self.init(
            WebhookReceiver(
                target, connectionsMax: connectionsMax, keptBytesMax: Self.answerBytesMax, environment))
    }

    /// As a service makes it from its configuration.
    package static let make: PublishHookCallers.Make = { record, target, configuration, group in
        let key = PublishHookKeys.privateAddresses
        return HTTPPublishHook(
            target, connectionsMax: record.parallel,
            CheckedHTTPClient.Environment(
                rules: AddressRules(allowed: configuration[key].compactMap(AddressRange.init)),
                rulesKey: key.declaration.name, timeout: TimeAmount(record.deadline), eventLoopGroup: group))
    }

    package func ask(_ question: PublishHookQuestion) async -> PublishHookReply {
        let answer = await receiver.post(question.body, now: Date())
        return switch answer.verdict {
        case .taken: PublishHookReply(answer.start, to: question)
        case .away: .failed(answer.sentence, isAway: true)
        case .gone, .refused: .failed(answer.sentence, isAway: false)
        }
    }

    package func shutdown() async { await receiver.shutdown() }
}
