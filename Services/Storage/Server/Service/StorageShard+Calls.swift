import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// A request that waits for its answer.
struct StorageCall {
    let id: UInt64
    let link: AcceptedServiceLink
    /// When nobody waits for the answer any more.
    let deadline: NIODeadline
}

/// What edges and gateways ask of metadata, locks and history. It is checked as far as that is possible
/// without the store, and waits for the threads then.
extension StorageShard {
    func call(_ request: CallRequest, _ call: StorageCall) throws {
        let caller = request.caller
        switch try StorageRequest(scanning: request.request.bytes) {
        case .writeMetadata(let request):
            let channel = try request.target.key(of: caller)
            try request.check()
            try write(MetadataEdit(request, of: channel, by: caller.userID), call)
        case .lock(let request):
            let channel = try request.place.key(of: caller)
            try NameRule.lock.check(request.name.utf8)
            lastTicket += 1
            try write(LockChange(request, of: channel, ticket: lastTicket, by: caller), call)
        case .getMetadata(let target):
            try read(MetadataQuery(channel: target.key(of: caller)), call, by: caller.userID)
        case .getLocks(let place):
            try read(LocksQuery(channel: place.key(of: caller)), call, by: caller.userID)
        case .getHistory(let request):
            let query = try HistorySelection(request, of: caller)
            try retention.check(caller.appID)
            try read(query, call, by: caller.userID)
        case nil: throw RTMError(.serviceNotSupport, "storage doesn't know this request")
        }
    }

    /// Stores a message of a message or user channel (H-1).
    func append(_ request: AppendHistoryRequest, _ call: StorageCall) throws {
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
        try write(message, call)
    }

    /// Limit: messages removed in one write of a purge, for the same reason as `expiredMax`.
    private static let purgedMax = 500

    func purge(_ request: PurgeHistoryRequest, _ call: StorageCall) throws {
        let channel = request.channel
        guard channel.type == .message || channel.type == .user else {
            throw RTMError(.invalidChannelType, "only message and user channels have a history")
        }
        try write(HistoryPurge(request, limit: Self.purgedMax), call)
    }

    func write<Change: StorageChange>(_ change: Change, _ call: StorageCall) throws(RTMError) {
        let write = StorageWrite(change, link: call.link.id, request: call.id)
        guard queues.writes.put(write) else { throw overfull(Change.failureCode, queues.writes.countMax) }
    }

    /// Carries out a call that only reads, as the schema has it.
    func read<Query: StorageQuery & ArenaDecodable>(
        _ method: ServiceMethod<Query, Query.Answer>, _ body: UnsafeRawBufferPointer, _ call: StorageCall
    ) throws where Query.Answer: WireEncodable {
        try read(Query(body, in: arena), call)
    }

    /// - Parameter caller: who asks; empty if that isn't said.
    func read<Query: StorageQuery>(
        _ query: Query, _ call: StorageCall, by caller: String = ""
    ) throws(RTMError) where Query.Answer: WireEncodable {
        let (id, link) = (call.id, call.link.id)
        let read = StorageRead(query, link: link) { shard, result in shard.answer(id, link, result) }
        try self.read(read, call.link, call.deadline, by: caller)
    }

    /// Reads when the link has room for the answer.
    func read(
        _ read: StorageRead, _ link: AcceptedServiceLink, _ deadline: NIODeadline, by caller: String = ""
    ) throws(RTMError) {
        let turn = AnswerTurns<StorageRead>.Turn(
            read, app: read.appID, caller: caller, bytesMax: read.answerBytesMax, deadline: deadline)
        switch turns.ask(turn, of: link.id, queuedBytes: link.queuedBytes) {
        case .begin: try begin(read)
        case .wait: metrics.waitingReads.set(turns.waitingCount, of: self)
        case .refuse(let waitingMax): throw overfull(read.failureCode, waitingMax)
        }
    }

    private func begin(_ read: StorageRead) throws(RTMError) {
        guard !queues.reads.put(read) else { return }
        turns.ended(read.answerBytesMax, of: read.link)
        throw overfull(read.failureCode, queues.reads.countMax)
    }

    /// Begins the reads for which the link has room now.
    func readNext(for link: AcceptedServiceLink) {
        while let turn = turns.next(of: link.id, queuedBytes: link.queuedBytes) {
            metrics.waitingReads.set(turns.waitingCount, of: self)
            do throws(RTMError) {
                guard turn.deadline > eventLoop.now else { throw tooLate(turn.work) }
                try begin(turn.work)
            } catch {
                turn.work.refused(error).deliver(self)
            }
        }
    }

    private func tooLate(_ read: StorageRead) -> RTMError {
        turns.ended(read.answerBytesMax, of: read.link)
        return RTMError(
            read.failureCode, "the answer had to wait for too long behind others", retryAfter: .seconds(1))
    }

    func overfull(_ code: ErrorCode, _ countMax: Int) -> RTMError {
        RTMError(
            code, "too many requests wait for the disk", retryAfter: .seconds(1),
            limit: .init(name: "waiting storage requests", value: UInt64(countMax)))
    }
}
