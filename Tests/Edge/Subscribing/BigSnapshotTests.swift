import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// Channels with so many users that their snapshots come from presence in parts, and clients that read slowly
/// what they have asked for.
@Suite("Big snapshots and slow readers") struct BigSnapshotTests {
    private func users(_ frames: [Rtm_Client_ServerFrame]) -> [[String]] {
        frames.filter { $0.requestID == 0 }.map { $0.presenceSnapshot.users.map(\.userID) }
    }

    @Test("P-27: a big snapshot is read once for all who wait for it, and again for who comes meanwhile")
    func shared() {
        let fixture = EdgeFixture()
        let presence = fixture.presence
        let clients = ["anna", "ben", "cleo"].map { fixture.client($0) }
        for client in clients.prefix(2) { client.subscribe(3, "lobby") }
        for _ in 1...2 { presence.answerJoinTooBig() }
        fixture.pass()
        #expect(presence.rosters == [RosterRequest(channel: fixture.key("lobby"))])
        // Ben has joined after that was asked for, and so has cleo, who comes amid it.
        presence.answerRoster(["anna"], in: "lobby", next: 77)
        fixture.pass()
        clients[2].subscribe(3, "lobby")
        presence.answerJoinTooBig()
        fixture.pass()
        #expect(presence.rosters.map(\.snapshot) == [0, 77])
        presence.answerRoster(["zoe"], in: "lobby")
        fixture.pass()
        let first = clients[0].take()
        #expect(first.map(\.requestID) == [3, 0, 0] && users(first) == [["anna"], ["zoe"]])
        #expect(first.first?.subscribed.featuresUnavailable == 0)
        #expect(clients[1].take().isEmpty, "subscribed means that the snapshot comes right behind")
        #expect(presence.rosters.map(\.snapshot) == [0, 77, 0])
        presence.answerRoster(["anna", "ben", "cleo"], in: "lobby")
        fixture.pass()
        for client in clients.dropFirst() { #expect(users(client.take()) == [["anna", "ben", "cleo"]]) }
        #expect(presence.rosters.count == 3)
        fixture.end()
    }

    @Test("a part that can't be had: the subscribe succeeds without presence, and a snapshot comes later")
    func failedPart() {
        let fixture = EdgeFixture()
        let presence = fixture.presence
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby")
        presence.answerJoinTooBig()
        fixture.pass()
        presence.answerRoster(["anna"], in: "lobby", next: 77)
        fixture.pass()
        presence.refuse(PresenceMethod.roster.number, RTMError(.presenceOperationFailed, "gone"))
        fixture.pass()
        let answer = anna.take()
        #expect(answer.map(\.requestID) == [3])
        #expect(answer.first?.subscribed.featuresUnavailable == SubscriptionFeatures.presence.rawValue)
        // The next renewal of the lease. Presence knows the member, so it isn't told of everybody.
        presence.forget()
        fixture.pass(.seconds(6))
        fixture.renewLease(isKnown: true)
        #expect(presence.syncs.isEmpty)
        presence.answerJoinTooBig()
        fixture.pass()
        presence.answerRoster(["anna"], in: "lobby")
        fixture.pass()
        #expect(users(anna.take()) == [["anna"]])
        fixture.end()
    }

    @Test("L-42, R-18: big snapshots are read one after the other, when the client has read the one before")
    func slowReader() {
        let fixture = EdgeFixture()
        let presence = fixture.presence
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        anna.isReading = false
        let channels = ["lobby", "hall", "attic"]
        for (index, channel) in channels.enumerated() {
            anna.subscribe(UInt64(3 + index), channel)
            presence.answerJoinTooBig()
            fixture.pass()
            // Two of them are more than may wait for a client.
            presence.answerRoster((100..<800).map { "u\($0)" }, in: channel, stateBytes: 1_000)
            fixture.pass()
        }
        ben.publish(7, "live")
        #expect(anna.take().isEmpty && anna.isOpen)
        #expect(presence.rosters.map(\.channel.name) == ["lobby"], "the others aren't even asked for")
        #expect(fixture.edge.outboundMemory.bytes < 1 << 20)
        anna.isReading = true
        fixture.pass()
        for channel in channels.dropFirst() {
            #expect(presence.rosters.last?.channel.name == channel)
            presence.answerRoster((100..<800).map { "u\($0)" }, in: channel, stateBytes: 1_000)
            fixture.pass()
        }
        let frames = anna.take()
        // All are answered behind the first snapshot, whatever time the others take.
        #expect(frames.map(\.requestID) == [3, 0, 4, 5, 0, 0, 0])
        #expect(frames.dropFirst(4).first?.publication.message.payload == Data("live".utf8))
        let snapshots = frames.filter { !$0.presenceSnapshot.users.isEmpty }.map(\.presenceSnapshot.channel)
        #expect(snapshots == channels)
        #expect(fixture.edge.outboundMemory.bytes == 0)
        ben.publish(8, "later")
        #expect(anna.take().map(\.publication.message.payload) == [Data("later".utf8)])
        fixture.end()
    }

    @Test("R-18: those who share a snapshot hold it once, and it is let go with the last of them")
    func sharedMemory() {
        let fixture = EdgeFixture()
        let clients = (1...20).map { fixture.client("user \($0)") }
        for client in clients {
            client.isReading = false
            client.subscribe(3, "lobby")
            fixture.presence.answerJoinTooBig()
        }
        fixture.pass()
        // The first one asked before the others had come.
        for _ in 1...2 {
            fixture.presence.answerRoster((100..<900).map { "u\($0)" }, in: "lobby", stateBytes: 1_000)
            fixture.pass()
        }
        #expect(fixture.presence.rosters.count == 2)
        #expect(clients.allSatisfy { $0.waitingBytes > 800_000 })
        // The fixture has no sockets, so what was handed on counts for each.
        let whole = fixture.edge.outboundMemory.bytes
        #expect(whole > 1_600_000)
        for client in clients.dropFirst() { client.vanish() }
        #expect(fixture.edge.outboundMemory.bytes < whole - 800_000)
        clients[0].vanish()
        #expect(fixture.edge.outboundMemory.bytes == 0)
        fixture.end()
    }

    @Test("R-18: without memory a big snapshot can't be had, and the subscribe says so")
    func noMemory() {
        let fixture = EdgeFixture(outboundBytes: 500_000)
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby")
        fixture.presence.answerJoinTooBig()
        fixture.pass()
        fixture.presence.answerRoster((100..<800).map { "u\($0)" }, in: "lobby", stateBytes: 1_000, next: 77)
        fixture.pass()
        #expect(fixture.presence.rosters.count == 1, "no further part is asked for")
        let answer = anna.take()
        #expect(answer.map(\.requestID) == [3])
        #expect(answer.first?.subscribed.featuresUnavailable == SubscriptionFeatures.presence.rawValue)
        #expect(fixture.edge.outboundMemory.bytes == 0)
        fixture.end()
    }

    @Test("what a slow reader missed comes page by page as it reads; it is not cut off for coming back")
    func slowCatchUp() {
        let fixture = EdgeFixture(bytesMax: 8 << 20)
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        ben.subscribe(3, "lobby", .message)
        fixture.presence.answerJoin()
        fixture.pass()
        let start = ben.take().first?.subscribed.position
        let texts = (100..<180).map { "\($0)" + String(repeating: ".", count: 30_000) }
        for (index, text) in texts.enumerated() { ben.publish(UInt64(10 + index), text) }
        anna.isReading = false
        anna.send(
            4,
            .subscribe(
                .with {
                    ($0.channel, $0.features) = ("lobby", SubscriptionFeatures.message.rawValue)
                    $0.after = start ?? .init()
                }))
        fixture.presence.answerJoin()
        fixture.pass(.seconds(1))
        #expect(anna.take().isEmpty && anna.isOpen)
        ben.publish(200, "last")
        anna.isReading = true
        fixture.pass(.seconds(1))
        let frames = anna.take()
        #expect(frames.map(\.requestID) == [4] + (texts + ["last"]).map { _ in 0 })
        let received = frames.dropFirst().map(\.publication.message.payload)
        #expect(received == (texts + ["last"]).map { Data($0.utf8) })
        fixture.end()
    }

    @Test("a page that waits for room begins where its channel's answer says, and nothing of it is lost")
    func heldPage() {
        let fixture = EdgeFixture(bytesMax: 8 << 20)
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        let channels = ["attic", "hall"]
        for (index, channel) in channels.enumerated() {
            ben.subscribe(UInt64(3 + index), channel, .message)
            fixture.presence.answerJoin()
            fixture.pass()
        }
        let starts = ben.take().map(\.subscribed.position)
        let texts = (100..<120).map { "\($0)" + String(repeating: ".", count: 30_000) }
        for (index, text) in (texts + texts).enumerated() {
            ben.publish(UInt64(10 + index), text, in: channels[index / texts.count])
        }
        anna.isReading = false
        for (index, channel) in channels.enumerated() {
            anna.send(
                UInt64(4 + index),
                .subscribe(
                    .with {
                        ($0.channel, $0.features) = (channel, SubscriptionFeatures.message.rawValue)
                        $0.after = starts[index]
                    }))
        }
        // Both are let in at once, so both read their first page.
        for _ in channels { fixture.presence.answerJoin() }
        fixture.pass(.seconds(1))
        anna.isReading = true
        fixture.pass(.seconds(1))
        let frames = anna.take()
        #expect(frames.filter { $0.requestID != 0 }.map(\.subscribed.position) == starts)
        for channel in channels {
            let received = frames.filter { $0.publication.channel == channel }
            #expect(received.map(\.publication.message.payload) == texts.map { Data($0.utf8) })
        }
        #expect(frames.count == 2 + 2 * texts.count, "and nothing else")
        fixture.end()
    }

    @Test("who ends while its snapshot waits for room is let go, and nothing is left of the channel")
    func endsWhileWaiting() {
        let fixture = EdgeFixture()
        let presence = fixture.presence
        let anna = fixture.client("anna")
        anna.isReading = false
        for (id, channel) in [(3, "lobby"), (4, "hall")] as [(UInt64, String)] {
            anna.subscribe(id, channel)
            presence.answerJoinTooBig()
            fixture.pass()
            presence.answerRoster(["u"], in: channel, stateBytes: 100_000)
            fixture.pass()
        }
        #expect(fixture.edge.subscribing.channelCount == 3, "with the inbox")
        anna.vanish()
        #expect(presence.ends.map(\.end) == [.lost])
        #expect(fixture.edge.subscribing.channelCount == 0)
        fixture.end()
    }
}
