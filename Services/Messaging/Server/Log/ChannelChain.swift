import NIOCore
import RTMModel
import RTMWire

/// The entries of one channel among all of its partition: everything its subscribers can see, in one order
/// (architecture.md, idea 1).
///
/// An entry gets the next offset of its partition and a time greater than every earlier one of the channel
/// (M-24). It is encoded at that moment, once and straight into the tail: subscribers receive
/// copies of those bytes. Each entry points back to the one before it in the channel, so a reader is led
/// from the newest entry to its position. A position behind which an entry is gone that the reader wants
/// can't be continued, and neither can a position of another epoch; both are reported as a gap and never
/// passed over.
struct ChannelChain {
    /// The offset of the newest entry; before the first one, the partition's head when the channel began.
    private(set) var head: UInt64
    /// The time of the newest entry, or the one before the first.
    private(set) var lastTime: LogTime
    /// The newest entry, also when the tail no longer holds it.
    private(set) var newest = EntryPlace.none
    /// Up to this offset it is unknown which entries there were: the channel was forgotten.
    private(set) var unknownUntil: UInt64 = 0
    private var publishers = PublisherMarks()
    private(set) var lost = LostEntries()
    private var newestOffsets = FeatureOffsets()
    /// The timestamp of the newest entry that the tail no longer holds.
    private var forgottenTimestamp: UInt64?

    /// What is kept of a channel without entries.
    struct Remains {
        let partition: UInt16
        let head: UInt64
        let lastTimestamp: UInt64
        fileprivate let hadEntries: Bool
        fileprivate let unknownUntil: UInt64
        fileprivate let lost: LostEntries

        /// As that of the channel.
        var newestMessage: UInt64 { max(unknownUntil, lost.newestOffset(of: .message)) }
    }

    /// A channel that was forgotten and is used again.
    init(resuming remains: Remains, now: UInt64) {
        head = remains.head
        lastTime = .end(ofMillisecond: max(remains.lastTimestamp, now))
        forgottenTimestamp = remains.hadEntries ? remains.lastTimestamp : nil
        unknownUntil = remains.unknownUntil
        lost = remains.lost
    }

    /// - Parameters:
    ///   - head: the offset of the partition's newest entry.
    ///   - forgotten: what the channel may have had in an earlier life.
    init(head: UInt64, forgotten: ForgottenChannels.Dropped?, now: UInt64) {
        self.head = head
        lastTime = .end(ofMillisecond: max(now, forgotten?.timestamp ?? 0))
        forgottenTimestamp = forgotten?.timestamp
        unknownUntil = forgotten?.head ?? 0
    }

    /// A channel of which a journal knows what came behind an offset.
    ///
    /// - Parameters:
    ///   - head: up to it nothing is known but the time until which there may have been entries.
    ///   - timestamp: no entry before the head is younger.
    ///   - hadEntries: whether there may have been any.
    init(unknownUntil head: UInt64, timestamp: UInt64, hadEntries: Bool = true) {
        self.head = head
        lastTime = .end(ofMillisecond: timestamp)
        forgottenTimestamp = hadEntries && head > 0 ? timestamp : nil
        unknownUntil = hadEntries ? head : 0
    }

    /// The timestamp of the newest entry, or when the channel began; in milliseconds.
    var lastTimestamp: UInt64 { lastTime.milliseconds }

    /// Whether it has ever had an entry that somebody may have missed.
    var hasHadEntries: Bool { newest != .none || forgottenTimestamp != nil }

    func remains(in partition: UInt16) -> Remains {
        Remains(
            partition: partition, head: head, lastTimestamp: lastTimestamp, hadEntries: hasHadEntries,
            unknownUntil: unknownUntil, lost: lost)
    }
}

// MARK: - Appending

extension ChannelChain {
    /// Whether these messages follow everything that their client has in the channel. If so, they count as
    /// appended from now on, so the caller has to append them.
    ///
    /// - Parameter oldest: the earliest time at which an entry of the tail was appended.
    mutating func admits(_ origin: EntryOrigin, count: Int, oldest: UInt64, now: UInt64) -> Bool {
        publishers.admits(origin, count: count, oldest: oldest, now: now)
    }

    /// Remembers that the messages that were admitted last are the newest entries.
    @inline(__always)
    mutating func notePlace(of origin: EntryOrigin) {
        if origin.client != 0 { publishers.notePlace(newest) }
    }

    @inline(__always)
    mutating func appended(
        _ offset: UInt64, _ time: LogTime, _ feature: SubscriptionFeatures, at place: EntryPlace
    ) {
        newestOffsets.set(offset, of: feature)
        head = offset
        lastTime = time
        newest = place
    }

    /// The features of the entries behind an offset, as far as they are known, whether the tail has them
    /// still or not.
    func features(after offset: UInt64) -> SubscriptionFeatures {
        lost.features(after: offset, except: 0).union(newestOffsets.features(after: offset))
    }

