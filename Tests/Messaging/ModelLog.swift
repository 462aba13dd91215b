import NIOCore
import RTMModel
import Testing

@testable import RTMMessagingServer

/// A log of the model keeps everything for ever.
struct ModelLog {
    private struct Entry {
        let timestamp: UInt64
        /// Who doesn't see the entry; "everybody" for nobody.
        let publisher: String
        let feature: SubscriptionFeatures
        let size: Int
    }

    /// Nil until a position names it.
    var epoch: UInt64?
    /// When the log began, got its newest entry, or lost a reader.
    private(set) var touched: UInt64
    private var entries: [Entry] = []
    /// By the sequence of their publish.
    private var offsets: [UInt64: UInt64] = [:]

    init(touched: UInt64) { self.touched = touched }

    mutating func left(_ now: UInt64) { touched = max(touched, now) }

    var head: UInt64 { UInt64(entries.count) }

    mutating func append(
        _ appended: ChannelLog.Appended, by publisher: String, sequence: UInt64? = nil
    ) {
        var frames = appended.frames
        for place in 0..<UInt64(appended.count) {
            let timestamp = appended.timestamp + place
            #expect(timestamp > entries.last?.timestamp ?? 0, "M-24")
            let length = frames.getInteger(at: frames.readerIndex, as: UInt32.self).map { Int($0) + 4 } ?? 0
            let frame = frames.readSlice(length: length)
            #expect(frame != nil, "the frames are as many as the entries")
            entries.append(
                Entry(
                    timestamp: timestamp, publisher: publisher, feature: appended.feature, size: length))
            if let sequence { offsets[sequence + place] = head }
            touched = timestamp
        }
        #expect(frames.readableBytes == 0)
    }

    func has(_ entry: ChannelLog.Entry) -> Bool {
        guard entry.offset > 0, entry.offset <= head else { return false }
        let mine = entries[Int(entry.offset) - 1]
        return mine.timestamp == entry.timestamp && mine.size == entry.frame.readableBytes
    }

    func offset(ofSequence sequence: UInt64) -> UInt64? { offsets[sequence] }

    func timestamp(at offset: UInt64) -> UInt64 { entries[Int(offset) - 1].timestamp }

    /// The entries behind an offset that a reader wants to see.
    func offsets(
        after offset: UInt64, except publisher: String, _ features: SubscriptionFeatures = .all
    ) -> [UInt64] {
        entries.indices.dropFirst(Int(offset))
            .filter { publisher.isEmpty || entries[$0].publisher != publisher }
            .filter { features.contains(entries[$0].feature) }
            .map { UInt64($0) + 1 }
    }

    /// Whether the log may have lost something behind the position that the reader wants to see.
    func mayMiss(
        after position: StreamPosition, except publisher: String, _ features: SubscriptionFeatures,
        _ bounds: Bounds
    ) -> Bool {
        guard position.epoch == epoch, position.offset <= head else { return true }
        let mayBeLost = mayBeLost(bounds)
        return offsets(after: position.offset, except: publisher, features).contains { $0 <= mayBeLost }
    }

    /// Up to this offset the tail may have lost its entries.
    private func mayBeLost(_ bounds: Bounds) -> UInt64 {
        var (offset, bytes) = (head, 0)
        for entry in entries.reversed() {
            bytes += entry.size
            let count = Int(head - offset) + 1
            guard count <= bounds.retention.entriesMax, bytes <= bounds.retention.bytesMax,
                bounds.holds(entry.timestamp)
            else { return offset }
            offset -= 1
        }
        return 0
    }

    func mustKeep(after offset: UInt64, _ bounds: Bounds) -> Bool {
        let missed = entries.dropFirst(Int(offset))
        return missed.count <= bounds.retention.entriesMax
            && missed.reduce(0) { $0 + $1.size } <= bounds.retention.bytesMax
            && missed.allSatisfy { bounds.holds($0.timestamp) }
    }

    func mustKeepNewest(_ bounds: Bounds) -> Bool {
        guard let newest = entries.last else { return false }
        return newest.size <= bounds.retention.bytesMax && bounds.retention.entriesMax > 0
            && bounds.holds(newest.timestamp)
    }

    /// What a tail may have lost.
    struct Bounds {
        let retention: ChannelLog.Retention
        /// The latest time that the broker was ever told.
        let latest: UInt64
        /// The timestamp of the newest entry of the app that went for want of room.
        let newestGiven: UInt64

        func holds(_ timestamp: UInt64) -> Bool {
            timestamp + retention.ageMax >= latest && timestamp > newestGiven
        }
    }
}
