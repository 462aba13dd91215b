import DequeModule
import RTMModel

/// The messages that an app gave to its outbox and that aren't known to be published: which is sent next,
/// which is sent again, and what the file says of them. Pure: it gets the time.
///
/// A message is in the file before its call returns, and its beginning is in the file before it is sent. So
/// the file knows more than the server at each moment, and what it doesn't say has not happened.
/// One message at a time is under way to each destination. That keeps the order there, also between messages
/// of two origins, of which the server knows no order.
struct OutboxQueue {
    typealias Instant = ContinuousClock.Instant
    typealias ID = OutboxMessage.ID

    /// What an outbox holds at most.
    struct Limits: Hashable {
        var messagesMax = 1_000
        var bytesMax = 4 * 1_024 * 1_024
    }

    /// A message that is to be sent now.
    struct Sending: Hashable {
        let message: OutboxMessage
        /// What the server needs to know to recognise it, if the message was sent before.
        let again: PublishRepetition?
    }

    private struct Waiting {
        let message: OutboxMessage
        /// Counts what was added, over all origins.
        let number: UInt64
        var beginning: OutboxRecord.Beginning?
    }

    /// Limit: messages under way at one time, so that an app that comes back with many of them doesn't take
    /// all the calls that may wait for an answer.
    static let sentMax = 64

    private let limits: Limits
    private let origin: UInt64
    private var lastSequence: UInt64 = 0
    private var lastNumber: UInt64 = 0
    private var waiting: [ID: Waiting] = [:]
    /// In the order in which the app gave them.
    private var queues: [MessageDestination: Deque<ID>] = [:]
    /// Destinations whose first message may be sent.
    private var ready: Deque<MessageDestination> = []
    /// Destinations whose first message the server has postponed.
    private var paused: [MessageDestination: Instant] = [:]
    private var sent: Set<ID> = []
    private(set) var byteCount = 0

    /// - Parameters:
    ///   - records: what could be read of the file.
    ///   - origin: a random number, another one each time the file is opened. So no number of a message is
    ///     used twice, whatever of the file was lost.
    init(_ records: [OutboxRecord] = [], origin: UInt64, limits: Limits = Limits()) {
        self.limits = limits
        self.origin = origin
        for record in records { read(record) }
        readyAll()
    }

    private mutating func read(_ record: OutboxRecord) {
        switch record {
        case .added(let message): hold(message)
        case .begun(let id, let beginning): waiting[id]?.beginning = beginning
        case .notSent(let id): waiting[id]?.beginning = nil
        case .ended(let id): remove(id)
        }
    }

    private mutating func hold(_ message: OutboxMessage) {
        guard waiting[message.id] == nil else { return }
        lastNumber += 1
        waiting[message.id] = Waiting(message: message, number: lastNumber)
        queues[message.destination, default: []].append(message.id)
        byteCount += message.byteCount
    }

    /// - Returns: whether it was the first of its queue.
    @discardableResult
    private mutating func remove(_ id: ID) -> Bool {
        guard let message = waiting.removeValue(forKey: id)?.message else { return false }
        byteCount -= message.byteCount
        sent.remove(id)
        let isFirst = queues[message.destination]?.first == id
        // Almost always it is the first.
        if isFirst {
            queues[message.destination]?.removeFirst()
        } else {
            queues[message.destination]?.removeAll { $0 == id }
        }
        if queues[message.destination]?.isEmpty == true { queues[message.destination] = nil }
        return isFirst
    }

    var isEmpty: Bool { waiting.isEmpty }
    /// In the order in which the app gave them.
    var messages: [OutboxMessage] { inOrder.map(\.message) }

    private var inOrder: [Waiting] { waiting.values.sorted { $0.number < $1.number } }

    // MARK: Taking

    /// The app gives a message.
    ///
    /// - Throws: `.channelPublishMessageTooFrequent` (-11025) with the limit that is met.
    /// - Returns: the message with its number. It has to be in the file before the call returns.
    mutating func add(_ message: OutgoingMessage) throws(RTMError) -> OutboxMessage {
        guard waiting.count < limits.messagesMax else {
            throw .isFull("\(waiting.count) messages", "outbox messages", limits.messagesMax)
        }
        guard byteCount + message.payload.byteCount <= limits.bytesMax else {
            throw .isFull("\(byteCount) bytes", "outbox bytes", limits.bytesMax)
        }
        lastSequence += 1
        let message = OutboxMessage(
            id: ID(origin: origin, sequence: lastSequence), payload: message.payload,
            destination: message.destination, customType: message.customType,
            storeInHistory: message.storeInHistory)
        hold(message)
        if queues[message.destination]?.count == 1 { ready.append(message.destination) }
        return message
    }

