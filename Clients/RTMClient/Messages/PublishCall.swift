import Foundation
import RTMModel
import RTMProtocol

/// A publish of the app. It outlives the connection that it was sent on.
struct PublishCall: Request {
    let messages: Messages
    let completion: Completion<PublishReceipt>

    var operation: Operation { .publish }

    func answered(_ body: ServerBody) -> Bool {
        guard case .published(let published) = body else { return false }
        completion.succeed(
            PublishReceipt(timestampMilliseconds: published.timestampMs, offset: published.offset))
        messages.ended(completion.id)
        return true
    }

    func isPutOff(by refusal: Rtm_Client_Error) -> Bool {
        guard refusal.code == .errorChannelPublishMessageFailed, refusal.retryAfterMs > 0 else {
            return false
        }
        messages.putOff(
            completion.id, RTMError(refusal, unknownCode: operation.codes.refused),
            for: .milliseconds(refusal.retryAfterMs))
        return true
    }

    func refused(_ error: RTMError) {
        completion.fail(error)
        messages.ended(completion.id)
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        completion.fail(messages.givenUp(completion.id, error))
        messages.sendHeld()
        return nil
    }

    func lost(_ reason: String) {
        messages.lost(completion.id)
        completion.fail(.answerLost(operation, reason))
    }
}

extension RTMError {
    /// More messages wait for their turn below the server's rates than can be sent in the time of a call.
    static func tooManyWait(_ wait: Duration) -> RTMError {
        RTMError(
            .channelPublishMessageTooFrequent,
            "messages are published faster than the server allows, and too many wait already",
            retryAfter: max(wait, .milliseconds(1)))
    }

    static let backlogged = RTMError(
        .channelPublishMessageTooFrequent, "messages are published faster than the connection takes them",
        limit: .init(name: "unsent bytes", value: UInt64(ServerConnection.unsentBytesMax)))
}

extension MessagePayload {
    init(_ type: Rtm_Client_MessageType, _ payload: Data) {
        self = type == .text ? .text(String(decoding: payload, as: UTF8.self)) : .data(payload)
    }
}
