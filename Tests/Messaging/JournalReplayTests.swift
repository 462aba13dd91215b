import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("A broker that goes on where another one stood") struct JournalReplayTests {
    private let inbox = ChannelKey.user("anna")

    @Test("who doesn't come back within the settling time isn't online any more, for later leaders too")
    func awaited() throws {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        _ = try first.attach(.init(link: 1, id: 1), to: inbox, after: nil, ownership: 0, now: 1)
        var batches = [first.takeJournal()]

        var second = try successor(batches, now: 100)
        #expect(throws: Never.self) { try greet(&second, now: 10_099) }
        #expect(throws: RTMError.self) { try greet(&second, now: 10_100) }
        batches.append(second.takeJournal())
        second.sweep(10, now: 10_100)
        batches.append(second.takeJournal())

        var third = try successor(batches, now: 20_000)
        #expect(throws: RTMError.self) { try greet(&third, now: 20_001) }
    }

    @Test("what an inbox had is there still when a journal that was lost has been written again")
    func inboxAgain() throws {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        let attached = try first.attach(.init(link: 1, id: 1), to: inbox, after: nil, ownership: 0, now: 1)
        for now in 2...4 as ClosedRange<UInt64> { try greet(&first, now: now) }

        var second = try successor(first.checkpoint(now: 5), now: 100)
        try greet(&second, now: 101)
        let page = try second.read(inbox, after: attached.position, now: 102)
        #expect(page.entries.count == 4 && !page.gap)
    }

    @Test("what is published while a checkpoint is written is at the next leader, in its place")
    func checkpointUnderWay() throws {
        // The first page of the checkpoint ends behind a segment that still takes appends.
        let limits = BrokerLimits.limits(bytesMax: 8 << 20, segmentBytes: 700_000)
        var first = Broker(limits: limits, firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        let text = String(repeating: "x", count: 1_000)
        for number in 0..<270 {
            _ = try first.publish("\(number) \(text)", to: .message("a"), by: "\(number)", now: 2)
        }
        _ = first.takeJournal()
        var cursor = CheckpointCursor()
        var (page, isLast) = first.checkpointPage(&cursor, now: 3)
        var batches = [page]
        #expect(!isLast)
        for number in 270..<500 {
            _ = try first.publish("\(number) \(text)", to: .message("a"), by: "\(number)", now: 4)
        }
        while !isLast {
            (page, isLast) = first.checkpointPage(&cursor, now: 5)
            batches.append(page)
        }
        batches.append(first.takeJournal())

        var replay = JournalReplay(limits: limits, firstEpoch: 7)
        for batch in batches { try batch.withUnsafeReadableBytes { try replay.read($0) } }
        var second = Broker(continuing: replay, now: 6)
        let read = try second.read(
            .message("a"), after: StreamPosition(epoch: 7, offset: 0), bytesMax: 8 << 20, now: 7)
        #expect(read.entries.map(\.offset) == Array(1...500))
    }

    /// A broker with an inbox that never had a message, and with others in every partition.
    private func unusedInbox() throws -> (Broker, Broker.Attached) {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        let attached = try first.attach(.init(link: 1, id: 1), to: inbox, after: nil, ownership: 0, now: 1)
        for number in 0..<64 {
            let other = ChannelKey(appID: inbox.appID, type: .message, name: "c\(number)")
            _ = try first.publish("hello", to: other, by: "bert", now: 2)
        }
        return (first, attached)
    }

    @Test("an inbox without a message has no gap after a change of leaders, however late its user returns")
    func emptyInbox() throws {
        let (first, attached) = try unusedInbox()
        var cursor = CheckpointCursor()
        let batch = first.checkpointPage(&cursor, now: 3).bytes

        var second = try successor([batch], now: 1_000_000)
        // It is silent, and nobody is there.
        for now in stride(from: UInt64(1_000_000), through: 2_000_000, by: 100_000) {
            second.sweep(100, now: now)
        }
        let back = try second.attach(
            .init(link: 2, id: 1), to: inbox, after: attached.position, ownership: 0, now: 2_000_001)
        #expect(back.skippedTo == nil)
    }

    @Test(
        "M-38: an unused inbox whose user logged in again behind a cut-off journal has no gap at the next leader"
    )
    func emptyInboxBehindTheCut() throws {
        let (broker, attached) = try unusedInbox()
        var first = broker
        // This is cut off, and what is left begins with the heads of all partitions.
        _ = first.takeJournal()
        first.journalHeads(now: 1_000)
        _ = try first.attach(
            .init(link: 2, id: 1), to: inbox, after: attached.position, ownership: 0, now: 2_000)
        first.sweep(100, now: 40_000)

        var second = try successor([first.takeJournal()], now: 41_000)
        let back = try second.attach(
            .init(link: 3, id: 1), to: inbox, after: attached.position, ownership: 0, now: 41_001)
        #expect(back.skippedTo == nil)
    }

    @Test(
        "who logged in last keeps the user's place after a change of leaders, although nothing was said for long"
    )
    func lastLogin() throws {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        _ = try first.attach(.init(link: 1, id: 1), to: inbox, after: nil, ownership: 0, owner: 5, now: 1)
        let login = Broker.Interest(link: 2, id: 1)
        _ = try first.attach(login, to: inbox, after: nil, ownership: 0, owner: 6, now: 119_000)
        first.detach(login, now: 119_500)
        var second = try successor([first.takeJournal()], now: 120_000)
        for now in stride(from: UInt64(120_000), through: 220_000, by: 10_000) { second.sweep(100, now: now) }
        #expect(throws: RTMError.self) {
            try second.attach(
                .init(link: 3, id: 1), to: inbox, after: nil, ownership: 0, owner: 5, returns: true,
                now: 220_000
            )
        }
    }

    @Test("who is online for longer than the journal reaches back is online for the next leader")
    func onlineForLong() throws {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        _ = try first.attach(.init(link: 1, id: 1), to: inbox, after: nil, ownership: 0, now: 1)
        // This is cut off.
        _ = first.takeJournal()
        first.journalHeads(now: 1_000)
        for now in stride(from: 5_000, through: 60_000, by: 5_000) {
            try greet(&first, now: UInt64(now))
            first.sweep(10, now: UInt64(now))
        }
        var second = try successor([first.takeJournal()], now: 60_100)
        #expect(throws: Never.self) { try greet(&second, now: 60_200) }
    }

    @Test("M-25: what its journal reaches back to, a later leader knows of what is published once more, too")
    func repeatedBehindAChangeOfLeaders() throws {
        var first = Broker(limits: .limits(), firstEpoch: 7, now: 100_000)
        first.keepJournal(settlingFor: 0, now: 100_000)
        var second = try successor([first.takeJournal()], now: 200_000)
        // The inbox of the client is in a shard that began at another time.
        func again(_ sequence: UInt64, after age: UInt32) throws(RTMError) -> Int {
            let origin = PublishOrigin(instance: 5, sequence: sequence, againAfter: age, epoch: 999)
            return try second.publish("m", to: .message("lobby"), origin: origin, now: 200_100).entries.count
        }
        #expect(try again(1, after: 90_000) == 1)
        #expect(throws: RTMError.self) { try again(2, after: 95_000) }
    }

    @Test("W-24, M-25: what a leader wrote again after a loss, later leaders recognise when it is repeated")
    func repeatedBehindCheckpoints() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        broker.keepJournal(settlingFor: 0, now: 1)
        let lobby = ChannelKey.message("lobby")
        // The keys of backends, and a client whose sequence has passed 32 bits.
        let keys = (1...5 as ClosedRange<UInt64>).map {
            PublishOrigin(instance: $0 << 40 | 3, sequence: 1, againAfter: 0)
        }
        let numbers = [1 << 33 - 1, 1 << 33, 1 << 33 + 1].map {
            PublishOrigin(instance: 9, sequence: $0, againAfter: 0)
        }
        let origins = keys + numbers
        let offsets = try origins.map { origin in
            try broker.publish("m", to: lobby, origin: origin, now: 10).entries.offset
        }
        _ = try broker.publish("nobody's", times: 3, to: lobby, now: 20)

        for time in [30_000, 60_000] as [UInt64] {
            broker = try successor(broker.checkpoint(now: time), now: time)
            for (origin, offset) in zip(origins, offsets) {
                let again = try broker.publish("m", to: lobby, origin: origin, now: time + 1).entries
                #expect(again.count == 0 && again.offset == offset)
            }
        }
        let late = PublishOrigin(instance: 9, sequence: 1 << 33 + 1)
        #expect(throws: RTMError.self) { try broker.publish("m", to: lobby, origin: late, now: 60_002) }
        let next = PublishOrigin(instance: 9, sequence: 1 << 33 + 2)
        #expect(try broker.publish("m", to: lobby, origin: next, now: 60_003).entries.count == 1)
    }

    private func successor(_ batches: [ByteBuffer], now: UInt64) throws -> Broker {
        var replay = JournalReplay(limits: .limits(), firstEpoch: 7)
        for batch in batches {
            try batch.withUnsafeReadableBytes { bytes in
                try Result { () throws(JournalFault) in try replay.read(bytes) }.get()
            }
        }
        var broker = Broker(continuing: replay, now: now)
        broker.keepJournal(settlingFor: 10_000, now: now)
        return broker
    }

    private func greet(_ broker: inout Broker, now: UInt64) throws(RTMError) {
        _ = try broker.publish("hello", to: inbox, by: "bert", needsReceiver: true, now: now)
    }

    @Test("what is published once more may name the epoch of a shard that began together with this one")
    func epochs() throws {
        var limits = BrokerLimits.limits(partitionCount: 16)
        (limits.shard, limits.shards) = (2, 4)
        let first = limits.firstEpoch(from: 1_000)
        #expect(first == 1_032)
        var broker = Broker(limits: limits, firstEpoch: first, now: 95_000)
        func again(_ epoch: UInt64, _ sequence: UInt64) -> PublishOrigin {
            PublishOrigin(instance: 5, sequence: sequence, againAfter: 10, epoch: epoch)
        }
        for (sequence, epoch) in ([1_000, 1_031, 1_032, 1_063] as [UInt64]).enumerated() {
            let origin = again(epoch, UInt64(sequence) + 1)
            _ = try broker.publish("hello", to: .message("lobby"), origin: origin, now: 100_000)
        }
        for epoch in [999, 1_064] as [UInt64] {
            #expect(throws: RTMError.self) {
                try broker.publish("hello", to: .message("lobby"), origin: again(epoch, 9), now: 100_000)
            }
        }
    }
}
