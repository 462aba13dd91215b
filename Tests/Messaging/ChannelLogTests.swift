import NIOCore
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMMessagingServer

@Suite("A channel's log")
struct ChannelLogTests {
    private static let roomy = ChannelLog.Retention(entriesMax: 1000, bytesMax: 1 << 20, ageMax: 1 << 40)

    // MARK: Appending

    @Test("entries get the offsets 1, 2, 3 …, and the head follows")
    func offsets() {
        var log = ChannelLog(epoch: 7, now: 100)
        #expect(log.position == StreamPosition(epoch: 7, offset: 0))
        for offset in 1...5 as ClosedRange<UInt64> {
            #expect(log.append(now: 100 + offset).offset == offset)
            #expect(log.position == StreamPosition(epoch: 7, offset: offset))
        }
    }

    @Test(
        "an entry is encoded once, for the offset and the timestamp that it got, and keeps what it was given")
    func encoding() {
        var log = ChannelLog(epoch: 1, now: 0)
        var calls: [(UInt64, UInt64)] = []
        let entry = log.append(
            publisher: "anna", session: 9, feature: .metadata, retention: Self.roomy, now: 50
        ) { offset, timestamp in
            calls.append((offset, timestamp))
            return ByteBuffer(string: "frame")
        }
        #expect(calls.map(\.0) == [1])
        #expect(calls.map(\.1) == [entry.timestamp])
        #expect(entry.publisher == "anna" && entry.publisherSession == 9 && entry.feature == .metadata)
        #expect(entry.frame == ByteBuffer(string: "frame"))
    }

    @Test("M-24: timestamps follow the clock, and increase strictly when it stands still or goes back")
    func timestamps() {
        var log = ChannelLog(epoch: 1, now: 1000)
        let clock: [UInt64] = [2000, 2000, 2000, 1500, 0, 2003, 2010, 2009, 5000]
        let stamps = clock.map { log.append(now: $0).timestamp }
        #expect(stamps == [2000, 2001, 2002, 2003, 2004, 2005, 2010, 2011, 5000])
    }

    @Test("M-24: a log that begins anew doesn't stamp its entries before its own beginning")
    func firstTimestamp() {
        var log = ChannelLog(epoch: 1, now: 1000)
        #expect(log.append(now: 900).timestamp > 1000)
    }

    // MARK: The tail

    @Test("by count: the newest entries stay")
    func count() {
        var log = ChannelLog(epoch: 1, now: 0)
        for now in 1...10 as ClosedRange<UInt64> { log.append(now: now, entriesMax: 3) }
        #expect(log.tail.map(\.offset) == [8, 9, 10])
        #expect(log.head == 10)
    }

    @Test("by bytes: as many of the newest entries stay as fit, and the sum is right")
    func bytes() {
        var log = ChannelLog(epoch: 1, now: 0)
        for now in 1...10 as ClosedRange<UInt64> { log.append(now: now, size: 10, bytesMax: 35) }
        #expect(log.tail.map(\.offset) == [8, 9, 10])
        #expect(log.tailBytes == 30)
        log.append(now: 11, size: 30, bytesMax: 35)
        #expect(log.tail.map(\.offset) == [11])
        #expect(log.tailBytes == 30)
    }

    @Test("an entry larger than the whole tail may be is delivered, but not kept")
    func tooLarge() {
        var log = ChannelLog(epoch: 1, now: 0)
        #expect(log.append(now: 1, size: 100, bytesMax: 35).frame.readableBytes == 100)
        #expect(log.tail.isEmpty && log.tailBytes == 0 && log.head == 1)
        #expect(log.entries(after: StreamPosition(epoch: 1, offset: 0)) == nil)
        #expect(log.entries(after: log.position)?.count == 0)
    }

