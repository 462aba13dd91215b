import DequeModule
import NIOCore
import RTMModel
import RTMWire

/// Which calls of a session may be passed on now. The answer to a query may be long, so a few queries are
/// under way at a time, and only while the client reads what it was answered before. What comes behind waits
/// in line, and a line that gets long stops the reading of further requests. Pure.
struct CallTurn {
    /// Limit: queries of one session without an answer.
    static let queriesMax = 4
    /// Limit: calls in line, from which on the client's socket isn't read.
    static let comfortable = 16
    /// Limit: calls in line. The client sent them before its socket was left unread.
    static let waitingMax = 1_024

    /// A call in line.
    struct Waiting {
        let requestID: UInt64
        let kind: ClientCall.Kind
        let lock: LockName?
        let request: ByteBuffer
    }

    enum Place {
        case first
        case inLine
        case full
    }

    private var queries = 0
    private var line: Deque<Waiting> = []
    /// Somebody waits for the client to read.
    var awaitsRoom = false

    var isEmpty: Bool { line.isEmpty }
    /// Whether the client's socket isn't read.
    var isLong: Bool { line.count > Self.comfortable }

    /// Where a new call stands. The first one is passed on at once.
    mutating func begin(_ kind: ClientCall.Kind, hasRoom: Bool) -> Place {
        guard line.isEmpty, mayPass(kind, hasRoom) else {
            return line.count < Self.waitingMax ? .inLine : .full
        }
        if kind.isQuery { queries += 1 }
        return .first
    }

    mutating func wait(_ call: Waiting) { line.append(call) }

    /// Takes out the next call if it may be passed on now.
    mutating func next(hasRoom: Bool) -> Waiting? {
        guard let first = line.first, mayPass(first.kind, hasRoom) else { return nil }
        if first.kind.isQuery { queries += 1 }
        return line.removeFirst()
    }

    mutating func answered(_ kind: ClientCall.Kind) { if kind.isQuery { queries -= 1 } }

    /// What changes something has a short answer.
    private func mayPass(_ kind: ClientCall.Kind, _ hasRoom: Bool) -> Bool {
        !kind.isQuery || hasRoom && queries < Self.queriesMax
    }
}

extension RTMError {
    /// The client sends calls without reading the answers.
    static let tooManyCallsInLine = RTMError(
        .operationRateExceedLimitation,
        "\(CallTurn.waitingMax) calls of this session wait until the answers to earlier ones are read",
        retryAfter: .seconds(1), limit: .init(name: "calls in line", value: UInt64(CallTurn.waitingMax)))
}
