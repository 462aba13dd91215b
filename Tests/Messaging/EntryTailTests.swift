import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("An app's tail, and the entries of its channels")
struct EntryTailTests {
    private var scene = TailScene()

    // MARK: Appending

    @Test("entries of all channels of a partition get the offsets 1, 2, 3 …, each channel some of them")
    mutating func offsets() {
        for now in 1...6 as ClosedRange<UInt64> { scene.append(to: Int(now % 2), now: now) }
        #expect(scene.read(0) == [2, 4, 6])
        #expect(scene.read(1) == [1, 3, 5])
        #expect(scene.head == 6 && scene.chains[1].head == 5)
    }

    @Test("an entry is encoded once, for the offset and time that it got, and keeps what it was given")
    mutating func encoding() {
        let appended = scene.append(to: 0, sizes: [5], session: 9, feature: .metadata, now: 50)
        #expect(appended.offset == 1 && appended.timestamp == 50 && appended.count == 1)
        #expect(scene.frames(of: appended) == [1, 1, 1, 1, 1])
        let entry = scene.tail.entry(at: scene.chains[0].newest)
        #expect(entry.offset == 1 && entry.timestamp == 50)
        #expect(entry.publisherSession == 9 && entry.feature == .metadata)
        #expect(entry.frame == ByteBuffer(bytes: [1, 1, 1, 1, 1]))
    }

    @Test("what is known of an entry beside its frame takes 64 bytes, and has its feature and client whole")
    func record() {
        #expect(MemoryLayout<EntryRecord>.stride == 64)
        for feature in LostEntries.features {
            let record = EntryRecord(
                time: LogTime(number: 1), publisherSession: 2, offset: 3, previous: .none,
                channel: ChannelSlot(index: 4, partition: 5), feature: feature,
                EntryOrigin(user: 6, client: .max - 7, sequence: 8), (start: 9, length: 10))
            #expect(record.feature == feature && record.client == .max - 7)
        }
    }

    @Test("messages appended together have consecutive offsets and timestamps, and their frames in a row")
    mutating func together() {
        scene.append(to: 0, now: 200)
        scene.append(to: 1, now: 200)
        let appended = scene.append(to: 0, sizes: [1, 2, 3], now: 150)
        #expect(appended.offset == 3 && appended.timestamp == 201 && appended.count == 3)
        #expect(appended.offsetsBetween == 1, "the entry of the other channel lies between")
        #expect(scene.frames(of: appended) == [3, 4, 4, 5, 5, 5])
        #expect(scene.read(0) == [1, 3, 4, 5])
    }

    @Test(
        "M-24: timestamps follow the clock, and increase strictly when it stands still or goes back a little")
    mutating func timestamps() {
        let clock: [UInt64] = [2000, 2000, 2000, 1990, 1950, 2003, 2010, 2009, 5000]
        let stamps = clock.map { scene.append(to: 0, now: $0).timestamp }
        #expect(stamps == [2000, 2001, 2002, 2003, 2004, 2005, 2010, 2011, 5000])
    }

    @Test(
        "M-24: beyond a hundred entries in a moment they share a timestamp, and their order distinguishes them"
    )
    mutating func sharedTimestamps() {
        let times = (0..<1_000).map { _ in scene.append(to: 0, now: 2_000).time }
        #expect(times.allSatisfy { $0.milliseconds <= 2_000 + LogTime.aheadMax })
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(times.last == LogTime(milliseconds: 2_100, order: 899))
        let together = scene.append(to: 1, sizes: Array(repeating: 1, count: 200), now: 2_000)
        #expect(together.time == LogTime(milliseconds: 2_000, order: 1))
        #expect(scene.tail.record(at: scene.chains[1].newest).time == together.time.following(by: 199))
    }

    @Test("M-24: a channel doesn't stamp its entries before its own beginning")
    mutating func firstTimestamp() {
        scene.chains[0] = ChannelChain(head: 0, forgotten: nil, now: 1000)
        #expect(scene.append(to: 0, now: 900).timestamp > 1000)
    }

    // MARK: Memory

