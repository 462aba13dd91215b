import DequeModule
import NIOCore

/// One batch on its way.
struct JournalAppend: Equatable {
    let leaderToken: UInt64
    let number: UInt64
    /// Empty: nothing is written, and the lease is prolonged.
    let bytes: ByteBuffer
    let oldestKept: UInt64
    /// Whether the journal has with it all that the node has in memory.
    let isWhole: Bool
}

/// What the leader has written to its journal, and what it still has to write.
///
/// One batch is under way at a time. What happens meanwhile becomes the next one, so everything that waits
/// shares the cost of Redis. Pure.
struct JournalWriter {
    /// Why a batch is under way.
    private enum Purpose: Equatable {
        /// Output waits for it under this number.
        case gathered(UInt64)
        case checkpoint
        /// Only the lease is prolonged.
        case renewal
    }

    var term: JournalTerm
    private(set) var leaderToken: UInt64
    /// The last batch that Redis is known to have.
    private(set) var written: UInt64
    private var underWay: (append: JournalAppend, purpose: Purpose)?
    /// What was under way when Redis was found to have lost something. It follows the checkpoint.
    private var interrupted: (append: JournalAppend, purpose: Purpose)?
    /// Whether Redis is asked, and hasn't answered yet.
    private(set) var awaitsRedis = false
    /// Limit: bytes from which on a batch takes nothing more, so that Redis isn't busy with one for long.
    static let batchBytesMax = 256 * 1024

    /// Batches that take nothing more, the oldest first.
    private var full = Deque<ByteBuffer>()
    private var pending = ByteBuffer()
    /// Under this number output waits for what gathers.
    private(set) var pendingNumber: UInt64 = 1
    /// Everything in memory is being written again, because Redis lost it. Nothing else is written meanwhile.
    private(set) var isWritingCheckpoint = false
    /// When Redis last prolonged the lease, in milliseconds.
    private(set) var renewedAt: UInt64
    /// The batches that the journal has.
    var kept: JournalKept

    /// - Parameter kept: what of the journal was read already.
    init(
        _ term: JournalTerm, leaderToken: UInt64, written: UInt64, kept: JournalKept = JournalKept(),
        now: UInt64
    ) {
        self.term = term
        self.leaderToken = leaderToken
        self.written = written
        self.kept = kept
        renewedAt = now
    }

    /// Bytes that Redis hasn't got yet.
    var backlog: Int {
        full.reduce(pending.readableBytes) { $0 + $1.readableBytes }
            + (underWay?.append.bytes.readableBytes ?? 0)
            + (interrupted?.append.bytes.readableBytes ?? 0)
    }

    mutating func gathered(_ bytes: ByteBuffer) {
        var bytes = bytes
        if pending.readableBytes == 0 { pending = bytes } else { pending.writeBuffer(&bytes) }
        guard pending.readableBytes >= Self.batchBytesMax else { return }
        full.append(pending)
        beginPending()
    }

    private mutating func beginPending() {
        pending = ByteBuffer()
        pendingNumber += 1
    }

    // MARK: - Sending

    /// The batch that is to be sent now; nil if one is under way, or if there is nothing to write.
    mutating func next(_ limits: JournalLimits, now: UInt64) -> JournalAppend? {
        guard !awaitsRedis else { return nil }
        if underWay == nil, !isWritingCheckpoint {
            if let batch = full.popFirst() {
                let number = pendingNumber - UInt64(full.count) - 1
                begin(batch, .gathered(number), isWhole: true, limits, now: now)
            } else if pending.readableBytes > 0 {
                begin(pending, .gathered(pendingNumber), isWhole: true, limits, now: now)
                beginPending()
            } else if now >= renewedAt + limits.renewal {
                begin(ByteBuffer(), .renewal, isWhole: true, limits, now: now)
            }
        }
        awaitsRedis = underWay != nil
        return underWay?.append
    }

    /// Prolongs the lease now; nil while Redis is asked something else.
    mutating func renew(_ limits: JournalLimits, now: UInt64) -> JournalAppend? {
        guard !awaitsRedis, underWay == nil else { return nil }
        begin(ByteBuffer(), .renewal, isWhole: true, limits, now: now)
        awaitsRedis = true
        return underWay?.append
    }

