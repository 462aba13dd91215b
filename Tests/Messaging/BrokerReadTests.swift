import NIOCore
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMMessagingServer

@Suite("Reading from the embedded broker, and forgetting")
struct BrokerReadTests {
    private var broker = Broker(limits: .limits(), firstEpoch: 500)
    private let interest = Broker.Interest(link: 1, id: 10)

    // MARK: Pages

    @Test("pages of every size add up to all entries, nothing twice, without those of one publisher")
    mutating func pages() throws {
        let publishers = ["anna", "bob", "bob", "carl", "bob", "bob", "anna", "bob", "bob"]
        let start = try broker.attach(interest, to: .message("a"), after: nil, now: 0).position
        for (index, publisher) in publishers.enumerated() {
            _ = try broker.publish("message \(index)", to: .message("a"), by: publisher, now: UInt64(index))
        }
        for except in ["", "anna", "bob", "carl", "nobody"] {
            let expected = publishers.indices.filter { publishers[$0] != except }.map { UInt64($0) + 1 }
            for bytesMax in [0, 1, 60, 61, 100, 120, 130, 200, 400, 100_000] {
                let read = try readAll(after: start, except: except, bytesMax: bytesMax)
                #expect(read == expected, "without \(except), \(bytesMax) bytes a page")
            }
        }
    }

    @Test("M-43: with own messages none of them is left out, and the loss of one is a gap")
    mutating func ownMessages() throws {
        broker = Broker(limits: .limits(entriesMax: 3), firstEpoch: 500)
        let start = try broker.attach(interest, to: .message("a"), after: nil, now: 0).position
        for publisher in ["anna", "bob", "anna"] {
            _ = try broker.publish("m", to: .message("a"), by: publisher, now: 1)
        }
        let wanted: SubscriptionFeatures = [.message, .ownMessages]
        let page = try broker.read(.message("a"), after: start, except: "anna", features: wanted, now: 2)
        #expect(page.entries.map(\.offset) == [1, 2, 3] && !page.gap)
        _ = try broker.publish("m", to: .message("a"), by: "anna", now: 2)
        let others = try broker.read(.message("a"), after: start, except: "anna", features: .message, now: 2)
        #expect(others.entries.map(\.offset) == [2] && !others.gap)
        #expect(try broker.read(.message("a"), after: start, except: "anna", features: wanted, now: 2).gap)
    }

    @Test("an entry without a publisher is nobody's own: an empty exception leaves nothing out")
    mutating func noPublisher() throws {
        let start = try broker.attach(interest, to: .message("a"), after: nil, now: 0).position
        _ = try broker.publish("event", to: .message("a"), by: "", now: 1)
        #expect(try readAll(after: start, except: "", bytesMax: 1000) == [1])
        #expect(try readAll(after: start, except: "anna", bytesMax: 1000) == [1])
    }

    @Test("only entries of the wanted features are read, and the position passes over the others (M-2)")
    mutating func features() throws {
        let start = try broker.attach(interest, to: .message("a"), after: nil, now: 0).position
        _ = try broker.publish("m", to: .message("a"), by: "bob", now: 1)
        let page = try broker.read(.message("a"), after: start, features: [.presence, .lock], now: 2)
        #expect(page.entries.isEmpty && !page.gap && !page.more)
        #expect(page.position.offset == 1)
        #expect(try broker.read(.message("a"), after: start, features: .message, now: 2).entries.count == 1)
    }

    @Test("the last page's position is the head, even if the newest entries are left out")
    mutating func lastPosition() throws {
        let start = try broker.attach(interest, to: .message("a"), after: nil, now: 0).position
        for _ in 0..<3 { _ = try broker.publish("m", to: .message("a"), by: "bob", now: 1) }
        let page = try broker.read(.message("a"), after: start, except: "bob", bytesMax: 1, now: 2)
        #expect(page.entries.isEmpty && !page.more && !page.gap)
        #expect(page.position == StreamPosition(epoch: start.epoch, offset: 3))
        let none = try broker.read(.message("a"), after: page.position, now: 2)
        #expect(none.entries.isEmpty && !none.more && none.position == page.position)
    }

    @Test("reading from a position that can't be continued is a gap at the head")
    mutating func gap() throws {
        broker = Broker(limits: .limits(entriesMax: 2), firstEpoch: 1)
        let start = try broker.attach(interest, to: .message("a"), after: nil, now: 0).position
        for _ in 0..<3 { _ = try broker.publish("m", to: .message("a"), now: 1) }
        let page = try broker.read(.message("a"), after: start, now: 2)
        #expect(page.gap && page.entries.isEmpty && !page.more)
        #expect(page.position == StreamPosition(epoch: start.epoch, offset: 3))
        let unknown = try broker.read(.message("new"), after: start, now: 2)
        #expect(!unknown.gap && unknown.entries.isEmpty, "it never had an entry")
    }

