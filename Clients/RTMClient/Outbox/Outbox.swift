// The outbox of a link: what the app wants published, whatever happens to the app meanwhile. `OutboxQueue`
// decides what is sent and what the file says; this class moves it to the disk and to the server.

import Logging
import NIOCore
import RTMModel

final class Outbox {
    /// Runs what waits for a disk, which has no place on the event loop.
    typealias FileThread = (@escaping @Sendable () -> Void) -> Void

    /// What one write is for: calls that end with it, messages that may be sent after it, and ends that may
    /// be reported to the app.
    private struct Batch {
        var takings: [(message: OutboxMessage, completion: Completion<OutboxMessage>)] = []
        var takenBack: [Completion<Bool>] = []
        var sendings: [OutboxQueue.Sending] = []
        var ends: [OutboxEvent] = []
    }

    /// When something is tried again that failed without a time of its own.
    private static let pause = Duration.seconds(1)

    /// Which outbox it is, if the client opens several one after the other.
    let origin: UInt64
    private let session: LinkSession
    private let requests: Requests
    private let messages: Messages
    private let events: EventOutlet
    private let eventLoop: any EventLoop
    private let onFileThread: FileThread
    /// `nil` once the outbox is closed.
    private var file: OutboxFile?
    private var queue: OutboxQueue
    /// What the next write brings to the file.
    private var records: [OutboxRecord] = []
    private var batch = Batch()
    private var isWriting = false
    /// The file lacks something, because a write has failed, or has lost something. The next write writes all
    /// of it anew.
    private var isBehind: Bool
    /// Calls that end when nothing waits any more.
    private var emptyWaits: [Completion<Void>] = []
    /// Called when the outbox is closed; nil while it isn't to be.
    private var closings: [() -> Void]?

    init(
        session: LinkSession, requests: Requests, messages: Messages, events: EventOutlet,
        eventLoop: any EventLoop, origin: UInt64, _ file: OutboxFile, _ content: OutboxContent,
        limits: OutboxQueue.Limits, onFileThread: @escaping FileThread
    ) {
        self.session = session
        self.requests = requests
        self.messages = messages
        self.events = events
        self.eventLoop = eventLoop
        self.origin = origin
        self.file = file
        queue = OutboxQueue(content.records, origin: origin, limits: limits)
        isBehind = content.damagedLines > 0
        self.onFileThread = onFileThread
        if isBehind {
            session.logger.error(
                "lines of the outbox can't be read", metadata: ["lines": "\(content.damagedLines)"])
        }
    }

    var isOpen: Bool { file != nil && closings == nil }
    var isClosed: Bool { file == nil }
    /// The messages that have no end yet, in the order in which the app gave them.
    var waiting: [OutboxMessage] { queue.messages }

    // MARK: The app's calls

    /// The call ends when the file has the message.
    func publish(_ message: OutgoingMessage, _ completion: Completion<OutboxMessage>) {
        do throws(RTMError) {
            let message = try queue.add(message)
            records.append(.added(message))
            batch.takings.append((message, completion))
            advance()
        } catch {
            completion.fail(error)
        }
    }

    /// Ends with whether the message will never be sent, when the file says so, too.
    func takeBack(_ id: OutboxMessage.ID, _ completion: Completion<Bool>) {
        guard let record = queue.takeBack(id) else { return completion.succeed(false) }
        records.append(record)
        batch.takenBack.append(completion)
        advance()
    }

    /// Ends when every message has had its end, and the file says so.
    func waitUntilEmpty(_ completion: Completion<Void>) {
        emptyWaits.append(completion)
        advance()
    }

    /// The task that waited for this call was cancelled.
    ///
    /// - Returns: whether there was such a call.
    func cancel(_ id: UInt64) -> Bool {
        guard let index = emptyWaits.firstIndex(where: { $0.id == id }) else { return false }
        emptyWaits.remove(at: index).fail(.cancelled(.outbox))
        return true
    }

    private func endEmptyWaits(_ end: (Completion<Void>) -> Void = { $0.succeed() }) {
        guard queue.isEmpty else { return }
        let waits = emptyWaits
        emptyWaits = []
        for completion in waits { end(completion) }
    }

    /// Sends nothing more, and closes the file as soon as it has all that is known.
    func close(_ done: @escaping () -> Void = {}) {
        guard file != nil else { return done() }
        closings = (closings ?? []) + [done]
        let waits = emptyWaits
        emptyWaits = []
        for completion in waits { completion.fail(.outboxIsClosed) }
        advance()
    }

    // MARK: Writing and sending

    /// On a new connection postponed messages may be sent.
    func linkChanged(isConnected: Bool) {
        guard isConnected else { return }
        queue.connected()
        advance()
    }

    /// Sends what is due, once the file has what it must have before. What comes while a write is under way
    /// is in the next write, so that it shares the cost of the disk.
    func advance() {
        guard let file, !isWriting else { return }
        takeDue()
        guard isBehind || !records.isEmpty else {
            let sendings = batch.sendings
            batch.sendings = []
            send(sendings)
            endEmptyWaits()
            return finishClosing()
        }
        let rewrites = isBehind || file.isWorthRewriting
        let records = rewrites ? queue.compacted : self.records
        let end = NIOLoopBound((outbox: self, batch: batch), eventLoop: eventLoop)
        (self.records, batch, isWriting) = ([], Batch(), true)
        onFileThread { [eventLoop] in
            let result = Result { rewrites ? try file.rewritten(records) : try file.appended(records) }
            eventLoop.execute { end.value.outbox.wrote(result, end.value.batch) }
        }
    }

