import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("A channel's log")
struct ChannelLogTests {
    // MARK: Appending

    @Test("M-36: a tail that was long gives back the room of what it forgot, and counts it until then")
    func roomOfHeads() {
        var log = ChannelLog(epoch: 1, now: 0)
        for now in 1...1_000 as ClosedRange<UInt64> {
            _ = log.append(session: 1, feature: .message, now: now) { _, _, frames in
                frames.writeInteger(UInt8(1))
            }
            log.trim(to: .init(entriesMax: 1_000, bytesMax: 1 << 20, ageMax: 100_000), now: now)
        }
        let full = log.bytesHeld
        log.trim(to: .init(entriesMax: 300, bytesMax: 1 << 20, ageMax: 100_000), now: 1_000)
        #expect(log.bytesHeld == full)
        log.trim(to: .init(entriesMax: 10, bytesMax: 1 << 20, ageMax: 100_000), now: 1_000)
        #expect(log.tailCount == 10 && log.bytesHeld < full / 8)
        log.trim(to: .init(entriesMax: 0, bytesMax: 1 << 20, ageMax: 100_000), now: 1_000)
        #expect(log.bytesHeld == 0)
    }

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
    func encoding() throws {
        var log = ChannelLog(epoch: 1, now: 0)
        var calls: [(UInt64, UInt64)] = []
        let appended = log.append(.messages(sizes: [5]), session: 9, feature: .metadata, now: 50) {
            message, offset, timestamp, frames in
            calls.append((offset, timestamp))
            frames.writeString("frame \(message.payload.bytes.count)")
        }
        #expect(calls.map(\.0) == [1] && calls.map(\.1) == [50])
        #expect(appended.frames == ByteBuffer(string: "frame 5"))
        let entry = try #require(log.kept.first)
        #expect(entry.offset == 1 && entry.timestamp == 50)
        #expect(entry.publisherSession == 9 && entry.feature == .metadata)
        #expect(entry.frame == ByteBuffer(string: "frame 5"))
    }

