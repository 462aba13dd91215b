import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

/// Stream channels and topics in the tables that message channels are in (docs/decisions/0017).
@Suite struct StreamSubscriptionTests {
    private let room = ChannelID(type: .stream, name: "room")
    private let topics = ChannelID(type: .topics, name: "room")
    private let chat = ChannelID(type: .topic, name: "room/chat")

    @Test("L-6: a name is another channel with another type, and a stream channel comes before its topics")
    func identities() {
        let channels: [ChannelID] = [
            .message("room"), .message("2"), room, topics, chat, .topic(TopicName("room", in: "chat")),
            .userMetadata("room"),
        ]
        #expect(Set(channels).count == channels.count)
        #expect([chat, .message("a"), topics, room].sorted() == [room, topics, chat, .message("a")])
    }

    @Test("S-19: a return begins with the stream channel, then its topics, each with what it needs")
    mutating func restorations() throws {
        var table = SubscriptionTable()
        let position = StreamPosition(epoch: 1, offset: 7)
        try table.subscribe(
            to: chat, features: .message, SubscriptionDetail(publishers: ["ben"]), request: 1)
        try table.subscribe(to: topics, features: [.presence, .quiet], request: 2)
        try table.subscribe(
            to: room, features: .presence, SubscriptionDetail(token: "secret"), request: 3)
        try table.subscribe(to: .message("lobby"), features: .message, request: 4)
        for (channel, request) in [(chat, 1), (topics, 2), (room, 3), (.message("lobby"), 4)]
            as [(ChannelID, UInt64)]
        {
            #expect(table.confirm(channel, request: request, position: position, hasGap: false) == nil)
        }
        #expect(table.channels == ["lobby"], "what the app knows as channels are message channels")
        var login = Rtm_Client_Login()
        let offer = LoginOffer(channels: table.channelRestorations, users: [], tokenBytes: 0, nextID: { 9 })
        offer.add(to: &login)
        #expect(login.subscriptions.map(\.channelType) == [.stream, .topics, .topic, .none])
        #expect(login.subscriptions.map(\.channel) == ["room", "room", "room/chat", "lobby"])
        #expect(login.subscriptions.map(\.features) == [1, 17, 0, 4])
        #expect(login.subscriptions[0].token == "secret" && login.subscriptions[2].publishers == ["ben"])
        #expect(login.subscriptions.allSatisfy { $0.after.offset == 7 && $0.requestID == 9 })
    }

    @Test("C-9: publishers are those of the last subscribe that the server has confirmed")
    func publishers() throws {
        var table = SubscriptionTable()
        let position = StreamPosition(epoch: 1, offset: 0)
        try table.subscribe(
            to: chat, features: .message, SubscriptionDetail(publishers: ["ben"]), request: 1)
        _ = table.confirm(chat, request: 1, position: position, hasGap: false)
        try table.subscribe(
            to: chat, features: .message, SubscriptionDetail(publishers: ["ben", "cleo"]), request: 2)
        #expect(table.detail(of: chat).publishers == ["ben"])
        let hasEnded = table.abandon(chat, request: 2)
        #expect(!hasEnded)
        #expect(table.detail(of: chat).publishers == ["ben"])
        try table.subscribe(
            to: chat, features: .message, SubscriptionDetail(publishers: ["cleo"]), request: 3)
        let gap = table.confirm(
            chat, request: 3, position: StreamPosition(epoch: 2, offset: 4), hasGap: false)
        #expect(gap?.channelType == .topic && gap?.channelName == "room/chat")
        #expect(table.detail(of: chat).publishers == ["cleo"])
    }

    @Test("R-4: a topic has a pace of its own")
    func pace() {
        func message(_ destination: MessageDestination) -> OutgoingMessage {
            OutgoingMessage(
                payload: .text("x"), destination: destination, customType: "", storeInHistory: false)
        }
        var queue = PublishQueue()
        let now = ContinuousClock.now
        queue.pace(.with { ($0.targetMessages, $0.topicMessages) = (1, 200) }, now: now)
        for id in 1...100 as ClosedRange<UInt64> {
            let verdict = queue.admit(
                id, message(.topic("chat", in: "room")), now: now, deadline: now + .seconds(10))
            #expect(verdict == .now)
        }
        _ = queue.admit(101, message(.channel("room")), now: now, deadline: now + .seconds(10))
        let second = queue.admit(102, message(.channel("room")), now: now, deadline: now + .seconds(10))
        #expect(second != .now)
    }
}
