import Foundation
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// What others show in channels is no reason to cut off a client that reads slowly (P-28).
@Suite("Presence that is withheld") struct WithheldPresenceTests {
    private let fixture = EdgeFixture()
    private let channels = (1...8).map { "hall \($0)" }
    private var presence: FakeService { fixture.presence }

    private func subscribe(_ client: EdgeClient, to channels: [String]) {
        for (number, channel) in channels.enumerated() {
            client.subscribe(UInt64(10 + number), channel)
            presence.answerJoin(["before"], in: channel)
            fixture.pass()
        }
        _ = client.take()
        presence.forget()
    }

    /// As presence does at the end of a period: eight events, with 256 KiB of states in all.
    private func announceStates(in channel: String) {
        for part in 0..<8 {
            let items = [StateItem(key: "k", value: String(repeating: "x", count: 32_000))]
            let change = StateChange(userID: "mallory \(part)", items: items)
            fixture.messaging.append(
                .interval(PresenceInterval(states: [change])), to: fixture.key(channel))
            fixture.pass()
        }
    }

    private func publish(_ text: String, in channel: String, by client: EdgeClient) {
        client.send(
            99,
            .publish(
                .with {
                    ($0.channelType, $0.channel, $0.payload) = (.message, channel, Data(text.utf8))
                }))
        fixture.pass()
        _ = client.take()
    }

    /// The channels of the events of presence, in their order.
    private func announced(_ frames: [Rtm_Client_ServerFrame]) -> [String] {
        frames.compactMap { frame in
            guard case .presence = frame.publication.event else { return nil }
            return frame.publication.channel
        }
    }

    @Test("P-28: a client that doesn't read what others show in eight big channels stays, and gets snapshots")
    func slowMember() {
        let (anna, ben, cleo) = (fixture.client("anna"), fixture.client("ben"), fixture.client("cleo"))
        for client in [anna, cleo] { subscribe(client, to: channels) }
        anna.isReading = false
        for channel in channels {
            announceStates(in: channel)
            publish("in \(channel)", in: channel, by: ben)
        }
        #expect(anna.isOpen && anna.waitingBytes < 400_000)
        #expect(announced(cleo.take()).count == 64, "who reads gets everything")
        #expect(presence.joins.isEmpty, "nothing is read that she couldn't take")
        anna.isReading = true
        fixture.pass()
        let read = anna.take()
        #expect(read.map { $0.publication.message.payload }.filter { !$0.isEmpty }.count == 8)
        let lacking = Set(channels).subtracting(
            channels.filter { channel in
                announced(read).count { $0 == channel } == 8
            })
        #expect(lacking.count >= 6)
        // Until its turn comes a channel's presence is left out, and its messages aren't.
        fixture.messaging.append(.interval(PresenceInterval(joined: ["zoe"])), to: fixture.key(channels[7]))
        publish("meanwhile", in: channels[7], by: ben)
        let meanwhile = anna.take()
        #expect(meanwhile.map(\.publication.message.payload) == [Data("meanwhile".utf8)])
        // One after the other, and without waiting for the next renewal of the lease.
        for round in 1...lacking.count {
            #expect(presence.joins.count == round)
            let channel = presence.joins.last?.channel.name ?? ""
            #expect(presence.joins.last?.wantsSnapshot == true)
            presence.answerJoin(["after"], in: channel)
            fixture.pass()
        }
        let snapshots = anna.take().map(\.presenceSnapshot)
        #expect(snapshots.map(\.channel).sorted() == lacking.sorted())
        #expect(snapshots.allSatisfy { $0.users.map(\.userID) == ["after"] })
        #expect(presence.joins.count == lacking.count)
        // She is as before.
        for channel in channels {
            fixture.messaging.append(.interval(PresenceInterval(joined: ["zoe"])), to: fixture.key(channel))
            fixture.pass()
        }
        #expect(announced(anna.take()) == channels)
        fixture.end()
    }

