import Foundation
import RTMModel
import RTMProtocol

/// The caller of a publish. One of the four methods is called, once.
protocol PublishCaller {
    /// The id of the request.
    var id: UInt64 { get }

    func published(_ receipt: PublishReceipt)
    /// The server has answered with this error.
    func refused(_ error: RTMError)
    /// It was sent, and its answer isn't awaited any longer.
    func failed(_ error: RTMError)
    /// It was not sent.
    func unsent(_ error: RTMError)
}

extension Completion: PublishCaller where Value == PublishReceipt {
    func published(_ receipt: PublishReceipt) { succeed(receipt) }
    func refused(_ error: RTMError) { fail(error) }
    func failed(_ error: RTMError) { fail(error) }
    func unsent(_ error: RTMError) { fail(error) }
}

/// A publish that waits for its answer. It outlives the connection that it was sent on.
struct PublishCall<Caller: PublishCaller>: Request {
    let messages: Messages
    let caller: Caller

    var operation: Operation { .publish }

    func answered(_ body: ServerBody) -> Bool {
        guard case .published(let published) = body else { return false }
        caller.published(
            PublishReceipt(timestampMilliseconds: published.timestampMs, offset: published.offset))
        messages.ended(caller.id)
        return true
    }

    func isPostponed(by refusal: Rtm_Client_Error) -> Bool {
        guard refusal.code == .errorChannelPublishMessageFailed, refusal.retryAfterMs > 0 else {
            return false
        }
        messages.postpone(
            caller.id, RTMError(refusal, unknownCode: operation.codes.refused),
            for: .milliseconds(refusal.retryAfterMs))
        return true
    }

    func refused(_ error: RTMError) {
        caller.refused(error)
        messages.ended(caller.id, isNotDone: error.outcome == .notDone)
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        if let error = messages.takeUnsent(caller.id, error) {
            caller.unsent(error)
        } else {
            caller.failed(messages.givenUp(caller.id, error))
            messages.sendHeld()
        }
        return nil
    }

    func lost(_ reason: String) {
        let error = RTMError.answerLost(operation, reason)
        if let error = messages.takeUnsent(caller.id, error) { return caller.unsent(error) }
        messages.lost(caller.id)
        caller.failed(error)
    }
}

extension RTMError {
    /// More messages wait below the server's rates than can be sent in the time of a call.
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
