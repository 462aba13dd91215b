import RTMModel

/// A call that changes nothing: what it asks of the store, how long its answer may be, and with which code it
/// is refused when the store fails. The messages of the schema that only read are queries themselves.
protocol StorageQuery: Sendable {
    associatedtype Answer: Sendable

    static var failureCode: ErrorCode { get }
    /// Whose turn the query takes; empty for what the node or an operator reads.
    var appID: String { get }
    /// About how many bytes the answer may have; 0 for what the node reads for itself.
    var answerBytesMax: Int { get }
    /// - Parameter now: the time in milliseconds (UTC).
    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> Answer
}

extension StorageQuery {
    static var failureCode: ErrorCode { .storageNotAvailable }
}

/// A query on its way to a reader's thread, and back to the shard.
struct StorageRead: Sendable {
    /// Gives the shard the answer, on its event loop.
    typealias Delivery = @Sendable (StorageShard) -> Void

    /// The link that has turns for the answer.
    let link: UInt64
    let appID: String
    let answerBytesMax: Int
    let failureCode: ErrorCode
    private let read: @Sendable (any ReadableStore, UInt64) throws(StoreFailure) -> Delivery
    private let refusal: @Sendable (RTMError) -> Delivery

    /// - Parameter done: called with the answer or the refusal; not called if the link closes while the read
    ///   waits for its turn.
    init<Query: StorageQuery>(
        _ query: Query, link: UInt64 = 0,
        _ done: @escaping @Sendable (StorageShard, Result<Query.Answer, RTMError>) -> Void
    ) {
        self.link = link
        (appID, answerBytesMax) = (query.appID, query.answerBytesMax)
        failureCode = Query.failureCode
        read = { store, now throws(StoreFailure) in
            let answer = try query.answer(from: store, now: now)
            return { done($0, .success(answer)) }
        }
        refusal = { error in { done($0, .failure(error)) } }
    }

    fileprivate func answer(from store: any ReadableStore, _ now: UInt64) throws(StoreFailure) -> ReadOutcome
    {
        ReadOutcome(read: self, deliver: try read(store, now))
    }

    func refused(_ error: RTMError) -> ReadOutcome {
        ReadOutcome(read: self, refusal: error, deliver: refusal(error))
    }
}

struct ReadOutcome: Sendable {
    let read: StorageRead
    /// Why it was refused; nil if it was answered.
    var refusal: RTMError?
    let deliver: StorageRead.Delivery
}

extension ReadableStore {
    /// Carries out the reads, all from one committed state, unless the store refuses one of them: then those
    /// behind it see a later state, and don't fail with it. Everything that was acknowledged before the reads
    /// were asked for is in it.
    ///
    /// - Parameter now: the time in milliseconds (UTC).
    func run(_ reads: [StorageRead], now: UInt64) -> [ReadOutcome] {
        var outcomes: [ReadOutcome] = []
        outcomes.reserveCapacity(reads.count)
        do throws(StoreFailure) {
            try snapshot { () throws(StoreFailure) in
                for read in reads { outcomes.append(try read.answer(from: self, now)) }
            }
        } catch {
            let failed = reads.dropFirst(outcomes.count)
            let isOneAlone = error.kind == .refused && failed.count > 1
            for read in isOneAlone ? failed.prefix(1) : failed {
                outcomes.append(read.refused(error.error(read.failureCode)))
            }
            if isOneAlone { outcomes += run(Array(failed.dropFirst()), now: now) }
        }
        return outcomes
    }
}