    @Test("P-28: whatever presence waits for a client, its messages may take all that R-18 gives them")
    func messagesBeside() {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        subscribe(anna, to: channels)
        anna.isReading = false
        announceStates(in: channels[0])
        #expect(anna.waitingBytes > 250_000)
        for number in 0..<33 { ben.publish(UInt64(20 + number), to: channels[1], bytes: 30_000) }
        #expect(anna.isOpen && anna.waitingBytes > 1 << 20)
        for number in 0..<3 { ben.publish(UInt64(60 + number), to: channels[1], bytes: 30_000) }
        anna.isReading = true
        fixture.pass()
        #expect(anna.take().last?.disconnect.code == .disconnectSlowConsumer)
        fixture.end()
    }

    @Test("P-28: a batch that goes out early, because somebody comes in, makes no exception")
    func earlyFanOut() {
        let (anna, zoe) = (fixture.client("anna"), fixture.client("zoe"))
        subscribe(anna, to: channels)
        anna.isReading = false
        announceStates(in: channels[0])
        for part in 0..<40 {
            // She comes in in the turn in which the event arrives.
            zoe.subscribe(UInt64(100 + part), channels[1], part.isMultiple(of: 2) ? .message : .presence)
            let item = StateItem(key: "\(part)", value: String(repeating: "x", count: 32_000))
            fixture.messaging.append(
                .statesChanged(StateChange(items: [item])), to: fixture.key(channels[1]))
            presence.answerJoin(in: channels[1])
            fixture.pass()
        }
        presence.forget()
        #expect(anna.isOpen && anna.waitingBytes < 400_000)
        anna.isReading = true
        fixture.pass()
        #expect(anna.isOpen && presence.joins.map(\.channel.name) == [channels[1]])
        fixture.end()
    }

    @Test("P-28: a channel that is left gets no snapshot, and a session that has ended none at all")
    func left() {
        let anna = fixture.client("anna")
        subscribe(anna, to: channels)
        anna.isReading = false
        for channel in channels { announceStates(in: channel) }
        for channel in channels.dropLast() { anna.send(50, .unsubscribe(.with { $0.channel = channel })) }
        anna.isReading = true
        fixture.pass()
        #expect(presence.joins.map(\.channel.name) == [channels[7]])
        presence.forget()
        anna.isReading = false
        for _ in 0..<2 { announceStates(in: channels[7]) }
        anna.vanish()
        fixture.pass()
        #expect(presence.joins.isEmpty)
        fixture.end()
    }
}

/// Which channel of a session gets the next snapshot.
@Suite("Presence that is withheld: the queue") struct WithheldPresenceQueueTests {
    private let anna = SessionKey(id: SessionID(rawValue: 1), slot: 0)

    @Test("the channels of a session have their turns in order, each after the one before")
    func order() {
        var withheld = WithheldPresence()
        let awaited = [3, 5, 3].map { withheld.add(anna, at: $0) }
        #expect(awaited == [true, false, false], "the client is awaited once")
        #expect(withheld.contains(anna, at: 3) && withheld.contains(anna, at: 5))
        let first = withheld.next(of: anna)
        #expect(first == 3 && !withheld.contains(anna, at: 3))
        // Behind again, while the snapshot of that channel is on its way.
        let isAwaited = withheld.add(anna, at: 3)
        let isOther = withheld.refreshed(anna, at: 5)
        #expect(!isAwaited && !isOther, "channel 5 has got a snapshot for another reason")
        let isDone = withheld.refreshed(anna, at: 3)
        let second = withheld.next(of: anna)
        #expect(isDone && second == 5)
        withheld.left(anna, 3)
        let isSecondDone = withheld.refreshed(anna, at: 5)
        let third = withheld.next(of: anna)
        #expect(isSecondDone && third == nil)
        let beginsAnew = withheld.add(anna, at: 7)
        #expect(beginsAnew)
        withheld.ended(anna)
        let afterTheEnd = withheld.next(of: anna)
        #expect(afterTheEnd == nil && !withheld.contains(anna, at: 7))
    }
}