    @Test("a tail uses the memory of what it gave up again, and gives it back when it is silent")
    mutating func memory() {
        scene = TailScene(segmentBytes: 1_000)
        for now in 1...200 as ClosedRange<UInt64> {
            scene.append(to: Int(now % 3), sizes: [100], now: now)
            if now > 50 { scene.giveUp(until: now - 30) }
        }
        let busy = scene.tail.bytesHeld
        for now in 201...4_000 as ClosedRange<UInt64> {
            scene.append(to: Int(now % 3), sizes: [100], now: now)
            scene.giveUp(until: now - 30)
            #expect(scene.tail.bytesHeld <= 2 * busy)
        }
        scene.tail.close()
        scene.giveUp(until: 5_000)
        scene.tail.release()
        #expect(scene.tail.oldestTime == nil && scene.tail.bytesHeld == 0)
    }

    // MARK: Continuing

    @Test("from every position either exactly what follows it, or a gap")
    mutating func everyPosition() {
        scene = TailScene(segmentBytes: 1)
        for now in 1...20 as ClosedRange<UInt64> { scene.append(to: 0, now: now) }
        scene.giveUp(until: 14)
        for offset in 0...25 as ClosedRange<UInt64> {
            let continuation = scene.continuation(of: 0, after: offset)
            let isKnown = (14...20).contains(offset)
            #expect((continuation.skippedTo == nil) == isKnown, "after \(offset)")
            let expected = offset > 20 ? [] : Array((15...20).drop { $0 <= offset })
            #expect(scene.offsets(continuation) == expected, "after \(offset)")
            let other = scene.continuation(of: 0, after: offset, epoch: 4)
            #expect(other.skippedTo?.offset == 14 && scene.offsets(other) == Array(15...20))
        }
        #expect(scene.continuation(of: 0, after: .max).skippedTo?.offset == 20)
    }

    @Test("a quiet channel's position stays good, whatever the others of its partition lose")
    mutating func quiet() {
        scene = TailScene(segmentBytes: 1)
        scene.append(to: 1, now: 1)
        for now in 2...40 as ClosedRange<UInt64> { scene.append(to: 0, now: now) }
        scene.giveUp(until: 30)
        #expect(scene.continuation(of: 1, after: 1).skippedTo == nil)
        #expect(scene.continuation(of: 1, after: 0).lost == .message)
        #expect(scene.continuation(of: 2, after: 0).skippedTo == nil, "it never had an entry")
    }

    @Test("who comes back to more than a limit is told of a gap, and gets the newest within the limit")
    mutating func limits() {
        for now in 1...10 as ClosedRange<UInt64> { scene.append(to: 0, sizes: [10], now: now) }
        let few = scene.continuation(of: 0, after: 2, countMax: 3)
        #expect(few.skippedTo?.offset == 7 && scene.offsets(few) == [8, 9, 10])
        let small = scene.continuation(of: 0, after: 2, bytesMax: 49)
        #expect(small.skippedTo?.offset == 6 && scene.offsets(small) == [7, 8, 9, 10])
        #expect(scene.continuation(of: 0, after: 7, countMax: 3).skippedTo == nil)
        #expect(scene.continuation(of: 0, after: 10, countMax: 0).skippedTo == nil)
    }

    @Test("random tails: offsets, timestamps and frames of every channel are right from every position")
    func random() {
        for seed in series(of: 20) {
            var random = SeededGenerator(seed: seed)
            var scene = TailScene(segmentBytes: .random(in: 1...300, using: &random))
            var (now, given): (UInt64, UInt64) = (1000, 0)
            var offsets: [[UInt64]] = Array(repeating: [], count: scene.chains.count)
            for _ in 0..<100 {
                now = now &+ .random(in: 0...20, using: &random) &- (random.chance(1, in: 10) ? 30 : 0)
                let channel = Int.random(in: scene.chains.indices, using: &random)
                let sizes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Int.random(in: 1...40, using: &random)
                }
                let appended = scene.append(to: channel, sizes: sizes, now: now)
                #expect(appended.offsetsBetween == appended.offset - 1 - (offsets[channel].last ?? 0))
                offsets[channel] += (0..<UInt64(sizes.count)).map { appended.offset + $0 }
                if random.chance(1, in: 5) { given = max(given, scene.giveUp(until: now - 50)) }
                check(scene, offsets, given, "seed \(seed)")
            }
        }
    }

    /// - Parameter given: the newest offset that was given up.
    private func check(_ scene: TailScene, _ offsets: [[UInt64]], _ given: UInt64, _ what: String) {
        for (channel, all) in offsets.enumerated() {
            let lost = all.last { $0 <= given } ?? 0
            for offset in [0, lost &- min(lost, 1), lost, lost + 1, all.last ?? 0] {
                let continuation = scene.continuation(of: channel, after: offset)
                let expected = all.filter { $0 > max(offset, given) }
                if offset <= scene.head {
                    #expect(scene.offsets(continuation) == expected, "\(what)")
                    #expect((continuation.skippedTo != nil) == (offset < lost), "\(what)")
                }
                let entries = continuation.entries.map { scene.tail.entry(at: $0) }
                let isInOrder = zip(entries, entries.dropFirst()).allSatisfy { $0.time < $1.time }
                #expect(isInOrder, "\(what)")
                let isIntact = entries.allSatisfy { entry in
                    entry.frame.readableBytesView.allSatisfy { $0 == UInt8(truncatingIfNeeded: entry.offset) }
                }
                #expect(isIntact, "\(what), after \(offset)")
            }
        }
    }
}

