import NIOCore
import RTMModel
import RTMWire

/// The apps of a node: the tail of each, and how much memory all tails take together.
///
/// The app that holds most loses its oldest entries first. So an app that holds no more than an equal
/// share never loses an entry to another app, and what other apps don't need is open to every app.
///
/// Pure: apps are known by their numbers.
struct AppTable {
    /// What is known of an app beside its channels.
    struct Record {
        /// Channels without inboxes.
        var openCount = 0
        fileprivate(set) var tail: EntryTail
        var forgotten: ForgottenChannels
        /// When the newest entry came that was dropped for want of memory; 0 before the first.
        fileprivate(set) var newestGiven: UInt64 = 0
        /// The newest entry that was given up; nil before the first. No entry that came when the shard had
        /// had more than this many entries is lost.
        var given: EntryIdentity?
        var lostSequence: UInt64 = 0
        /// The newest entry that was there when the leader's term began; `.none` if there was none.
        fileprivate(set) var beforeTerm = EntryPlace.none
        /// How far the feed was read; nil if nobody reads it.
        var fed: Fed?
        /// The memory of the tail, as far as it is counted in the sum.
        fileprivate var bytes = 0
    }

    struct Fed {
        /// The newest entry that was read; nil if there was none.
        let entry: EntryIdentity?
        /// Its place in the tail; `.none` if the tail doesn't have it.
        let place: EntryPlace
        /// When somebody asked last, in milliseconds.
        var at: UInt64
    }

    private let limits: BrokerLimits
    /// What channels of any app may have had before this node knew of them.
    var unknown: [UInt16: ForgottenChannels.Dropped] = [:]
    private var numbers: [String: Int] = [:]
    private var records = ContiguousArray<Record>()
    /// The memory of all tails, in bytes.
    private(set) var bytes = 0

    init(limits: BrokerLimits) { self.limits = limits }

    var indices: Range<Int> { records.indices }
    var isExceeded: Bool { bytes > limits.tailBytesMax }
    var forgottenCount: Int { records.reduce(0) { $0 + $1.forgotten.count } }

    func number(of id: String) -> Int? { numbers[id] }

    subscript(app: Int) -> Record {
        get { records[app] }
        _modify { yield &records[app] }
    }

    /// The number of the app, which is new or known.
    mutating func occupy(_ id: String) -> Int {
        if let number = numbers[id] { return number }
        records.append(
            Record(
                tail: EntryTail(segmentBytes: limits.segmentBytes),
                forgotten: ForgottenChannels(countMax: limits.forgottenPerAppMax, dropped: unknown)))
        numbers[id] = records.count - 1
        return records.count - 1
    }

    /// Appends entries to the tail of an app, as `EntryTail.append` does.
    mutating func append(
        _ entries: NewEntries, of app: Int, to chain: inout ChannelChain, head: inout UInt64,
        encode: (_ offset: UInt64, _ time: LogTime, _ frames: inout ByteBuffer) -> Void
    ) -> AppendedEntries {
        var appended = records[app].tail.append(entries, to: &chain, head: &head, encode: encode)
        appended.app = app
        account(for: app)
        return appended
    }

    /// Changes a tail, and keeps account of what it holds.
    mutating func changeTail<Result>(of app: Int, _ body: (inout EntryTail) -> Result) -> Result {
        let result = body(&records[app].tail)
        account(for: app)
        return result
    }

    private mutating func account(for app: Int) {
        let held = records[app].tail.bytesHeld
        bytes += held - records[app].bytes
        records[app].bytes = held
    }

    /// The app that holds most loses its oldest segment. If it has only the one that takes appends, it
    /// loses that one, with its memory.
    ///
    /// - Returns: the records of the entries that are gone; nil if nothing more can go.
    mutating func giveUp() -> ContiguousArray<EntryRecord>? {
        guard let app = records.indices.max(by: { records[$0].bytes < records[$1].bytes }) else { return nil }
        let before = bytes
        let isBusy = records[app].tail.firstSegmentEnd != nil
        if !isBusy { records[app].tail.close() }
        let newest = records[app].tail.firstSegmentEnd ?? 0
        let gone = changeTail(of: app) { tail in
            let gone = tail.removeFirst() ?? []
            if !isBusy { tail.release() }
            return gone
        }
        guard bytes < before else { return nil }
        records[app].newestGiven = max(records[app].newestGiven, newest)
        return gone
    }

    /// A term begins. What the tails have by now was there before it: a feed that is read from a position of
    /// an earlier term passes over it.
    mutating func beginTerm() {
        for app in records.indices { records[app].beforeTerm = records[app].tail.newestPlace }
    }

    /// When the oldest entry of an app was appended; nil if it has none.
    func oldestTime(of app: Int) -> UInt64? { records[app].tail.oldestTime }

    /// The frames of entries that were appended together.
    func frames(of entries: AppendedEntries) -> ByteBuffer { records[entries.app].tail.frames(of: entries) }

    /// How far back every tail reaches at least, in milliseconds.
    func window(now: UInt64) -> UInt64 {
        window(records.lazy.map(\.newestGiven).max() ?? 0, now: now)
    }

    /// How far back the tail of an app reaches.
    func window(of id: String, now: UInt64) -> UInt64 {
        window(numbers[id].map { records[$0].newestGiven } ?? 0, now: now)
    }

    private func window(_ newestGiven: UInt64, now: UInt64) -> UInt64 {
        guard newestGiven > 0 else { return limits.ageMax }
        return min(limits.ageMax, now > newestGiven ? now - newestGiven : 0)
    }
}
