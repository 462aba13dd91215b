import NIOCore
import RTMModel
import RTMWire

/// Something that may change what is kept, on its way to the writer.
struct StorageWrite: Sendable {
    enum Work: Sendable {
        case metadata(WriteMetadata, of: ChannelKey)
        case lock(LockRequest, of: ChannelKey, ticket: UInt64)
        case history(StoredMessage)
        case session(SessionPush)
        /// An edge can't be reached any longer.
        case linkLost
        /// Messaging has the events of these sequences.
        case announced([ClosedRange<UInt64>])
        case removeExpiredHistory(limit: Int)
        case removeUnusedChannels(limit: Int)
    }

    let work: Work
    /// On behalf of whom, where it is a client.
    let caller: Caller?
    /// The link that it came over, and the request that waits for an answer.
    let link: UInt64
    let request: UInt64?

    init(_ work: Work, caller: Caller? = nil, link: UInt64 = 0, request: UInt64? = nil) {
        self.work = work
        self.caller = caller
        self.link = link
        self.request = request
    }
}

/// What a group of writes has led to, once it is durable.
struct WriteOutcome: Sendable {
    enum Answer: Sendable {
        /// The answer to the client, as a CallResponse carries it.
        case call(ByteBuffer)
        /// It stands in line.
        case waiting(ticket: UInt64)
        case historyAppended
    }

    struct Answered: Sendable {
        let link: UInt64
        let request: UInt64
        let result: Result<Answer, RTMError>
    }

    var answers: [Answered] = []
    var settled: [LockStep.Settled] = []
    /// In their order.
    var events: [OutboxEvent] = []
    /// Messages that were removed, where that was asked for.
    var expired: Int?
    /// Set: nothing of the group took place, and the answers say so.
    var failure: StoreFailure?
}