    @Test("messages appended together have consecutive offsets and timestamps, and their frames in a row")
    func together() {
        var log = ChannelLog(epoch: 1, now: 100)
        log.append(now: 200)
        let appended = log.append(.messages(sizes: [1, 2, 3]), session: 4, feature: .message, now: 150) {
            message, offset, timestamp, frames in
            frames.writeString("\(message.payload.bytes.count):\(offset):\(timestamp) ")
        }
        #expect(appended.offset == 2 && appended.timestamp == 201 && appended.count == 3)
        #expect(appended.frames == ByteBuffer(string: "1:2:201 2:3:202 3:4:203 "))
        #expect(log.kept.map(\.offset) == [1, 2, 3, 4])
        #expect(
            log.kept.dropFirst().map { String(buffer: $0.frame) } == ["1:2:201 ", "2:3:202 ", "3:4:203 "])
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
        #expect(log.kept.map(\.offset) == [8, 9, 10])
        #expect(log.head == 10)
    }

    @Test("by bytes: as many of the newest entries stay as fit, and the sum is right")
    func bytes() {
        var log = ChannelLog(epoch: 1, now: 0)
        for now in 1...10 as ClosedRange<UInt64> { log.append(now: now, size: 10, bytesMax: 35) }
        #expect(log.kept.map(\.offset) == [8, 9, 10])
        #expect(log.tailBytes == 30)
        log.append(now: 11, size: 30, bytesMax: 35)
        #expect(log.kept.map(\.offset) == [11])
        #expect(log.tailBytes == 30)
    }

    @Test("an entry larger than the whole tail may be is delivered, but not kept")
    func tooLarge() {
        var log = ChannelLog(epoch: 1, now: 0)
        #expect(log.append(now: 1, size: 100, bytesMax: 35).frames.readableBytes == 100)
        #expect(log.tailCount == 0 && log.tailBytes == 0 && log.head == 1)
        #expect(log.entries(after: StreamPosition(epoch: 1, offset: 0)) == nil)
        #expect(log.entries(after: log.position).map(Array.init)?.isEmpty == true)
    }

    @Test("by age: an entry stays for the time given and not a millisecond longer")
    func age() {
        var log = ChannelLog(epoch: 1, now: 0)
        for now in [100, 200, 300] as [UInt64] { log.append(now: now) }
        let retention = ChannelLog.Retention(entriesMax: 10, bytesMax: 1000, ageMax: 50)
        log.trim(to: retention, now: 150)
        #expect(log.kept.map(\.offset) == [1, 2, 3])
        log.trim(to: retention, now: 151)
        #expect(log.kept.map(\.offset) == [2, 3])
        log.trim(to: retention, now: 10_000)
        #expect(log.tailCount == 0 && log.tailBytes == 0)
        #expect(log.position.offset == 3)
    }

    @Test("a clock that goes back trims nothing")
    func clockGoesBack() {
        var log = ChannelLog(epoch: 1, now: 1000)
        log.append(now: 1001)
        log.trim(to: ChannelLog.Retention(entriesMax: 10, bytesMax: 1000, ageMax: 5), now: 0)
        #expect(log.tailCount == 1)
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
                let sizes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Int.random(in: 1...40, using: &random)
                }
                let appended = log.append(sizes: sizes, retention: retention, now: now)
                #expect(appended.count == sizes.count)
                #expect(appended.frames.readableBytes == sizes.reduce(0, +))
                stamps += (0..<UInt64(sizes.count)).map { appended.timestamp + $0 }
                check(log, within: retention, "seed \(seed)")
            }
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
        }
    }

    private func check(_ log: ChannelLog, within retention: ChannelLog.Retention, _ what: String) {
        #expect(log.tailCount <= retention.entriesMax, "\(what)")
        #expect(log.tailBytes <= retention.bytesMax, "\(what)")
        #expect(log.tailBytes == log.kept.reduce(0) { $0 + $1.frame.readableBytes }, "\(what)")
        let oldest = log.head - UInt64(log.tailCount)
        for offset in (oldest &- min(oldest, 2))...log.head + 1 {
            let entries = log.entries(after: StreamPosition(epoch: log.epoch, offset: offset))
            let expected =
                offset < oldest || offset > log.head ? nil : Array(offset..<log.head).map { $0 + 1 }
            #expect(entries?.map(\.offset) == expected, "\(what), after \(offset)")
            let isIntact = entries?.allSatisfy { entry in
                entry.frame.readableBytesView.allSatisfy { $0 == UInt8(truncatingIfNeeded: entry.offset) }
            }
            #expect(isIntact != false, "\(what), after \(offset)")
        }
    }
}

extension ChannelLog {
    /// All entries that can be read again.
    fileprivate var kept: [Entry] {
        let oldest = StreamPosition(epoch: epoch, offset: head - UInt64(tailCount))
        return entries(after: oldest).map(Array.init) ?? []
    }

    @discardableResult
    fileprivate mutating func append(
        now: UInt64, size: Int = 1, entriesMax: Int = 1000, bytesMax: Int = 1 << 20
    ) -> Appended {
        let retention = Retention(entriesMax: entriesMax, bytesMax: bytesMax, ageMax: 1 << 40)
        return append(sizes: [size], retention: retention, now: now)
    }

    /// Frames as long as the messages, each filled with its entry's offset.
    fileprivate mutating func append(sizes: [Int], retention: Retention, now: UInt64) -> Appended {
        let appended = append(.messages(sizes: sizes), session: 0, feature: .message, now: now) {
            message, offset, _, frames in
            frames.writeRepeatingByte(UInt8(truncatingIfNeeded: offset), count: message.payload.bytes.count)
        }
        trim(to: retention, now: now)
        return appended
    }
}