    // MARK: Sending

    /// When the next message may be sent that was put off.
    var nextDue: Instant? { paused.values.min() }

    /// The client is connected, and something may be sent.
    ///
    /// - Parameters:
    ///   - time: by the server's clock, in milliseconds.
    ///   - epoch: that of the inbox; 0 is unknown.
    /// - Returns: what is to be sent, and what has to be in the file before that.
    mutating func takeDue(
        now: Instant, time: UInt64, epoch: UInt64
    ) -> (sendings: [Sending], records: [OutboxRecord]) {
        for (destination, until) in paused where until <= now {
            paused[destination] = nil
            ready.append(destination)
        }
        var sendings: [Sending] = []
        var records: [OutboxRecord] = []
        while sent.count < Self.sentMax, let destination = ready.popFirst() {
            // A message that was taken back meanwhile is in no queue any more.
            guard let id = queues[destination]?.first, !sent.contains(id), let next = waiting[id] else {
                continue
            }
            sent.insert(id)
            if let beginning = next.beginning {
                let again = PublishRepetition(beginning, time: time, now: now)
                sendings.append(Sending(message: next.message, again: again))
            } else {
                let beginning = OutboxRecord.Beginning(atMilliseconds: time, epoch: epoch)
                waiting[id]?.beginning = beginning
                records.append(.begun(id, beginning))
                sendings.append(Sending(message: next.message, again: nil))
            }
        }
        return (sendings, records)
    }

    /// The message is published, or the server has refused it for good.
    ///
    /// - Returns: what goes to the file, or `nil` if the message isn't here. Until the file has it, the
    ///   message may be sent again after a restart, and the server answers as the first time.
    mutating func ended(_ id: ID) -> OutboxRecord? {
        guard let message = waiting[id]?.message else { return nil }
        if remove(id), queues[message.destination] != nil { ready.append(message.destination) }
        return .ended(id)
    }

    /// The server has refused the message for the moment, or nobody knows what has become of it.
    mutating func postpone(_ id: ID, until time: Instant) {
        guard sent.remove(id) != nil, let destination = waiting[id]?.message.destination else { return }
        paused[destination] = time
    }

    /// The message has not left.
    ///
    /// - Parameter time: when it may be sent; nil for whenever something is.
    /// - Returns: what the file has to say, unless the message was sent before.
    mutating func notSent(_ sending: Sending, until time: Instant?) -> OutboxRecord? {
        let id = sending.message.id
        guard sent.contains(id) else { return nil }
        if let time {
            postpone(id, until: time)
        } else {
            sent.remove(id)
            ready.append(sending.message.destination)
        }
        guard sending.again == nil else { return nil }
        waiting[id]?.beginning = nil
        return .notSent(id)
    }

    /// The app takes a message back.
    ///
    /// - Returns: what goes to the file, or `nil` if the message was sent, so that nobody can take it back,
    ///   or isn't here.
    mutating func takeBack(_ id: ID) -> OutboxRecord? {
        guard let entry = waiting[id], entry.beginning == nil else { return nil }
        return ended(id)
    }

    /// What was put off need not wait any longer: the client has a new connection.
    mutating func connected() {
        paused = [:]
        readyAll()
    }

    private mutating func readyAll() {
        ready = Deque(
            inOrder.lazy.filter { [queues, sent] entry in
                let id = entry.message.id
                return queues[entry.message.destination]?.first == id && !sent.contains(id)
            }.map(\.message.destination))
    }

    // MARK: The file

    /// What a new file has to say.
    var compacted: [OutboxRecord] {
        inOrder.flatMap { entry -> [OutboxRecord] in
            let begun = entry.beginning.map { OutboxRecord.begun(entry.message.id, $0) }
            return [.added(entry.message)] + (begun.map { [$0] } ?? [])
        }
    }
}

extension PublishRepetition {
    /// A first sending in the future says nothing of its age, which must not be too small.
    fileprivate init(
        _ beginning: OutboxRecord.Beginning, time: UInt64, now: ContinuousClock.Instant
    ) {
        let (age, isInFuture) = time.subtractingReportingOverflow(beginning.atMilliseconds)
        let ageMax = UInt64(UInt32.max)
        self.init(
            firstSentAt: now - .milliseconds(isInFuture ? ageMax : min(age, ageMax)), epoch: beginning.epoch)
    }
}

extension RTMError {
    fileprivate static func isFull(_ what: String, _ limit: String, _ value: Int) -> RTMError {
        RTMError(
            .channelPublishMessageTooFrequent, "the outbox holds \(what) already, \(value) are allowed",
            limit: .init(name: limit, value: UInt64(value)))
    }
}