    @Test("by age: an entry stays for the time given and not a millisecond longer")
    func age() {
        var log = ChannelLog(epoch: 1, now: 0)
        for now in [100, 200, 300] as [UInt64] { log.append(now: now) }
        let retention = ChannelLog.Retention(entriesMax: 10, bytesMax: 1000, ageMax: 50)
        log.trim(to: retention, now: 150)
        #expect(log.tail.map(\.offset) == [1, 2, 3])
        log.trim(to: retention, now: 151)
        #expect(log.tail.map(\.offset) == [2, 3])
        log.trim(to: retention, now: 10_000)
        #expect(log.tail.isEmpty && log.tailBytes == 0)
        #expect(log.position.offset == 3)
    }

    @Test("a clock that goes back trims nothing")
    func clockGoesBack() {
        var log = ChannelLog(epoch: 1, now: 1000)
        log.append(now: 1001)
        log.trim(to: ChannelLog.Retention(entriesMax: 10, bytesMax: 1000, ageMax: 5), now: 0)
        #expect(log.tail.count == 1)
    }

    // MARK: Continuing

    @Test("from every position either exactly what follows it, or nothing at all")
    func everyPosition() {
        var log = ChannelLog(epoch: 3, now: 0)
        for now in 1...20 as ClosedRange<UInt64> { log.append(now: now, entriesMax: 6) }
        for offset in 0...25 as ClosedRange<UInt64> {
            let entries = log.entries(after: StreamPosition(epoch: 3, offset: offset))?.map(\.offset)
            if offset < 14 || offset > 20 {
                #expect(entries == nil, "after \(offset)")
            } else {
                #expect(entries == Array((1...20).dropFirst(Int(offset))), "after \(offset)")
            }
            #expect(log.entries(after: StreamPosition(epoch: 4, offset: offset)) == nil)
        }
        #expect(log.entries(after: StreamPosition(epoch: 3, offset: .max)) == nil)
    }

    @Test("random logs: offsets without holes, timestamps without ties, bounds kept, every position right")
    func random() {
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let retention = ChannelLog.Retention(
                entriesMax: .random(in: 0...20, using: &random),
                bytesMax: .random(in: 0...300, using: &random), ageMax: .random(in: 0...100, using: &random))
            var log = ChannelLog(epoch: seed, now: 1000)
            var now: UInt64 = 1000
            var stamps: [UInt64] = []
            for _ in 0..<100 {
                now = now &+ .random(in: 0...20, using: &random) &- (random.chance(1, in: 10) ? 30 : 0)
                if random.chance(1, in: 5) { log.trim(to: retention, now: now) }
                let size = Int.random(in: 0...40, using: &random)
                let entry = log.append(
                    publisher: "p", session: 0, feature: .message, retention: retention, now: now
                ) { _, _ in ByteBuffer(repeating: 1, count: size) }
                stamps.append(entry.timestamp)
                check(log, within: retention, "seed \(seed)")
            }
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
        }
    }

    private func check(_ log: ChannelLog, within retention: ChannelLog.Retention, _ what: String) {
        #expect(log.tail.count <= retention.entriesMax, "\(what)")
        #expect(log.tailBytes <= retention.bytesMax, "\(what)")
        #expect(log.tailBytes == log.tail.reduce(0) { $0 + $1.frame.readableBytes }, "\(what)")
        let oldest = log.head - UInt64(log.tail.count)
        for offset in (oldest &- min(oldest, 2))...log.head + 1 {
            let entries = log.entries(after: StreamPosition(epoch: log.epoch, offset: offset))
            let expected =
                offset < oldest || offset > log.head ? nil : Array(offset..<log.head).map { $0 + 1 }
            #expect(entries?.map(\.offset) == expected, "\(what), after \(offset)")
        }
    }
}

extension ChannelLog {
    @discardableResult
    fileprivate mutating func append(
        now: UInt64, size: Int = 1, entriesMax: Int = 1000, bytesMax: Int = 1 << 20
    ) -> Entry {
        let retention = Retention(entriesMax: entriesMax, bytesMax: bytesMax, ageMax: 1 << 40)
        return append(publisher: "p", session: 0, feature: .message, retention: retention, now: now) { _, _ in
            ByteBuffer(repeating: 0, count: size)
        }
    }
}
