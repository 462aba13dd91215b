import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMMessagingServer

/// The entries of a channel, as the model keeps them: for ever.
struct ModelLog {
    private struct Entry {
        let offset: UInt64
        let logTime: LogTime
        /// When it was appended.
        let time: UInt64
        /// Who doesn't see the entry; "everybody" for nobody.
        let publisher: String
        let feature: SubscriptionFeatures
        let size: Int
    }

    /// Nil until a position names it.
    var epoch: UInt64?
    /// When the channel began, got its newest entry, or lost a reader.
    private(set) var touched: UInt64
    private var entries: [Entry] = []
    /// By the sequence of their publish.
    private var offsets: [UInt64: UInt64] = [:]

    init(touched: UInt64) { self.touched = touched }

    mutating func left(_ now: UInt64) { touched = max(touched, now) }

    /// The offset of the newest entry; 0 before the first.
    var head: UInt64 { entries.last?.offset ?? 0 }

    mutating func append(
        _ appended: AppendedEntries, _ frames: ByteBuffer, by publisher: String, sequence: UInt64? = nil,
        now: UInt64
    ) {
        var frames = frames
        #expect(
            appended.offset - 1 - appended.offsetsBetween >= head, "an entry lies between that isn't named")
        for place in 0..<UInt64(appended.count) {
            let logTime = appended.time.following(by: place)
            #expect(logTime > entries.last?.logTime ?? LogTime(number: 0), "M-24")
            let length = frames.getInteger(at: frames.readerIndex, as: UInt32.self).map { Int($0) + 4 } ?? 0
            let frame = frames.readSlice(length: length)
            #expect(frame != nil, "the frames are as many as the entries")
            entries.append(
                Entry(
                    offset: appended.offset + place, logTime: logTime, time: now, publisher: publisher,
                    feature: appended.feature, size: length))
            if let sequence { offsets[sequence + place] = head }
            touched = logTime.milliseconds
        }
        #expect(frames.readableBytes == 0)
    }

    func has(_ entry: LogEntry) -> Bool {
        entries.contains {
            $0.offset == entry.offset && $0.logTime == entry.time
                && $0.size == entry.frame.readableBytes
        }
    }

    func offset(ofSequence sequence: UInt64) -> UInt64? { offsets[sequence] }

    func time(at offset: UInt64) -> LogTime? { entries.last { $0.offset == offset }?.logTime }

    /// The entries behind an offset that a reader wants to see.
    func offsets(
        after offset: UInt64, except publisher: String = "", _ features: SubscriptionFeatures = .all
    ) -> [UInt64] {
        wanted(after: offset, except: publisher, features).map(\.offset)
    }

    private func wanted(
        after offset: UInt64, except publisher: String, _ features: SubscriptionFeatures
    ) -> [Entry] {
        entries.filter {
            $0.offset > offset && features.contains($0.feature)
                && (publisher.isEmpty || $0.publisher != publisher
                    || $0.feature == .message && features.contains(.ownMessages))
        }
    }

    /// Whether something behind the position may be lost, or too much, that the reader wants to see.
    func mayMiss(
        after position: StreamPosition, except publisher: String, _ features: SubscriptionFeatures,
        _ bounds: Bounds
    ) -> Bool {
        guard position.epoch == epoch, position.offset <= bounds.partitionHead else { return true }
        if position.offset < bounds.unknownUntil { return true }
        let wanted = wanted(after: position.offset, except: publisher, features)
        return wanted.count > bounds.countMax || wanted.reduce(0) { $0 + $1.size } > bounds.bytesMax
            || wanted.contains { !bounds.holds($0.time) }
    }

    /// Whether a reader behind this offset must get every entry.
    func mustGet(after offset: UInt64, _ bounds: Bounds) -> Bool {
        let missed = entries.filter { $0.offset > offset }
        return missed.count <= bounds.countMax && missed.reduce(0) { $0 + $1.size } <= bounds.bytesMax
            && missed.allSatisfy { bounds.holds($0.time) }
    }

    /// The newest entry up to an offset must have been given to a reader who stood before it.
    func mustGet(upTo offset: UInt64, _ bounds: Bounds) -> Bool {
        guard let last = entries.last(where: { $0.offset <= offset }) else { return false }
        return mustGet(after: last.offset - 1, bounds)
    }

    func mustKeepNewest(_ bounds: Bounds) -> Bool { entries.last.map { bounds.holds($0.time) } ?? false }

    /// What a tail may have lost, and what a reader may be refused.
    struct Bounds {
        let countMax: Int
        let bytesMax: Int
        let ageMax: UInt64
        /// The latest time that the broker was ever told.
        let latest: UInt64
        /// When the newest entry of the app came that went for want of room.
        let newestGiven: UInt64
        let partitionHead: UInt64
        /// Up to this offset channels of the partition were forgotten, and even their numbers may be.
        let unknownUntil: UInt64

        func holds(_ time: UInt64) -> Bool { time + ageMax >= latest && time > newestGiven }
    }
}