    private mutating func readAll(
        after start: StreamPosition, except: String, bytesMax: Int
    ) throws -> [UInt64] {
        var offsets: [UInt64] = []
        var position = start
        for _ in 0..<100 {
            let page = try broker.read(
                .message("a"), after: position, except: except, bytesMax: bytesMax, now: 100)
            #expect(!page.gap)
            let bytes = page.entries.reduce(0) { $0 + $1.frame.readableBytes }
            #expect(bytes <= bytesMax || page.entries.count == 1)
            offsets += page.entries.map(\.offset)
            guard page.more else { return offsets }
            #expect(!page.entries.isEmpty, "a page that leads nowhere")
            position = page.position
        }
        Issue.record("no last page")
        return offsets
    }

    // MARK: Forgetting

    @Test("a log is forgotten once it has no entries, no interest, and nobody's position can still be wanted")
    mutating func sweep() throws {
        broker = Broker(limits: .limits(ageMax: 100, idleMax: 1000), firstEpoch: 1)
        _ = try broker.attach(interest, to: .message("a"), after: nil, now: 0)
        let stamp = try broker.publish("m", to: .message("a"), now: 10).entries.timestamp
        broker.sweep(10, now: stamp + 5000)
        #expect(broker.channelCount == 1, "it has interest")
        broker.detach(interest, now: stamp + 6000)
        let position = try broker.read(
            .message("a"), after: StreamPosition(epoch: 1, offset: 1), now: 0
        ).position
        broker.sweep(10, now: stamp + 7000)
        #expect(broker.channelCount == 1, "who left may come back, however long nothing was said before")
        #expect(try !broker.read(.message("a"), after: position, now: stamp + 7000).gap)
        broker.sweep(10, now: stamp + 7001)
        #expect(broker.channelCount == 0)
    }

    @Test("a log with entries is kept however idle it is")
    mutating func sweepKeepsEntries() throws {
        broker = Broker(limits: .limits(ageMax: 10_000, idleMax: 10), firstEpoch: 1)
        _ = try broker.publish("m", to: .message("a"), now: 10)
        broker.sweep(10, now: 10_010)
        #expect(broker.channelCount == 1)
        broker.sweep(10, now: 10_022)
        #expect(broker.channelCount == 0)
    }

    @Test("M-38: a forgotten log goes on where it stood, so a return is a gap only if something is missed")
    mutating func continues() throws {
        broker = Broker(limits: .limits(ageMax: 10, idleMax: 10), firstEpoch: 1)
        var seen: StreamPosition?
        for round in 0..<20 as Range<UInt64> {
            let now = round * 1000
            let attached = try broker.attach(interest, to: .message("a"), after: seen, now: now)
            #expect(attached.gap == (round > 0 && round.isMultiple(of: 2)), "round \(round)")
            #expect(attached.position == StreamPosition(epoch: 1, offset: round))
            _ = try broker.publish("m", to: .message("a"), now: now)
            // In every other round the message is missed.
            seen = StreamPosition(epoch: 1, offset: round.isMultiple(of: 2) ? round + 1 : round)
            broker.detach(interest, now: now)
            broker.sweep(2, now: now + 999)
            #expect(broker.channelCount == 0 && broker.forgottenCount == 1)
        }
    }

    @Test("what is unknown of a forgotten channel stays unknown when it is forgotten again")
    mutating func forgottenTwice() throws {
        broker = Broker(
            limits: .limits(ageMax: 10, idleMax: 10, forgottenPerAppMax: 2), firstEpoch: 1)
        let key = ChannelKey.message("a")
        let start = try broker.attach(interest, to: key, after: nil, now: 0).position
        _ = try broker.publish("missed", to: key, now: 1)
        broker.detach(interest, now: 1)
        broker.sweep(10, now: 100)
        for (number, now) in zip(0..<3, stride(from: 200, to: 500, by: 100) as StrideTo<UInt64>) {
            _ = try broker.publish("m", to: .message("\(number)"), now: now)
            broker.sweep(10, now: now + 50)
        }
        for now in [1_000, 2_000] as [UInt64] {
            let attached = try broker.attach(interest, to: key, after: start, now: now)
            #expect(attached.gap, "nobody knows that nothing was missed")
            broker.detach(interest, now: now)
            broker.sweep(10, now: now + 500)
            #expect(broker.channelCount == 0)
        }
    }

    @Test("who wants only what has not come is told of no gap, however much of the rest there is")
    mutating func unwanted() throws {
        broker = Broker(limits: .limits(entriesMax: 2), firstEpoch: 1)
        let key = ChannelKey.message("a")
        let start = try broker.attach(interest, to: key, after: nil, now: 0).position
        for now in 1...50 as ClosedRange<UInt64> { _ = try broker.publish("m", to: key, now: now) }
        #expect(try !broker.read(key, after: start, features: [.presence, .lock], now: 60).gap)
        #expect(try broker.attach(interest, to: key, after: start, now: 61).lost == .message)
    }