extension EntryTailTests {
    @Test("the memory of a segment is used again, also where entries are larger than a segment is to be")
    mutating func reused() {
        scene = TailScene(segmentBytes: 4_000)
        // Each has a segment of its own, and the tail gives one up for each that comes.
        for now in 1...3 as ClosedRange<UInt64> { scene.append(to: 0, sizes: [100_000], now: now) }
        let held = scene.tail.bytesHeld
        for now in 4...20 as ClosedRange<UInt64> {
            scene.giveUp(until: now - 3)
            #expect(scene.tail.bytesHeld > held - 100_000, "the memory of a frame is kept")
            scene.append(to: 0, sizes: [100_000], now: now)
            #expect(scene.tail.bytesHeld == held)
        }
        // With small entries again the large memory goes with its segment.
        for now in 21...60 as ClosedRange<UInt64> {
            scene.giveUp(until: now - 2)
            scene.append(to: 0, sizes: Array(repeating: 100, count: 41), now: now)
        }
        #expect(scene.tail.bytesHeld < 60_000)
    }
}

/// One tail, one partition, and a few channels of it.
private struct TailScene {
    var tail: EntryTail
    var chains = [ChannelChain](repeating: ChannelChain(head: 0, forgotten: nil, now: 0), count: 3)
    var head: UInt64 = 0

    init(segmentBytes: Int = 60_000) { tail = EntryTail(segmentBytes: segmentBytes) }

    /// Frames as long as the sizes say, each filled with its entry's offset.
    @discardableResult
    mutating func append(
        to channel: Int, sizes: [Int] = [1], session: UInt64 = 0, feature: SubscriptionFeatures = .message,
        now: UInt64
    ) -> AppendedEntries {
        let entries = NewEntries(
            count: sizes.count, channel: ChannelSlot(index: UInt32(channel), partition: 0), session: session,
            feature: feature, origin: .none, now: now)
        var sizes = sizes.makeIterator()
        return tail.append(entries, to: &chains[channel], head: &head) { offset, _, frames in
            frames.writeRepeatingByte(UInt8(truncatingIfNeeded: offset), count: sizes.next() ?? 0)
        }
    }

    /// - Returns: the newest offset that went; 0 if none did.
    @discardableResult
    mutating func giveUp(until now: UInt64) -> UInt64 {
        var newest: UInt64 = 0
        while let time = tail.firstSegmentEnd, time <= now, let records = tail.removeFirst() {
            for record in records {
                chains[Int(record.channel.index)].gaveUp(record)
                newest = record.offset
            }
        }
        return newest
    }

    func continuation(
        of channel: Int, after offset: UInt64, epoch: UInt64 = 3, countMax: Int = 1000,
        bytesMax: Int = 1 << 20
    ) -> Continuation {
        chains[channel].continuation(
            after: StreamPosition(epoch: epoch, offset: offset),
            ReadScope(countMax: countMax, bytesMax: bytesMax), in: tail,
            partitionHead: StreamPosition(epoch: 3, offset: head))
    }

    func offsets(_ continuation: Continuation) -> [UInt64] {
        continuation.entries.map { tail.entry(at: $0).offset }
    }

    func read(_ channel: Int) -> [UInt64] { offsets(continuation(of: channel, after: 0)) }

    func frames(of appended: AppendedEntries) -> [UInt8] {
        Array(tail.frames(of: appended).readableBytesView)
    }
}