    /// A page of the checkpoint, which goes before everything that gathers.
    mutating func writeCheckpoint(
        _ page: ByteBuffer, isLast: Bool, _ limits: JournalLimits, now: UInt64
    ) -> JournalAppend? {
        guard isWritingCheckpoint, !awaitsRedis, page.readableBytes > 0 else { return nil }
        begin(page, .checkpoint, isWhole: isLast, limits, now: now)
        awaitsRedis = true
        return underWay?.append
    }

    private mutating func begin(
        _ bytes: ByteBuffer, _ purpose: Purpose, isWhole: Bool, _ limits: JournalLimits, now: UInt64
    ) {
        let number = purpose == .renewal ? written : written + 1
        let append = JournalAppend(
            leaderToken: leaderToken, number: number, bytes: bytes,
            oldestKept: kept.cut(limits, now: now) ?? number, isWhole: isWhole)
        underWay = (append, purpose)
    }

    /// Whether Redis has everything, and nothing is on its way there.
    var isWritten: Bool { underWay == nil && !isWritingCheckpoint && interrupted == nil && backlog == 0 }

    // MARK: - Answers

    enum Written: Equatable {
        /// What waits under this number may leave the node.
        case gathered(UInt64)
        /// A page of the checkpoint.
        case checkpoint(isLast: Bool)
        case renewed
    }

    /// Redis has the batch that was under way.
    mutating func done(now: UInt64) -> Written {
        awaitsRedis = false
        renewedAt = now
        guard let (append, purpose) = underWay.take() else { return .renewed }
        guard purpose != .renewal else { return .renewed }
        written = append.number
        kept.add(written, bytes: append.bytes.readableBytes, now: now)
        guard case .gathered(let number) = purpose else {
            isWritingCheckpoint = !append.isWhole
            return .checkpoint(isLast: append.isWhole)
        }
        return .gathered(number)
    }

    /// There was no answer, so the batch is sent once more: Redis knows it by its number.
    mutating func unanswered() { awaitsRedis = false }

    /// From now on nothing counts that was sent under the leader token before. The next append goes to Redis
    /// at once, because it reports that the journal is whole.
    mutating func reinstated(_ leaderToken: UInt64) {
        self.leaderToken = leaderToken
        awaitsRedis = false
        renewedAt = 0
        renumber()
    }

    /// The journal is empty. The checkpoint is written first, then what was under way.
    mutating func emptied(_ leaderToken: UInt64) {
        written = 0
        kept = JournalKept()
        isWritingCheckpoint = true
        // A page of a checkpoint that was under way is still in memory.
        if let batch = underWay.take(), case .gathered = batch.purpose { interrupted = batch }
        reinstated(leaderToken)
    }

    /// The batch under way follows what Redis has.
    private mutating func renumber() {
        guard let (append, purpose) = underWay else { return }
        let number = purpose == .renewal ? written : written + 1
        let next = JournalAppend(
            leaderToken: leaderToken, number: number, bytes: append.bytes,
            oldestKept: min(append.oldestKept, number),
            isWhole: append.isWhole)
        underWay = (next, purpose)
    }

    /// The whole checkpoint is written: what was interrupted is sent next.
    mutating func checkpointWritten() {
        isWritingCheckpoint = false
        guard let batch = interrupted.take() else { return }
        underWay = batch
        renumber()
    }
}

/// The batches that the journal has, the oldest first.
struct JournalKept {
    private var batches = Deque<(number: UInt64, bytes: Int, time: UInt64)>()
    private var bytes = 0

    mutating func add(_ number: UInt64, bytes: Int, now: UInt64) {
        batches.append((number, bytes, now))
        self.bytes += bytes
    }

    /// Forgets what the journal needn't keep.
    ///
    /// - Returns: the oldest batch that stays; nil if none does.
    mutating func cut(_ limits: JournalLimits, now: UInt64) -> UInt64? {
        while let first = batches.first, first.time + limits.retention < now || bytes > limits.bytesMax {
            bytes -= first.bytes
            batches.removeFirst()
        }
        return batches.first?.number
    }
}