    @Test("M-38: a log that never had an entry needs no memory to go on")
    mutating func neverUsed() throws {
        broker = Broker(limits: .limits(ageMax: 10, idleMax: 10), firstEpoch: 1)
        let first = try broker.attach(interest, to: .user("anna"), after: nil, now: 0).position
        broker.detach(interest, now: 0)
        broker.sweep(2, now: 1_000)
        #expect(broker.channelCount == 0 && broker.forgottenCount == 0)
        let again = try broker.attach(interest, to: .user("anna"), after: first, now: 2_000)
        #expect(!again.gap && again.position == first)
    }

    @Test("what is remembered of forgotten channels is bounded; beyond it more is a gap than there had to be")
    mutating func forgottenMax() throws {
        let limits = BrokerLimits.limits(ageMax: 10, idleMax: 10, forgottenPerAppMax: 20)
        broker = Broker(limits: limits, firstEpoch: 1)
        var positions: [StreamPosition] = []
        for name in 0..<100 as Range<UInt64> {
            let now = name * 1_000
            let key = ChannelKey.message("\(name)")
            let epoch = try broker.attach(interest, to: key, after: nil, now: now).position.epoch
            let offset = try broker.publish("m", to: key, now: now).entries.offset
            positions.append(StreamPosition(epoch: epoch, offset: offset))
            broker.detach(interest, now: now)
            broker.sweep(2, now: now + 500)
            #expect(broker.channelCount == 0 && broker.forgottenCount < 20)
        }
        let gaps = try positions.indices.map {
            try broker.attach(interest, to: .message("\($0)"), after: positions[$0], now: 200_000).gap
        }
        #expect(gaps.suffix(10).allSatisfy { !$0 } && gaps.prefix(80).allSatisfy { $0 })
        let afterAll = StreamPosition(epoch: 1, offset: 100)
        #expect(try !broker.attach(interest, to: .message("new"), after: afterAll, now: 200_000).gap)
    }

    @Test("M-38: who misses nothing but own entries, or entries that it doesn't want, is told of no gap")
    mutating func nothingMissed() throws {
        broker = Broker(limits: .limits(ageMax: 4, segmentBytes: 1), firstEpoch: 1)
        let key = ChannelKey.message("a")
        let start = try broker.attach(interest, to: key, after: nil, now: 0).position
        _ = try broker.append(to: key, by: "anna", session: 7, source: 0, sequence: 0, now: 1)
        for now in 2...9 as ClosedRange<UInt64> { _ = try broker.publish("m", to: key, by: "anna", now: now) }
        _ = try broker.append(to: key, by: "bob", session: 8, source: 0, sequence: 0, now: 10)
        broker.sweep(1_000, now: 14)
        // All but bob's join are lost.
        func read(
            except user: String, _ features: SubscriptionFeatures
        ) throws -> (gap: Bool, offsets: [UInt64]) {
            let page = try broker.read(key, after: start, except: user, features: features, now: 11)
            return (page.gap, page.entries.map(\.offset))
        }
        #expect(try read(except: "anna", .default) == (false, [10]))
        #expect(try read(except: "anna", .message) == (false, []))
        #expect(try read(except: "bob", .default) == (true, []))
        #expect(try read(except: "bob", [.lock, .metadata]) == (false, []))
        #expect(try read(except: "", .presence) == (true, []))
        let attached = try broker.attach(interest, to: key, after: start, now: 12)
        #expect(attached.lost == [.presence, .message] && attached.missed.map(\.offset) == [10])
    }

    @Test("a sweep goes on where the last one ended, so that every log has its turn")
    mutating func sweepInParts() throws {
        broker = Broker(limits: .limits(ageMax: 10, idleMax: 10), firstEpoch: 1)
        for name in 0..<10 { _ = try broker.publish("m", to: .message("\(name)"), now: 1) }
        var counts: [Int] = []
        for _ in 0..<4 {
            broker.sweep(3, now: 1000)
            counts.append(broker.channelCount)
        }
        #expect(counts == [7, 4, 1, 0])
        broker.sweep(3, now: 1000)
        for name in 0..<10 { _ = try broker.publish("m", to: .message("\(name)"), now: 2000) }
        #expect(broker.channelCount == 10)
    }

    @Test("the place of a forgotten log is used again: what nobody wants takes no memory")
    mutating func reusedPlaces() throws {
        broker = Broker(limits: .limits(ageMax: 10, idleMax: 10), firstEpoch: 1)
        for round in 0..<50 as Range<UInt64> {
            _ = try broker.publish("m", to: .message("\(round)"), now: round * 1000)
            // There is one place, and the end of the partition.
            broker.sweep(2, now: round * 1000)
            #expect(broker.channelCount == 1)
            broker.sweep(2, now: round * 1000 + 500)
            #expect(broker.channelCount == 0)
        }
    }
}
