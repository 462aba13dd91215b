import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMWire
import Testing

@testable import RTMMessagingServer

/// A client that lost the connection before the answer sends its publish again.
@Suite("A publish that is sent again")
struct RepeatedPublishTests {
    private var broker = Broker(limits: .limits(), firstEpoch: 1000)
    private let lobby = ChannelKey.message("lobby")

    private func origin(
        _ sequence: UInt64, instance: UInt64 = 7, after age: UInt32? = nil, epoch: UInt64 = 0
    ) -> PublishOrigin {
        PublishOrigin(instance: instance, sequence: sequence, againAfter: age, epoch: epoch)
    }

    @Test("is answered as the first time, appends nothing and is delivered to nobody")
    mutating func known() throws {
        let one = Broker.Interest(link: 1, id: 10)
        _ = try broker.attach(one, to: lobby, after: nil, now: 0)
        let first = try broker.publish("m", to: lobby, origin: origin(1), now: 100).entries
        _ = try broker.publish("other", to: lobby, origin: origin(2), now: 200)
        let again = try broker.publish("m", to: lobby, origin: origin(1, after: 150), now: 300)
        #expect(again.entries.count == 0 && again.interests.isEmpty)
        #expect(again.entries.offset == first.offset && again.entries.timestamp == first.timestamp)
        #expect(again.entries.frames.isEmpty)
        #expect(
            try broker.read(lobby, after: StreamPosition(epoch: 1000, offset: 0), now: 301).entries.count == 2
        )
    }

    @Test("M-25: is known for as long as the tail has it, also if the clock was set back before it came")
    mutating func clockSetBack() throws {
        broker = Broker(limits: .limits(segmentBytes: 1), firstEpoch: 1000)
        _ = try broker.publish("m", to: .message("hall"), origin: origin(1), now: 100_000)
        let first = try broker.publish("m", to: lobby, origin: origin(1), now: 95_000).entries
        for client in 100..<200 as Range<UInt64> {
            _ = try broker.publish("m", to: lobby, origin: origin(1, instance: client), now: 170_000)
        }
        let again = try broker.publish("m", to: lobby, origin: origin(1, after: 75_000), now: 170_001).entries
        #expect(again.count == 0 && again.offset == first.offset)
    }

    @Test("each message of a run is known by a sequence of its own")
    mutating func run() throws {
        let first = try broker.publish("m", times: 5, to: lobby, origin: origin(40), now: 100).entries
        for place in 0..<5 as Range<UInt64> {
            let again = try broker.publish("m", to: lobby, origin: origin(40 + place, after: 5), now: 200)
                .entries
            #expect(again.count == 0)
            #expect(again.offset == first.offset + place && again.timestamp == first.timestamp + place)
        }
        #expect(try broker.publish("m", to: lobby, origin: origin(45, after: 5), now: 200).entries.count == 1)
    }

    @Test("that never reached the log is appended and delivered as usual, and known from then on")
    mutating func new() throws {
        let one = Broker.Interest(link: 1, id: 10)
        _ = try broker.attach(one, to: lobby, after: nil, now: 0)
        let first = try broker.publish("m", to: lobby, origin: origin(3, after: 50), now: 100)
        #expect(first.entries.count == 1 && first.interests == [one])
        let again = try broker.publish("m", to: lobby, origin: origin(3, after: 90), now: 140)
        #expect(again.entries.count == 0 && again.entries.offset == first.entries.offset)
    }

    @Test("is not published twice when the first sending was only late, over another link")
    mutating func lateFirst() throws {
        _ = try broker.publish("m", to: lobby, origin: origin(3, after: 50), now: 100)
        _ = try broker.publish("m", to: lobby, origin: origin(4, after: 50), now: 100)
        for late in [origin(3), origin(4)] {
            #expect(throws: RTMError.self) {
                try broker.publish("m", to: lobby, origin: late, now: 7_000)
            }
        }
        #expect(try broker.publish("new", to: lobby, origin: origin(5), now: 7_000).entries.offset == 3)
        #expect(
            try broker.publish("m", to: lobby, origin: origin(1, instance: 8), now: 7_000).entries.offset == 4
        )
    }

    @Test("belongs to its channel, its client and its user")
    mutating func identity() throws {
        _ = try broker.publish("m", to: lobby, origin: origin(1), now: 100)
        let others = [
            try broker.publish("m", to: .message("hall"), origin: origin(1, after: 5), now: 101),
            try broker.publish("m", to: lobby, origin: origin(1, instance: 8, after: 5), now: 102),
            try broker.publish("m", to: lobby, by: "mallory", origin: origin(1, after: 5), now: 103),
        ]
        #expect(others.map(\.entries.count) == [1, 1, 1])
    }

    @Test("M-31: succeeds when it was accepted before, although the receiver has gone since")
    mutating func receiverGone() throws {
        let one = Broker.Interest(link: 1, id: 10)
        _ = try broker.attach(one, to: .user("bob"), after: nil, now: 0)
        let first = try broker.publish("m", to: .user("bob"), needsReceiver: true, origin: origin(1), now: 1)
        broker.detach(one, now: 3)
        let again = try broker.publish(
            "m", to: .user("bob"), needsReceiver: true, origin: origin(1, after: 5), now: 6)
        #expect(again.entries.count == 0 && again.entries.timestamp == first.entries.timestamp)
        let other = #expect(throws: RTMError.self) {
            try broker.publish(
                "m", to: .user("bob"), needsReceiver: true, origin: origin(2, after: 5), now: 7)
        }
        #expect(other?.code == .channelReceiverOffline)
    }

    @Test("M-33: is known in an inbox, too, whose owner sees his own messages")
    mutating func inbox() throws {
        let one = Broker.Interest(link: 1, id: 10)
        _ = try broker.attach(one, to: .user("bob"), after: nil, now: 0)
        let first = try broker.publish("m", to: .user("bob"), session: 0, origin: origin(1), now: 1)
        let again = try broker.publish("m", to: .user("bob"), session: 0, origin: origin(1, after: 5), now: 6)
        #expect(again.entries.count == 0 && again.entries.offset == first.entries.offset)
    }

    @Test("is refused, not published twice, when the tail doesn't reach back to when it was sent first")
    mutating func unknown() throws {
        broker = Broker(limits: .limits(ageMax: 2_500, segmentBytes: 1), firstEpoch: 1000)
        for now in 1...5 as ClosedRange<UInt64> {
            _ = try broker.publish("m", to: lobby, origin: origin(now), now: now * 1000)
        }
        broker.sweep(100, now: 5_000)
        // Entry 2, of second 2, is the newest that is gone. Ten seconds are allowed for the way to the log.
        let refusal = #expect(throws: RTMError.self) {
            try broker.publish("m", to: lobby, origin: origin(1, after: 4_000), now: 5_000)
        }
        #expect(refusal?.code == .channelPublishMessageFailed)
        #expect(refusal?.reason.contains("unknown") == true)
        #expect(throws: RTMError.self) {
            try broker.publish("m", to: lobby, origin: origin(9, instance: 8, after: 1_000), now: 13_000)
        }
        #expect(
            try broker.publish("m", to: lobby, origin: origin(9, instance: 8, after: 1_000), now: 13_001)
                .entries.count == 1)
        let newer = try broker.publish("m", to: lobby, origin: origin(6, after: 9_000), now: 13_001)
        #expect(newer.entries.count == 1, "it is newer than all that the client is known to have sent")
        #expect(
            try broker.publish("m", to: lobby, origin: origin(5, after: 99_000), now: 13_002).entries.count
                == 0)
    }

    @Test("is refused as unknown when the logs began anew since: the old ones may have had it")
    mutating func newEpoch() throws {
        var successor = Broker(limits: .limits(), firstEpoch: 2000)
        let inbox = try successor.attach(.init(link: 1, id: 1), to: .user("anna"), after: nil, now: 90)
        for channel in [lobby, .message("hall")] {
            if channel == lobby { _ = try successor.publish("m", to: channel, now: 100) }
            let refusal = #expect(throws: RTMError.self) {
                try successor.publish("m", to: channel, origin: origin(1, after: 50, epoch: 1000), now: 150)
            }
            #expect(refusal?.code == .channelPublishMessageFailed)
            #expect(refusal?.reason.contains("unknown") == true)
        }
        let (own, unknown) = (inbox.position.epoch, 0 as UInt64)
        for (sequence, epoch) in [(2, own), (3, unknown)] as [(UInt64, UInt64)] {
            let origin = origin(sequence, after: 50, epoch: epoch)
            #expect(try successor.publish("m", to: lobby, origin: origin, now: 150).entries.count == 1)
        }
    }

    @Test("M-25: after one of several shards has begun anew, only what was sent before that is refused there")
    func shardBegunAnew() throws {
        let limits = (0..<4).map { BrokerLimits.limits(partitionCount: 16).share(of: $0, among: 4) }
        var shards = limits.map { Broker(limits: $0, firstEpoch: $0.firstEpoch(from: 1_000), now: 0) }
        let anew = 2
        shards[anew] = Broker(limits: limits[anew], firstEpoch: 9_000_000, now: 1_000_000)
        let channels = (0..<192).map { ChannelKey.message("c\($0)") }
        var sequence: UInt64 = 0
        /// How many channels of a shard refuse what a client sends once more that knows this epoch.
        func refused(by shard: Int, _ epoch: UInt64, after age: UInt32, now: UInt64) -> Int {
            channels.filter { $0.shard(among: 4) == shard }.count { channel in
                sequence += 1
                let origin = origin(sequence, after: age, epoch: epoch)
                let answer = try? shards[shard].publish("m", to: channel, origin: origin, now: now)
                return answer?.entries.count != 1
            }
        }
        // The inboxes of clients that have been there since yesterday, and of those who log in now.
        let old = limits.map { $0.firstEpoch(from: 1_000) }
        let new = try shards.indices.map {
            try shards[$0].attach(.init(link: 1, id: 1), to: .user("anna"), after: nil, now: 1_000_000)
                .position.epoch
        }
        for shard in shards.indices {
            let count = channels.count { $0.shard(among: 4) == shard }
            #expect(count > 20)
            for epoch in old + new {
                // Whether the lost logs had it nobody knows. The other shards know.
                let isUnknown = shard == anew && epoch != new[anew]
                let early = refused(by: shard, epoch, after: 20_000, now: 1_015_000)
                #expect(early == (isUnknown ? count : 0))
            }
            for epoch in old + new {
                #expect(refused(by: shard, epoch, after: 5_000, now: 1_015_001) == 0)
            }
            for epoch in old + new {
                #expect(refused(by: shard, epoch, after: 100_000, now: 2_000_000) == 0)
            }
        }
    }

    @Test("is answered though the logs began anew since, if it is in the new one")
    mutating func foundInNewEpoch() throws {
        let first = try broker.publish("m", to: lobby, origin: origin(1), now: 100).entries
        let again = try broker.publish("m", to: lobby, origin: origin(1, after: 5, epoch: 77), now: 110)
        #expect(again.entries.count == 0 && again.entries.offset == first.offset)
    }

    @Test("is refused when newer messages of its client are in the log: nobody sees them in another order")
    mutating func behindNewer() throws {
        _ = try broker.publish("m", times: 3, to: lobby, origin: origin(5), now: 100)
        _ = try broker.publish("m", to: lobby, origin: origin(9, instance: 8), now: 100)
        for late in [origin(4), origin(4, after: 50), origin(7), origin(9, instance: 8)] {
            let refusal = #expect(throws: RTMError.self) {
                try broker.publish("m", to: lobby, origin: late, now: 9_000)
            }
            #expect(refusal?.code == .channelPublishMessageFailed)
            #expect(refusal?.reason.contains("late") == true)
        }
        #expect(
            try broker.publish("m", to: .message("hall"), origin: origin(4), now: 9_000).entries.count == 1)
        #expect(try broker.publish("m", to: lobby, origin: origin(8), now: 9_000).entries.offset == 6)
    }

    @Test("M-25: the first copy, seconds late, isn't published again although the tail has turned over")
    mutating func lateBehindTurnedTail() throws {
        broker = Broker(limits: .limits(ageMax: 500, segmentBytes: 1), firstEpoch: 1000)
        for (sequence, now) in [(1, 1_000), (2, 1_100), (3, 1_200)] as [(UInt64, UInt64)] {
            let isSecond = sequence == 2
            let origin = origin(sequence, after: isSecond ? 90 : nil)
            _ = try broker.publish("m", to: lobby, origin: origin, now: now)
        }
        for now in 1..<100 as Range<UInt64> {
            _ = try broker.publish("m", to: lobby, by: "bob", origin: origin(now, instance: 8), now: 2_000)
        }
        broker.sweep(200, now: 2_400)
        for late in [2, 3] as [UInt64] {
            let refusal = #expect(throws: RTMError.self) {
                try broker.publish("m", to: lobby, origin: origin(late), now: 10_000)
            }
            #expect(refusal?.code == .channelPublishMessageFailed)
        }
    }

    @Test("M-25: what a forgotten log may have had is refused as unknown, with and without a new log")
    mutating func forgottenLog() throws {
        broker = Broker(limits: .limits(ageMax: 150_000, idleMax: 150_000), firstEpoch: 1000)
        _ = try broker.publish("m", to: lobby, origin: origin(1), now: 1_000)
        broker.sweep(10, now: 160_000)
        #expect(broker.channelCount == 0)
        for isThereALog in [false, true] {
            if isThereALog {
                _ = try broker.attach(.init(link: 1, id: 1), to: lobby, after: nil, now: 160_500)
            }
            let refusal = #expect(throws: RTMError.self) {
                let repeated = origin(1, after: 160_000, epoch: 1000)
                return try broker.publish("m", to: lobby, origin: repeated, now: 161_000)
            }
            #expect(refusal?.code == .channelPublishMessageFailed)
            #expect(refusal?.reason.contains("unknown") == true)
        }
        let recent = origin(2, after: 60_000, epoch: 1000)
        #expect(try broker.publish("m", to: lobby, origin: recent, now: 161_000).entries.count == 1)
    }

    @Test("M-25: another user who names the same instance gets nobody's messages refused, nor answered")
    mutating func sameInstance() throws {
        _ = try broker.publish("m", to: lobby, by: "mallory", origin: origin(1 << 40), now: 100)
        let first = try broker.publish("m", to: lobby, by: "anna", origin: origin(5), now: 101).entries
        #expect(first.count == 1)
        let again = try broker.publish("m", to: lobby, by: "anna", origin: origin(5, after: 9), now: 110)
        #expect(again.entries.count == 0 && again.entries.offset == first.offset)
        #expect(try broker.publish("m", to: lobby, by: "bob", origin: origin(5), now: 111).entries.count == 1)
    }

    @Test("needs an instance and a sequence, and comes alone")
    mutating func invalid() {
        let wrong = [origin(0, after: 1), origin(1, instance: 0, after: 1)]
        for origin in wrong {
            let refusal = #expect(throws: RTMError.self) {
                try broker.publish("m", to: lobby, origin: origin, now: 1)
            }
            #expect(refusal?.code == .invalidParameter)
        }
        #expect(throws: RTMError.self) {
            try broker.publish("m", times: 2, to: lobby, origin: origin(1, after: 1), now: 1)
        }
        #expect(broker.channelCount == 0)
    }
}