    /// The newest entry that a reader may miss; 0 if there is none.
    var newestLost: UInt64 { max(unknownUntil, lost.newestOffset) }

    /// The offset of the newest message, events aside; 0 if there never was one. What is unknown counts as
    /// messages, so it is never too small.
    var newestMessage: UInt64 {
        max(unknownUntil, lost.newestOffset(of: .message), newestOffsets.message)
    }

    /// The tail has given up an entry of the channel.
    mutating func gaveUp(_ entry: EntryRecord) {
        lost.add(entry.offset, entry.feature, of: entry.owner)
        forgottenTimestamp = entry.timestamp
    }

    /// Forgets publishers none of whose messages can be late. Called when the channel has no entries.
    mutating func forgetPublishers(now: UInt64) {
        if lastTimestamp + PublisherMarks.lateMax < now { publishers = PublisherMarks() }
    }
}

// MARK: - What was published before

extension ChannelChain {
    /// Who published an entry of the channel, with the whole sequence number. The entry has the lower half of
    /// it, and the newest one of its client, which is remembered whole, is at most four billion above.
    func origin(of entry: EntryRecord) -> EntryOrigin {
        var sequence = UInt64(entry.sequence)
        if let newest = publishers[entry.client]?.sequence, newest >= sequence {
            sequence = newest - UInt64(UInt32(truncatingIfNeeded: newest) &- entry.sequence)
        }
        return EntryOrigin(user: entry.user, client: entry.client, sequence: sequence)
    }

    /// The sequence of the newest message of a client; `nil` if it isn't remembered.
    func lastSequence(of client: UInt64) -> UInt64? { publishers[client]?.sequence }

    /// What the channel knows of a publish that its client sends once more.
    enum Memory {
        /// The message is here.
        case published(LogEntry)
        /// The message isn't here, and the tail reaches back to the time when it was first sent.
        case new
        /// The tail doesn't reach back to the time when the message was first sent.
        case unknown
    }

    /// How much longer the second transfer from the client to the log may take than the first, in
    /// milliseconds. The message may have been appended that much earlier than its age says.
    private static let transitMax: UInt64 = 10_000

    /// Limit: entries that are looked at for one repeated message. Whether a message is in the log that is
    /// followed by the newest one of its client, and is so many entries of the channel older, is unknown.
    private static let stepsMax = 8_192

    /// Whether what was first sent `age` milliseconds ago may have been appended before this time was over.
    static func mayBe(from age: UInt64, before timestamp: UInt64, now: UInt64) -> Bool {
        timestamp + age + transitMax >= now
    }

    /// Looks for a message that was first sent `age` milliseconds ago. A client without a mark has nothing in
    /// the tail, and one with a mark nothing behind its newest message.
    func memory(of origin: EntryOrigin, age: UInt64, in tail: EntryTail, now: UInt64) -> Memory {
        if let known = publishers[origin.client] {
            if known.sequence < origin.sequence { return .new }
            switch search(for: origin, from: known.place, in: tail) {
            case .found(let place): return .published(tail.entry(at: place))
            case .tooFar: return .unknown
            case .absent: break
            }
        }
        guard let forgottenTimestamp, Self.mayBe(from: age, before: forgottenTimestamp, now: now) else {
            return .new
        }
        return .unknown
    }
}

extension ChannelChain {
    private enum Search {
        case found(EntryPlace)
        case absent
        /// So many newer entries are in the tail that no more are looked at.
        case tooFar
    }

    /// Goes from a place to the oldest entry.
    private func search(for origin: EntryOrigin, from place: EntryPlace, in tail: EntryTail) -> Search {
        let sequence = UInt32(truncatingIfNeeded: origin.sequence)
        var place = place
        for _ in 0..<Self.stepsMax {
            guard tail.holds(place) else { return .absent }
            let entry = tail.record(at: place)
            if entry.client == origin.client, entry.sequence == sequence { return .found(place) }
            place = entry.previous
        }
        return tail.holds(place) ? .tooFar : .absent
    }
}

/// For each feature that an entry can have: the offset of a channel's newest entry that has it.
private struct FeatureOffsets {
    fileprivate private(set) var message: UInt64 = 0
    private var presence: UInt64 = 0
    private var metadata: UInt64 = 0
    private var lock: UInt64 = 0

    @inline(__always)
    mutating func set(_ offset: UInt64, of feature: SubscriptionFeatures) {
        switch feature {
        case .presence: presence = offset
        case .metadata: metadata = offset
        case .lock: lock = offset
        default: message = offset
        }
    }

    /// The features of the entries behind an offset.
    func features(after offset: UInt64) -> SubscriptionFeatures {
        var features: SubscriptionFeatures = []
        if message > offset { features.insert(.message) }
        if presence > offset { features.insert(.presence) }
        if metadata > offset { features.insert(.metadata) }
        if lock > offset { features.insert(.lock) }
        return features
    }
}
