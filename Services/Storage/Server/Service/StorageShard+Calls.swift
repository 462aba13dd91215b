import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// What edges and gateways ask of metadata, locks and history. It is checked as far as that is possible
/// without the store, and waits for the threads then.
extension StorageShard {
    func call(
        _ call: CallRequest, _ id: UInt64, _ link: AcceptedServiceLink, _ deadline: NIODeadline
    ) throws {
        let caller = call.caller
        switch try StorageRequest(scanning: call.request.bytes) {
        case .writeMetadata(let request):
            let channel = try request.target.key(of: caller)
            try request.check()
            try write(.metadata(request, of: channel), .storageNotAvailable, caller, id, link)
        case .lock(let request):
            let channel = try request.place.key(of: caller)
            try NameRule.lock.check(request.name.utf8)
            lastTicket += 1
            try write(
                .lock(request, of: channel, ticket: lastTicket), .lockOperationFailed, caller, id, link)
        case .getMetadata(let target):
            try read(.metadata(target.key(of: caller)), id, link, deadline, by: caller.userID)
        case .getLocks(let place):
            try read(.locks(place.key(of: caller)), id, link, deadline, by: caller.userID)
        case .getHistory(let request):
            let query = try HistorySelection(request, of: caller)
            try retention.check(caller.appID)
            try read(.history(query), id, link, deadline, by: caller.userID)
        case nil: throw RTMError(.serviceNotSupport, "storage doesn't know this request")
        }
    }

    /// Stores a message of a message or user channel (H-1).
    func append(_ request: AppendHistoryRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        let channel = request.channel
        guard channel.type == .message || channel.type == .user else {
            throw RTMError(.invalidChannelType, "only message and user channels have a history")
        }
        try retention.check(channel.appID)
        let time = request.time
        let content = HistoryMessage(
            type: request.message.type ?? .binary, payload: Array(request.message.payload.bytes),
            customType: request.message.customType.string, publisher: request.publisher,
            time: time)
        let origin = request.origin
        let isKnown = origin.instance != 0 && origin.sequence != 0
        let message = StoredMessage(
            channel: channel, content: content,
            origin: isKnown ? .init(instance: origin.instance, sequence: origin.sequence) : nil,
            expiry: retention.expiry(of: time.milliseconds, app: channel.appID))
        try write(.history(message), .historyOperationFailed, nil, id, link)
    }

    /// Limit: messages removed in one write of a purge, for the same reason as `expiredMax`.
    private static let purgedMax = 500

    func purge(_ request: PurgeHistoryRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        let channel = request.channel
        guard channel.type == .message || channel.type == .user else {
            throw RTMError(.invalidChannelType, "only message and user channels have a history")
        }
        try write(
            .purgeHistory(.init(request, limit: Self.purgedMax)), .historyOperationFailed, nil, id, link)
    }

    /// Removes the next messages of a purge, or answers it. A purge whose caller is gone stops where it is.
    func purged(
        _ purge: HistoryPurge, _ count: Int, _ request: UInt64, _ link: AcceptedServiceLink
    ) {
        let next = purge.next(after: count)
        guard count == purge.limit else {
            link.respond(to: request, PurgeHistoryResponse(removed: UInt64(next.removed)))
            return
        }
        let write = StorageWrite(.purgeHistory(next), link: link.id, request: request)
        _ = queues.writes.put(write, mayOverfill: true)
    }

    func write(
        _ work: StorageWrite.Work, _ code: ErrorCode, _ caller: Caller?, _ id: UInt64,
        _ link: AcceptedServiceLink
    ) throws(RTMError) {
        let write = StorageWrite(work, caller: caller, link: link.id, request: id)
        guard queues.writes.put(write) else { throw overfull(code, queues.writes.countMax) }
    }

    /// Reads when the link has room for the answer.
    ///
    /// - Parameter caller: who asks; empty if that isn't said.
    func read(
        _ work: StorageRead.Work, _ id: UInt64, _ link: AcceptedServiceLink, _ deadline: NIODeadline,
        by caller: String = ""
    ) throws(RTMError) {
        let read = StorageRead(work: work, link: link.id, request: id)
        let turn = AnswerTurns<StorageRead>.Turn(
            read, app: work.appID, caller: caller, bytesMax: work.answerBytesMax, deadline: deadline)
        switch turns.ask(turn, of: link.id, queuedBytes: link.queuedBytes) {
        case .begin: try begin(read)
        case .wait: metrics.waitingReads.set(turns.waitingCount, of: self)
        case .refuse(let waitingMax): throw overfull(work.failureCode, waitingMax)
        }
    }

    private func begin(_ read: StorageRead) throws(RTMError) {
        guard !queues.reads.put(read) else { return }
        turns.ended(read.work.answerBytesMax, of: read.link)
        throw overfull(read.work.failureCode, queues.reads.countMax)
    }

    /// Begins the reads for which the link has room now.
    func readNext(for link: AcceptedServiceLink) {
        while let turn = turns.next(of: link.id, queuedBytes: link.queuedBytes) {
            metrics.waitingReads.set(turns.waitingCount, of: self)
            do throws(RTMError) {
                guard turn.deadline > eventLoop.now else { throw tooLate(turn.work) }
                try begin(turn.work)
            } catch {
                refuse(turn.work, error, link)
            }
        }
    }

    private func tooLate(_ read: StorageRead) -> RTMError {
        turns.ended(read.work.answerBytesMax, of: read.link)
        return RTMError(
            read.work.failureCode, "the answer had to wait for too long behind others",
            retryAfter: .seconds(1))
    }

    func overfull(_ code: ErrorCode, _ countMax: Int) -> RTMError {
        RTMError(
            code, "too many requests wait for the disk", retryAfter: .seconds(1),
            limit: .init(name: "waiting storage requests", value: UInt64(countMax)))
    }
}
