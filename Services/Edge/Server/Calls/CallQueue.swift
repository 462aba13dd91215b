import DequeModule
import NIOCore
import RTMModel
import RTMWire

/// Which calls of a session may be passed on now. The answer to a query may be long, so a few queries are
/// under way at a time, and only while the client reads what it was answered before. What comes behind waits
/// in the queue, and a queue that gets long stops the reading of further requests. Pure.
struct CallQueue {
    /// Limit: queries of one session without an answer.
    static let queriesMax = 4
    /// Limit: queued calls, from which on the client's socket isn't read.
    static let readingMax = 16
    /// Limit: queued calls. The client sent them before its socket was left unread.
    static let waitingMax = 1_024

    /// A queued call.
    struct Waiting {
        let requestID: UInt64
        let kind: ClientCall.Kind
        let lock: LockName?
        let request: ByteBuffer
    }

    /// What becomes of a new call.
    enum Decision {
        case pass
        case queue
        case refuse
    }

    private var queue: Deque<Waiting> = []
    private var queries: UInt8 = 0
    /// The calls wait until the client has read.
    var awaitsWritable = false

    var isEmpty: Bool { queue.isEmpty }
    /// Whether the client's socket isn't read.
    var isLong: Bool { queue.count > Self.readingMax }

    /// Decides what becomes of a new call. The first one is passed on at once.
    mutating func begin(_ kind: ClientCall.Kind, isWritable: Bool) -> Decision {
        guard queue.isEmpty, mayPass(kind, isWritable) else {
            return queue.count < Self.waitingMax ? .queue : .refuse
        }
        if kind.isQuery { queries += 1 }
        return .pass
    }

    mutating func wait(_ call: Waiting) { queue.append(call) }

    /// Takes out the next call if it may be passed on now.
    mutating func next(isWritable: Bool) -> Waiting? {
        guard let first = queue.first, mayPass(first.kind, isWritable) else { return nil }
        if first.kind.isQuery { queries += 1 }
        return queue.removeFirst()
    }

    /// The session has ended. Calls that were passed on are answered all the same.
    mutating func removeAll() { queue = [] }

    mutating func answered(_ kind: ClientCall.Kind) { if kind.isQuery { queries -= 1 } }

    /// What changes something has a short answer.
    private func mayPass(_ kind: ClientCall.Kind, _ isWritable: Bool) -> Bool {
        !kind.isQuery || isWritable && queries < Self.queriesMax
    }
}

extension RTMError {
    /// The client sends calls without reading the answers.
    static let tooManyQueuedCalls = RTMError(
        .operationRateExceedLimitation,
        "\(CallQueue.waitingMax) calls of this session wait until the answers to earlier ones are read",
        retryAfter: .seconds(1), limit: .init(name: "queued calls", value: UInt64(CallQueue.waitingMax)))
}
