import RTMModel

/// A message that the app has given to its ``RTMOutbox``.
public struct OutboxMessage: Sendable, Hashable, Identifiable {
    /// Which message it is. It stays the same over restarts of the app, which may keep it beside its own copy
    /// of the message.
    public struct ID: Sendable, Hashable, Codable {
        /// Another random number each time the outbox is opened, at most 53 bits long.
        public let origin: UInt64
        /// Counts the messages of this origin, from 1 on.
        public let sequence: UInt64

        /// Makes the value, as tests of apps do.
        public init(origin: UInt64, sequence: UInt64) {
            self.origin = origin
            self.sequence = sequence
        }
    }

    /// Which message it is.
    public let id: ID
    /// What the message carries.
    public let payload: MessagePayload
    /// Where it goes.
    public let destination: MessageDestination
    /// The type that the app gave the message, or an empty text.
    public let customType: String
    /// Whether the message is kept for later queries (M-27).
    public let storeInHistory: Bool

    /// Makes the value, as tests of apps do.
    public init(
        id: ID, payload: MessagePayload, destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) {
        self.id = id
        self.payload = payload
        self.destination = destination
        self.customType = customType
        self.storeInHistory = storeInHistory
    }

    /// What the limit of an outbox counts.
    var byteCount: Int { payload.byteCount }

    /// The message as each attempt sends it.
    var outgoing: OutgoingMessage {
        OutgoingMessage(
            payload: payload, destination: destination, customType: customType, storeInHistory: storeInHistory
        )
    }
}

/// What became of a message of the outbox, which has removed it.
public struct OutboxEvent: Sendable, Hashable {
    /// The end of a message.
    public enum Outcome: Sendable, Hashable {
        /// It has its place in the channel's log, once.
        case published(PublishReceipt)
        /// The server has ended it with this error. It is not published, but for two codes:
        /// `.channelReceiverOfflineButMessageStoreSucceeded` (-11035), the receiver finds it in the
        /// history, and `.channelMessageDeliveredButStoreFailed` (-11037), it was delivered and is not in
        /// the history.
        case refused(RTMError)
        /// It was sent, the answer was lost with the connection or the app, and when the client came back
        /// the server didn't know whether the message was published: `.channelPublishMessageFailed`
        /// (-11024), or the error with which it refuses the repetition. The app decides whether to publish
        /// it again, which may be for the second time.
        case unknown(RTMError)
    }

    /// The message.
    public var message: OutboxMessage
    /// What became of it.
    public var outcome: Outcome

    /// Makes the value, as tests of apps do.
    public init(message: OutboxMessage, outcome: Outcome) {
        self.message = message
        self.outcome = outcome
    }
}

/// The number under which the server knows a message of the outbox again.
struct OutboxNumber: Sendable, Hashable {
    let id: OutboxMessage.ID
    /// Nil if the message is sent for the first time.
    let again: PublishRepetition?
}

/// What is known of the first sending of a message that is sent again.
struct PublishRepetition: Sendable, Hashable {
    let firstSentAt: ContinuousClock.Instant
    /// The epoch of the inbox at that time; 0 is unknown.
    let epoch: UInt64
}
