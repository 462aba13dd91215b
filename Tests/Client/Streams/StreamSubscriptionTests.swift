import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

/// Stream channels and topics in the tables that message channels are in (docs/decisions/0017).
@Suite struct StreamSubscriptionTests {
    private let room = UserChannel(type: .stream, name: "room")
    private let topics = UserChannel(type: .topics, name: "room")
    private let chat = UserChannel(type: .topic, name: "room/chat")

    @Test("L-6: no two channels have one label, and a label says which channel it is")
    func labels() {
        let channels = [
            UserChannel(type: .message, name: "room"), UserChannel(type: .message, name: "2"), room, topics,
            chat, UserChannel(type: .topic, name: "chat/room"),
        ]
        #expect(Set(channels.map(\.label)).count == channels.count)
        #expect(channels.map(\.label).map(UserChannel.init(label:)) == channels)
    }

    @Test("S-19: a return begins with the stream channel, then its topics, each with what it needs")
    mutating func restorations() throws {
        var table = SubscriptionTable()
        let position = StreamPosition(epoch: 1, offset: 7)
        try table.subscribe(
            to: chat.label, features: .message, SubscriptionDetail(publishers: ["ben"]), request: 1)
        try table.subscribe(to: topics.label, features: [.presence, .quiet], request: 2)
        try table.subscribe(
            to: room.label, features: .presence, SubscriptionDetail(token: "secret"), request: 3)
        try table.subscribe(to: "lobby", features: .message, request: 4)
        for (channel, request) in [(chat.label, 1), (topics.label, 2), (room.label, 3), ("lobby", 4)]
            as [(String, UInt64)]
        {
            #expect(table.confirm(channel, request: request, position: position, hasGap: false) == nil)
        }
        #expect(table.channels == ["lobby"], "what the app knows as channels are message channels")
        var login = Rtm_Client_Login()
        let offer = LoginOffer(channels: table.restorations, users: [], tokenBytes: 0, nextID: { 9 })
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
            to: chat.label, features: .message, SubscriptionDetail(publishers: ["ben"]), request: 1)
        _ = table.confirm(chat.label, request: 1, position: position, hasGap: false)
        try table.subscribe(
            to: chat.label, features: .message, SubscriptionDetail(publishers: ["ben", "cleo"]), request: 2)
        #expect(table.detail(of: chat.label).publishers == ["ben"])
        let hasEnded = table.abandon(chat.label, request: 2)
        #expect(!hasEnded)
        #expect(table.detail(of: chat.label).publishers == ["ben"])
        try table.subscribe(
            to: chat.label, features: .message, SubscriptionDetail(publishers: ["cleo"]), request: 3)
        let gap = table.confirm(
            chat.label, request: 3, position: StreamPosition(epoch: 2, offset: 4), hasGap: false)
        #expect(gap?.channelType == .topic && gap?.channelName == "room/chat")
        #expect(table.detail(of: chat.label).publishers == ["cleo"])
    }

    @Test("R-4: a topic has a pace of its own")
    func pace() {
        func message(_ destination: MessageDestination) -> OutgoingMessage {
            OutgoingMessage(
                payload: .text("x"), destination: destination, customType: "", storeInHistory: false)
        }
        var pacer = PublishPacer()
        let now = ContinuousClock.now
        pacer.begin(.with { ($0.targetMessages, $0.topicMessages) = (1, 200) }, now: now)
        for id in 1...100 as ClosedRange<UInt64> {
            let verdict = pacer.admit(
                id, message(.topic("chat", in: "room")), now: now, deadline: now + .seconds(10))
            #expect(verdict == .now)
        }
        _ = pacer.admit(101, message(.channel("room")), now: now, deadline: now + .seconds(10))
        let second = pacer.admit(102, message(.channel("room")), now: now, deadline: now + .seconds(10))
        #expect(second != .now)
    }
}
