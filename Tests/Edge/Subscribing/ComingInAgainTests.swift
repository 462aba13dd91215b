import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// A subscriber that asks for other features, or gets a new snapshot, while messaging can't be read: it
/// misses nothing and gets no gap, for the log has everything (docs/decisions/0010).
@Suite("Coming in again while messaging can't be read") struct ComingInAgainTests {
    private let fixture = EdgeFixture()

    @Test("M-5: reads that time out are repeated; the request is answered, then comes what was missed")
    func reads() {
        let (anna, ben) = subscribers()
        fixture.messaging.ignored = [MessagingMethod.read.number]
        comeInAgain(anna, whileWrites: ben)
        fixture.pass(.milliseconds(4_990))
        #expect(anna.take().isEmpty)
        fixture.pass(.milliseconds(20))
        let answered = anna.take()
        #expect(answered.map(\.requestID) == [5, 0], "and the snapshot")
        #expect(answered.first?.subscribed.gap == false)
        #expect(answered.first?.subscribed.position.offset == 1)
        ben.publish(7, "third")
        fixture.pass(.seconds(20))
        #expect(anna.take().isEmpty, "what follows waits behind what was missed")
        fixture.messaging.ignored = []
        fixture.pass(.seconds(7))
        #expect(anna.texts() == ["second", "third"])
        ben.publish(8, "fourth")
        #expect(anna.texts() == ["fourth"])
        fixture.end()
    }

    @Test("M-5: so it is when the link is lost meanwhile, and attaching the channel again fails at first")
    func linkLost() {
        let (anna, ben) = subscribers()
        fixture.messaging.ignored = [MessagingMethod.read.number]
        comeInAgain(anna, whileWrites: ben)
        fixture.messaging.ignored = [MessagingMethod.attach.number]
        fixture.messaging.cutLinks()
        fixture.pass(.seconds(15))
        let answered = anna.take()
        #expect(answered.map(\.requestID) == [5, 0])
        #expect(answered.first?.subscribed.gap == false)
        fixture.messaging.ignored = []
        fixture.pass(.seconds(7))
        #expect(anna.texts() == ["second"])
        ben.publish(7, "third")
        #expect(anna.texts() == ["third"])
        fixture.end()
    }

    @Test("P-4, S-19: what can't be restored for the moment is no leave; the next sync leaves it out")
    func notRestored() throws {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        ben.subscribe(3, "lobby")
        fixture.presence.answerJoin(["ben"])
        fixture.pass()
        let position = try #require(ben.take().first).subscribed.position
        ben.publish(4, "missed")
        fixture.pass()
        fixture.messaging.ignored = [MessagingMethod.read.number]
        anna.send(
            3,
            .subscribe(
                .with {
                    ($0.channel, $0.after) = ("lobby", position)
                    $0.features = SubscriptionFeatures([.message, .presence]).rawValue
                }))
        fixture.presence.answerJoin(["anna", "ben"])
        fixture.pass()
        fixture.messaging.cutLinks()
        fixture.pass(.seconds(1))
        let refusal = anna.take().first { $0.requestID == 3 }?.error
        #expect(refusal?.code == .errorChannelSubscribeFailed, "\(String(describing: refusal))")
        #expect(fixture.presence.leaves.isEmpty)
        fixture.pass(.seconds(5))
        fixture.renewLease(isKnown: true)
        let announced = fixture.presence.syncs.last?.memberships.map(\.caller.userID)
        #expect(announced == ["ben"])
        fixture.end()
    }

    @Test("who unsubscribes or goes meanwhile is let go, and nothing is left of the channel")
    func leaves() {
        let (anna, ben) = subscribers()
        fixture.messaging.ignored = [MessagingMethod.read.number]
        comeInAgain(anna, whileWrites: ben)
        fixture.pass(.seconds(6))
        _ = anna.take()
        anna.send(9, .unsubscribe(.with { $0.channel = "lobby" }))
        #expect(anna.take().map(\.requestID) == [9])
        ben.vanish()
        fixture.messaging.ignored = []
        fixture.pass(.seconds(10))
        #expect(anna.take().isEmpty)
        #expect(fixture.edge.subscribing.channelCount == 1, "Anna's inbox")
        fixture.end()
    }

    @Test("P-1: who stood still while others got new snapshots of who is there gets one, too")
    func refreshed() {
        let (anna, ben) = subscribers()
        fixture.messaging.ignored = [MessagingMethod.read.number]
        comeInAgain(anna, whileWrites: ben)
        fixture.pass(.seconds(6))
        _ = anna.take()
        // Presence has forgotten everything, and everybody gets what it knows then.
        fixture.renewLease(isKnown: false)
        fixture.presence.answerSync()
        fixture.presence.forget()
        fixture.pass(.milliseconds(5_100))
        #expect(fixture.presence.joins.isEmpty, "Ben doesn't want any, Anna isn't there")
        fixture.messaging.ignored = []
        fixture.pass(.seconds(7))
        #expect(anna.texts() == ["second"])
        while fixture.presence.joins.isEmpty, fixture.presence.leases.count < 5 {
            fixture.renewLease(isKnown: true)
            fixture.presence.answerSync()
            fixture.pass(.seconds(5))
        }
        #expect(fixture.presence.joins.map(\.wantsSnapshot) == [true])
        fixture.end()
    }

    // MARK: -

    /// Both in the lobby, for messages, and Anna has seen the first one.
    private func subscribers() -> (anna: EdgeClient, ben: EdgeClient) {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        for client in [anna, ben] {
            client.subscribe(3, "lobby", .message)
            fixture.presence.answerJoin()
            fixture.pass()
        }
        ben.publish(4, "first")
        #expect(anna.texts() == ["first"])
        _ = ben.take()
        return (anna, ben)
    }

    /// Something is published before presence has answered.
    private func comeInAgain(_ anna: EdgeClient, whileWrites ben: EdgeClient) {
        anna.subscribe(5, "lobby")
        ben.publish(6, "second")
        fixture.presence.answerJoin(["anna", "ben"])
        fixture.pass()
    }
}

extension EdgeClient {
    func publish(_ id: UInt64, _ text: String, in channel: String = "lobby") {
        send(
            id,
            .publish(
                .with {
                    ($0.channelType, $0.channel) = (.message, channel)
                    $0.payload = Data(text.utf8)
                    $0.sequence = id
                }))
    }

    /// Of the messages since the last time; a gap among them would be one of these, too.
    fileprivate func texts() -> [String] {
        take().compactMap { frame in
            switch frame.body {
            case .publication(let publication): String(decoding: publication.message.payload, as: UTF8.self)
            case .gap: "a gap"
            default: nil
            }
        }
    }
}
