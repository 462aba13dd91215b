// The outbox of a link: what the app wants published, whatever happens to the app meanwhile. `OutboxQueue`
// decides what is sent and what the file says; this class moves it to the disk and to the server.

import NIOCore
import RTMModel

final class Outbox {
    /// Runs what waits for a disk, which has no place on the event loop.
    typealias FileThread = (@escaping @Sendable () -> Void) -> Void

    /// What one write is for: calls that end with it, and messages that may be sent behind it.
    private struct Batch {
        var takings: [(message: OutboxMessage, completion: Completion<OutboxMessage>)] = []
        var sendings: [OutboxQueue.Sending] = []
    }

    /// When something is tried again that failed without a time of its own.
    private static let pause = Duration.seconds(1)

    private unowned let link: Link
    private let eventLoop: any EventLoop
    private let onFileThread: FileThread
    /// Nil once the outbox is closed.
    private var file: OutboxFile?
    private var queue: OutboxQueue
    /// What the next write brings to the file.
    private var records: [OutboxRecord] = []
    private var batch = Batch()
    private var isWriting = false
    /// The file lacks something, because a write has failed. The next one writes all of it anew.
    private var isBehind = false
    /// Calls that end when nothing waits any more.
    private var emptyWaits: [Completion<Void>] = []
    /// Called when the outbox is closed; nil while it isn't to be.
    private var closings: [() -> Void]?

    init(_ link: Link, _ file: OutboxFile, _ queue: OutboxQueue, onFileThread: @escaping FileThread) {
        self.link = link
        eventLoop = link.eventLoop
        self.file = file
        self.queue = queue
        self.onFileThread = onFileThread
    }

    var messages: [OutboxMessage] { queue.messages }

    // MARK: The app's calls

    /// The call ends when the file has the message.
    func publish(_ message: OutgoingMessage, _ completion: Completion<OutboxMessage>) {
        do throws(RTMError) {
            let message = try queue.add(message)
            records.append(.added(message))
            batch.takings.append((message, completion))
            go()
        } catch {
            completion.fail(error)
        }
    }

    /// - Returns: whether the message will never be sent.
    func takeBack(_ id: OutboxMessage.ID) -> Bool {
        guard let record = queue.takeBack(id) else { return false }
        records.append(record)
        go()
        endEmptyWaits()
        return true
    }

    /// Ends when every message has had its end.
    func waitUntilEmpty(_ completion: Completion<Void>) {
        emptyWaits.append(completion)
        endEmptyWaits()
    }

    /// The task that waited for this call was cancelled.
    ///
    /// - Returns: whether there was such a call.
    func cancel(_ id: UInt64) -> Bool {
        guard let index = emptyWaits.firstIndex(where: { $0.id == id }) else { return false }
        emptyWaits.remove(at: index).fail(.cancelled(.outbox))
        return true
    }

    private func endEmptyWaits() {
        guard queue.isEmpty else { return }
        let waits = emptyWaits
        emptyWaits = []
        for completion in waits { completion.succeed() }
    }

    /// Sends nothing more, and lets go of the file as soon as it says all that is known.
    func close(_ done: @escaping () -> Void = {}) {
        closings = (closings ?? []) + [done]
        let waits = emptyWaits
        emptyWaits = []
        for completion in waits { completion.fail(.outboxIsClosed) }
        go()
    }

    // MARK: Turns

    /// Another connection, or one that was lost: what was put off may be tried.
    func linkChanged(isConnected: Bool) {
        guard isConnected else { return }
        queue.connected()
        go()
    }

    /// Sends what is due, once the file has what it must have before. While a write is under way everything
    /// else gathers, so that what waits shares the cost of the disk.
    func go() {
        guard let file, !isWriting else { return }
        takeDue()
        guard isBehind || !records.isEmpty else {
            let sendings = batch.sendings
            batch.sendings = []
            send(sendings)
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
        guard closings == nil, link.state == .connected, !link.isChangingPath else { return }
        let due = queue.takeDue(
            now: link.now, time: link.time.milliseconds, epoch: link.messages.inbox.seen?.epoch ?? 0)
        records += due.records
        batch.sendings += due.sendings
        if let next = queue.nextDue { link.retry(.outbox, after: max(next - link.now, .zero)) }
    }

    private func wrote(_ result: Result<OutboxFile, any Error>, _ batch: Batch) {
        isWriting = false
        switch result {
        case .success(let file):
            self.file = file
            isBehind = false
            for taking in batch.takings { taking.completion.succeed(taking.message) }
            send(batch.sendings)
        case .failure(let error):
            failed(batch, "\(error)")
        }
        go()
    }

    /// What the file doesn't say has not happened.
    private func failed(_ batch: Batch, _ cause: String) {
        isBehind = true
        for taking in batch.takings {
            _ = queue.ended(taking.message.id)
            taking.completion.fail(
                RTMError(.channelPublishMessageFailed, "the outbox can't be written: \(cause)"))
        }
        // A closing outbox has tried; what the file lacks, the server knows.
        guard closings == nil else {
            isBehind = false
            return
        }
        for sending in batch.sendings { queue.putOff(sending.message.id, until: link.now + Self.pause) }
        link.retry(.outbox, after: Self.pause)
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
        guard closings == nil else { return }
        for sending in sendings {
            var message = sending.message.outgoing
            message.number = OutboxNumber(id: sending.message.id, again: sending.again)
            link.messages.publish(
                message, OutboxCall(outbox: self, message: sending.message, id: link.requests.nextID()))
        }
    }

    fileprivate func ended(_ message: OutboxMessage, _ outcome: OutboxEvent.Outcome) {
        guard file != nil, closings == nil, let record = queue.ended(message.id) else { return }
        records.append(record)
        link.events.emit(.outbox(OutboxEvent(message: message, outcome: outcome)))
        go()
        endEmptyWaits()
    }

    /// The message is sent again after a while, or on the next connection.
    fileprivate func putOff(_ message: OutboxMessage, for pause: Duration?) {
        guard file != nil, closings == nil else { return }
        let pause = pause ?? Self.pause
        queue.putOff(message.id, until: link.now + pause)
        link.retry(.outbox, after: pause)
    }
}

/// A publish of the outbox. A failure of the way is no end of it.
private struct OutboxCall: PublishCaller {
    let outbox: Outbox
    let message: OutboxMessage
    let id: UInt64

    func published(_ receipt: PublishReceipt) { outbox.ended(message, .published(receipt)) }

    func refused(_ error: RTMError) {
        switch error.code {
        case _ where error.retryAfter != nil: outbox.putOff(message, for: error.retryAfter)
        case .channelPublishMessageTimeout, .channelPublishMessageTooFrequent, .operationRateExceedLimitation:
            outbox.putOff(message, for: nil)
        case .channelPublishMessageFailed: outbox.ended(message, .unknown(error))
        default: outbox.ended(message, .refused(error))
        }
    }

    func failed(_ error: RTMError) {
        // What can't be encrypted can't be encrypted later.
        if error.code == .channelEncryptMessageFailed { return outbox.ended(message, .refused(error)) }
        outbox.putOff(message, for: error.retryAfter)
    }
}
