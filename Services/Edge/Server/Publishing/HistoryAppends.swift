import NIOCore
import RTMModel
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// A message that is to be stored once it has its timestamp. It is a copy, because the frame that the message
/// came in is gone then. Publishes that nothing stores are most of them, and carry one empty reference.
final class HistoryCopy {
    let channel: ChannelKey
    let type: MessageType
    let payload: ByteBuffer
    let customType: String
    /// Storage knows the message again by this when the client sends it once more.
    let origin: PublishOrigin

    init(_ request: ClientRequest.Publish, _ session: Session) {
        channel = ChannelKey(
            appID: session.appID, type: request.channelType ?? .none, name: request.channel.string)
        type = request.message.type ?? .binary
        payload = ByteBuffer(bytes: request.message.payload.bytes)
        customType = request.message.customType.string
        origin = PublishOrigin(instance: request.instance(of: session.caller), sequence: request.sequence)
    }
}

/// What has to be remembered of a message until storage answers.
struct PendingHistory {
    let publish: Publishing.PendingPublish
    /// Nil if the receiver is offline: then storing is all that can be done for the message.
    let published: PublishResponse?
}

/// Has published messages stored, and answers their publishers.
final class HistoryAppends {
    private let storage: StorageClient
    private let wallClock: () -> UInt64
    /// The messages that storage has not answered for yet.
    private var pending = RequestContexts<PendingHistory>()

    init(storage: StorageClient, wallClock: @escaping () -> UInt64) {
        self.storage = storage
        self.wallClock = wallClock
    }

    func store(_ history: HistoryCopy, _ pending: PendingHistory) {
        history.payload.withUnsafeReadableBytes { payload in
            history.customType.withWireText { customType in
                let message = MessageView(
                    type: history.type, payload: WireText(payload), customType: customType)
                storage.appendHistory(
                    AppendHistoryRequest(
                        channel: history.channel, publisher: pending.publish.session.userID,
                        timestampMilliseconds: pending.published?.timestampMilliseconds ?? wallClock(),
                        order: pending.published?.order ?? 0, message: message, origin: history.origin),
                    context: self.pending.insert(pending))
            }
        }
    }

    /// The four outcomes of a message that was to be stored (M-27, M-32). None of them takes the delivery
    /// back.
    ///
    /// - Returns: the publish that is settled with that.
    func appended(
        _ context: Int, _ outcome: ServiceLinkResult<NoContent>
    ) -> Publishing.PendingPublish {
        let pending = pending.remove(context)
        switch (outcome, pending.published) {
        case (.success, let published?):
            pending.publish.acknowledge(published)
        case (.success, nil):
            refuse(
                pending, .channelReceiverOfflineButMessageStoreSucceeded,
                "the receiver is offline; the message is stored")
        case (.failure(let failure), let published):
            let cause = RTMError(failure, .historyNotAvailable, timeout: .historyOperationTimeout).reason
            if published != nil {
                refuse(
                    pending, .channelMessageDeliveredButStoreFailed,
                    "the message was delivered, but not stored: \(cause)")
            } else {
                refuse(
                    pending, .channelReceiverOfflineAndMessageStoreFailed,
                    "the receiver is offline, and the message was not stored: \(cause)")
            }
        }
        return pending.publish
    }

    private func refuse(_ pending: PendingHistory, _ code: ErrorCode, _ reason: String) {
        pending.publish.session.answer(pending.publish.requestID, RTMError(code, reason))
    }
}