    private func takeDue() {
        guard closings == nil, session.state == .connected, !session.isChangingPath else { return }
        let due = queue.takeDue(
            now: session.now, time: session.clock.milliseconds, epoch: messages.inbox.seen?.epoch ?? 0)
        records += due.records
        batch.sendings += due.sendings
        if let next = queue.nextDue { session.retry(.outbox, after: max(next - session.now, .zero)) }
    }

    private func wrote(_ result: Result<OutboxFile, any Error>, _ batch: Batch) {
        isWriting = false
        switch result {
        case .success(let file):
            self.file = file
            isBehind = false
            for taking in batch.takings { taking.completion.succeed(taking.message) }
            for completion in batch.takenBack { completion.succeed(true) }
            send(batch.sendings)
        case .failure(let error):
            if let unsure = error as? OutboxFile.Unsure { file = unsure.file }
            failed(
                batch,
                RTMError(
                    .channelPublishMessageFailed, "the outbox can't be written: \(error)", outcome: .notDone))
        }
        for end in batch.ends { events.emit(.outbox(end)) }
        // After a failed write time has to pass first.
        if !isBehind { advance() }
    }

    /// What the file doesn't say has not happened: nothing is taken, and nothing is sent.
    private func failed(_ batch: Batch, _ error: RTMError) {
        for taking in batch.takings {
            _ = queue.ended(taking.message.id)
            taking.completion.fail(error)
        }
        for completion in batch.takenBack { completion.fail(error) }
        for sending in batch.sendings { _ = queue.notSent(sending, until: nil) }
        endEmptyWaits { $0.fail(error) }
        // A closing outbox has tried. Whoever opens the file next asks the server about what was published.
        guard closings == nil else { return finishClosing() }
        isBehind = true
        eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Self.pause)) { [weak self] in self?.advance() }
    }

    private func finishClosing() {
        guard let closings else { return }
        file?.close()
        file = nil
        self.closings = nil
        for done in closings { done() }
    }

    // MARK: Sending

    private func send(_ sendings: [OutboxQueue.Sending]) {
        for sending in sendings {
            // The file says that these are about to be sent.
            guard closings == nil else {
                if let record = queue.notSent(sending, until: nil) { records.append(record) }
                continue
            }
            var message = sending.message.outgoing
            message.number = OutboxNumber(id: sending.message.id, again: sending.again)
            messages.publish(message, OutboxCall(outbox: self, sending: sending, id: requests.nextID()))
        }
    }

    fileprivate func ended(_ message: OutboxMessage, _ outcome: OutboxEvent.Outcome) {
        guard file != nil, let record = queue.ended(message.id) else { return }
        records.append(record)
        batch.ends.append(OutboxEvent(message: message, outcome: outcome))
        advance()
    }

    /// The message is sent again after a while, or on the next connection.
    ///
    /// - Parameter isSent: whether the server may have it.
    fileprivate func postpone(_ sending: OutboxQueue.Sending, for pause: Duration?, isSent: Bool = true) {
        guard isOpen else { return }
        let pause = pause ?? Self.pause
        let time = session.now + pause
        if isSent {
            queue.postpone(sending.message.id, until: time)
        } else if let record = queue.notSent(sending, until: time) {
            records.append(record)
        }
        session.retry(.outbox, after: pause)
        advance()
    }
}

/// A publish of the outbox. A failure of the way is no end of it.
private struct OutboxCall: PublishCaller {
    let outbox: Outbox
    let sending: OutboxQueue.Sending
    let id: UInt64

    func published(_ receipt: PublishReceipt) { outbox.ended(sending.message, .published(receipt)) }

    func refused(_ error: RTMError) {
        switch error.code {
        case .channelPublishMessageTooFrequent, .operationRateExceedLimitation:
            outbox.postpone(sending, for: error.retryAfter, isSent: false)
        case _ where error.retryAfter != nil, .channelPublishMessageTimeout:
            outbox.postpone(sending, for: error.retryAfter)
        case .channelPublishMessageFailed:
            outbox.ended(sending.message, .unknown(error))
        case .channelReceiverOfflineButMessageStoreSucceeded, .channelMessageDeliveredButStoreFailed,
            .channelReceiverOfflineAndMessageStoreFailed:
            // These come from the log, which knows a repetition.
            outbox.ended(sending.message, .refused(error))
        default:
            // The first copy of a repetition may have passed where this one doesn't.
            outbox.ended(sending.message, sending.again == nil ? .refused(error) : .unknown(error))
        }
    }

    func failed(_ error: RTMError) { outbox.postpone(sending, for: error.retryAfter) }

    func unsent(_ error: RTMError) {
        // A message that can't be encrypted now can't be encrypted later.
        guard error.code == .channelEncryptMessageFailed else {
            return outbox.postpone(sending, for: error.retryAfter, isSent: false)
        }
        outbox.ended(sending.message, sending.again == nil ? .refused(error) : .unknown(error))
    }
}
