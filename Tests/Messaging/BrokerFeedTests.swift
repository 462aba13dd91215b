import NIOCore
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMMessagingServer

/// The entries of all channels of an app as one log, over changes of the leader and of memory.
@Suite("W-40: the entries of an app come in one order, once, or as a gap") struct BrokerFeedTests {
    private typealias Fed = (texts: [String], next: FeedPosition, gap: Bool, more: Bool)

    private func feed(
        _ broker: inout Broker, after place: FeedPosition, bytesMax: Int = 1 << 20, now: UInt64 = 10
    ) throws -> Fed {
        let page = broker.feed("app", after: place, bytesMax: bytesMax, now: now)
        var (texts, rest): ([String], ArraySlice<UInt8>) = ([], Array(page.frames.readableBytesView)[...])
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let frame = try Rtm_Client_ServerFrame(serializedBytes: Array(rest.dropFirst(4).prefix(length)))
            texts.append(String(decoding: frame.publication.message.payload, as: UTF8.self))
            rest = rest.dropFirst(4 + length)
        }
        #expect(texts.count == page.count)
        return (texts, page.next, page.gap, page.more)
    }

    private func start(_ broker: inout Broker) throws -> FeedPosition {
        let start = try feed(&broker, after: FeedPosition())
        #expect(start.texts.isEmpty && !start.gap && start.next.epoch != 0)
        return start.next
    }

    @Test("a reader gets the entries of every channel of its app behind its place, page by page")
    func order() throws {
        var broker = Broker(limits: .limits(partitionCount: 16), firstEpoch: 7)
        let start = try start(&broker)
        for (number, name) in ["a", "b", "c", "a", "b"].enumerated() {
            _ = try broker.publish("\(number)", to: .message(name), now: 2)
            _ = try broker.publish("other", to: .message(name, of: "other"), now: 2)
        }
        _ = try broker.attach(
            .init(link: 1, id: 1), to: .user("ann"), after: nil, ownership: 0, now: 3)
        _ = try broker.publish("5", to: .user("ann"), now: 3)
        let all = try feed(&broker, after: start)
        #expect(all.texts == ["0", "1", "2", "3", "4", "5"] && !all.gap && !all.more)
        #expect(try feed(&broker, after: all.next).texts == [])

        var (place, texts, pages) = (start, [String](), 0)
        while true {
            let page = try feed(&broker, after: place, bytesMax: 1)
            texts += page.texts
            (place, pages) = (page.next, pages + 1)
            guard page.more else { break }
        }
        #expect(texts == all.texts && pages == 6)
    }

    @Test("a feed that is read for the first time begins with what the tail has, and has no gap")
    func first() throws {
        var broker = Broker(limits: .limits(tailBytesMax: 40_000, segmentBytes: 4_000), firstEpoch: 7)
        let text = String(repeating: "x", count: 500)
        for number in 0..<200 { _ = try broker.publish("\(number) \(text)", to: .message("a"), now: 2) }
        var (place, texts) = (FeedPosition(), [String]())
        while true {
            let page = try feed(&broker, after: place, bytesMax: 5_000)
            #expect(!page.gap)
            texts += page.texts
            place = page.next
            guard page.more else { break }
        }
        let newest = (0..<200).suffix(texts.count).map { "\($0) \(text)" }
        #expect(texts.count > 10 && texts == newest)
        #expect(try feed(&broker, after: place).gap == false)
    }

    @Test("entries that were dropped before they were read are a gap, and what is left follows")
    func dropped() throws {
        var broker = Broker(limits: .limits(tailBytesMax: 40_000, segmentBytes: 4_000), firstEpoch: 7)
        let start = try start(&broker)
        let text = String(repeating: "x", count: 500)
        for number in 0..<200 { _ = try broker.publish("\(number) \(text)", to: .message("a"), now: 2) }
        let page = try feed(&broker, after: start)
        #expect(page.gap && page.texts.last?.hasPrefix("199 ") == true)
        _ = try broker.publish("next", to: .message("a"), now: 3)
        let after = try feed(&broker, after: page.next)
        #expect(after.texts == ["next"] && !after.gap)
    }

    @Test("a quiet app has no gap, however old its last entry is, and whatever other apps publish")
    func quiet() throws {
        var broker = Broker(limits: .limits(ageMax: 1_000, segmentBytes: 100), firstEpoch: 7)
        let start = try start(&broker)
        _ = try broker.publish("1", to: .message("a"), now: 2)
        let read = try feed(&broker, after: start)
        for now in stride(from: UInt64(100), through: 20_000, by: 100) {
            _ = try broker.publish("x", to: .message("a", of: "other"), now: now)
            broker.sweep(10, now: now)
        }
        #expect(try feed(&broker, after: read.next).gap == false)
        _ = try broker.publish("2", to: .message("b"), now: 20_001)
        let next = try feed(&broker, after: read.next)
        #expect(next.texts == ["2"] && !next.gap)
    }

    @Test("what wasn't read stays beyond its age while storage is away, and for no longer than the limit")
    func awaited() throws {
        var limits = BrokerLimits.limits(ageMax: 1_000, segmentBytes: 100)
        limits.feedOutageMax = 60_000
        var broker = Broker(limits: limits, firstEpoch: 7)
        let start = try feed(&broker, after: start(&broker)).next
        for number in 0..<50 {
            _ = try broker.publish("\(number)", to: .message("a"), now: UInt64(100 + number))
        }
        for now in stride(from: UInt64(1_000), through: 59_000, by: 500) { broker.sweep(100, now: now) }
        let late = try feed(&broker, after: start, now: 59_000)
        #expect(late.texts == (0..<50).map { "\($0)" } && !late.gap)
        _ = try broker.publish("unread", to: .message("a"), now: 59_001)
        _ = try broker.publish("unread", to: .message("a"), now: 59_002)
        for now in stride(from: UInt64(60_000), through: 130_000, by: 500) { broker.sweep(100, now: now) }
        #expect(try feed(&broker, after: late.next, now: 130_000).gap)
    }

    private func successor(_ batches: [ByteBuffer], now: UInt64) throws -> Broker {
        var replay = JournalReplay(limits: .limits(partitionCount: 16), firstEpoch: 7)
        for batch in batches { try batch.withUnsafeReadableBytes { try replay.read($0) } }
        var broker = Broker(continuing: replay, now: now)
        broker.keepJournal(settlingFor: 0, now: now)
        return broker
    }

    @Test("a new leader continues the same places in the same order", arguments: 0..<20 as Range<UInt64>)
    func leaders(_ seed: UInt64) throws {
        var random = SeededNumbers(seed)
        var broker = Broker(limits: .limits(partitionCount: 16), firstEpoch: 7)
        broker.keepJournal(settlingFor: 0, now: 1)
        var batches: [ByteBuffer] = []
        var place = try start(&broker)
        var (expected, texts): ([String], [String]) = ([], [])
        for step in 0..<200 {
            let now = UInt64(step + 2)
            switch random.next(below: 10) {
            case 0:
                batches.append(broker.takeJournal())
                broker = try successor(batches, now: now)
            case 1:
                broker.journalHeads(now: now)
                batches.append(broker.takeJournal())
                // A journal is cut off at its old end, where storage has long been.
                if texts.count == expected.count, random.next(below: 3) == 0 {
                    broker.journalHeads(now: now)
                    batches = [broker.takeJournal()]
                }
            case 2...5:
                let page = try feed(&broker, after: place, bytesMax: random.next(below: 300), now: now)
                #expect(!page.gap, "seed \(seed), step \(step)")
                texts += page.texts
                place = page.next
            default:
                let name = "c\(random.next(below: 5))"
                expected.append("\(step)")
                _ = try broker.publish("\(step)", to: .message(name), by: "p\(step)", now: now)
            }
        }
        texts += try feed(&broker, after: place).texts
        #expect(texts == expected, "seed \(seed)")
    }

    @Test(
        "behind a journal that is cut off before the place there is no gap, and behind the place there is one"
    )
    func cutOff() throws {
        var first = Broker(limits: .limits(partitionCount: 16), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        let early = try start(&first)
        _ = try first.publish("1", to: .message("a"), now: 2)
        let late = try feed(&first, after: early).next
        _ = first.takeJournal()
        first.journalHeads(now: 3)
        var second = try successor([first.takeJournal()], now: 4)
        #expect(try feed(&second, after: late).gap == false)
        #expect(try feed(&second, after: early).gap)
        _ = try second.publish("2", to: .message("b"), now: 5)
        #expect(try feed(&second, after: late).texts == ["2"])
    }

    @Test(
        "logs that went back in time are a gap, and what they had was read before", arguments: 0..<4)
    func backInTime(published: Int) throws {
        var first = Broker(limits: .limits(partitionCount: 16), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        for text in ["1", "2"] { _ = try first.publish(text, to: .message("a"), now: 2) }
        let kept = first.takeJournal()
        for text in ["3", "4"] { _ = try first.publish(text, to: .message("a"), now: 3) }
        let place = try feed(&first, after: FeedPosition()).next
        var second = try successor([kept], now: 4)
        let new = (0..<published).map { "new \($0)" }
        for text in new { _ = try second.publish(text, to: .message("b"), now: 5) }
        var page = try feed(&second, after: place)
        #expect(page.gap && page.texts == new)
        _ = try second.publish("5", to: .message("a"), now: 6)
        page = try feed(&second, after: page.next)
        #expect(!page.gap && page.texts == ["5"])
    }

    @Test("an entry that was lost as the first of its partition is a gap, too")
    func backInTimeElsewhere() throws {
        let (kept, lost) = (ChannelKey.message("a"), ChannelKey.message("b"))
        var first = Broker(limits: .limits(partitionCount: 16), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        _ = try first.publish("1", to: kept, now: 2)
        let journal = first.takeJournal()
        _ = try first.publish("2", to: lost, now: 3)
        let place = try feed(&first, after: FeedPosition()).next
        var second = try successor([journal], now: 4)
        _ = try second.publish("new", to: kept, now: 5)
        let page = try feed(&second, after: place)
        #expect(page.gap && page.texts == ["new"])
        #expect(try feed(&second, after: page.next).gap == false)
    }

    @Test("a node that leads again with what it had is a gap, and what comes from then on follows")
    func outdated() throws {
        var outdated = Broker(limits: .limits(partitionCount: 16), firstEpoch: 7)
        outdated.keepJournal(settlingFor: 0, now: 1)
        for text in ["1", "2"] { _ = try outdated.publish(text, to: .message("a"), now: 2) }
        var newer = try successor([outdated.takeJournal()], now: 3)
        for text in ["3", "4"] { _ = try newer.publish(text, to: .message("a"), now: 4) }
        let place = try feed(&newer, after: FeedPosition()).next
        outdated.reinstate()
        let gap = try feed(&outdated, after: place)
        #expect(gap.gap && gap.texts == [])
        _ = try outdated.publish("new", to: .message("b"), now: 5)
        let page = try feed(&outdated, after: gap.next)
        #expect(!page.gap && page.texts == ["new"])
    }

    @Test("logs that began anew are a gap, and everything that they have follows")
    func anew() throws {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        let place = try start(&first)
        var second = Broker(limits: .limits(), firstEpoch: 9)
        _ = try second.publish("1", to: .message("a"), now: 2)
        let page = try feed(&second, after: place)
        #expect(page.gap && page.texts == ["1"])
        #expect(try feed(&second, after: page.next).gap == false)
    }
}

/// SplitMix64.
private struct SeededNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next(below bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
