import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// Stream channels and topics at one loop of an edge, with a real messaging node.
@Suite("Stream channels at an edge")
struct EdgeStreamTests {
    private let fixture = EdgeFixture()

    private func subscribe(
        _ client: EdgeClient, _ id: UInt64, _ type: Rtm_Client_ChannelType, _ name: String,
        features: UInt32 = 0, publishers: [String] = [], after: Rtm_Client_StreamPosition? = nil
    ) {
        client.send(
            id,
            .subscribe(
                .with {
                    ($0.channelType, $0.channel, $0.features) = (type, name, features)
                    $0.publishers = publishers
                    if let after { $0.after = after }
                }))
    }

    private func unsubscribe(_ client: EdgeClient, _ type: Rtm_Client_ChannelType, _ name: String) {
        client.send(90, .unsubscribe(.with { ($0.channelType, $0.channel) = (type, name) }))
    }

    private func answerPresence() {
        while fixture.presence.answerJoin() { fixture.pass() }
        fixture.pass()
    }

    /// A client that has joined the room, and publishes or only listens.
    private func member(_ user: String, publishes: Bool = false, of room: String = "room") -> EdgeClient {
        let client = fixture.client(user)
        join(client, publishes: publishes, room)
        return client
    }

    private func join(_ client: EdgeClient, publishes: Bool = false, _ room: String = "room") {
        subscribe(client, 10, .stream, room, features: 1)
        answerPresence()
        subscribe(client, 11, .topics, room, features: publishes ? 1 : 17)
        if publishes { answerPresence() } else { fixture.presence.answerRoster([], in: room) }
        fixture.pass()
        let answers = client.take().filter { $0.requestID != 0 }
        #expect(answers.map(\.requestID) == [10, 11])
        #expect(
            answers.allSatisfy {
                if case .subscribed = $0.body { true } else { false }
            })
    }

    private func publish(
        _ client: EdgeClient, _ text: String, to topic: String = "room/chat",
        _ priority: Rtm_Client_Priority = .normal
    ) {
        client.send(
            50,
            .publish(
                .with {
                    ($0.channelType, $0.channel, $0.payload) = (.topic, topic, Data(text.utf8))
                    $0.priority = priority
                }))
    }

    private func received(_ client: EdgeClient) -> [String] {
        client.bodies().compactMap { body in
            guard case .publication(let publication) = body else { return nil }
            return "\(publication.publisher) \(String(decoding: publication.message.payload, as: UTF8.self))"
        }
    }

    @Test("C-8: an entry of a topic reaches those who named its publisher, and never its sender")
    func delivery() {
        defer { fixture.end() }
        let (ben, cleo) = (member("ben", publishes: true), member("cleo", publishes: true))
        let (anna, dora, emil) = (member("anna"), member("dora"), member("emil"))
        subscribe(anna, 20, .topic, "room/chat", publishers: ["ben"])
        subscribe(dora, 20, .topic, "room/chat", publishers: ["ben", "cleo"])
        subscribe(emil, 20, .topic, "room/news", publishers: ["ben"])
        subscribe(ben, 20, .topic, "room/chat", publishers: ["ben", "cleo"])
        for client in [anna, dora, emil, ben] { _ = client.take() }
        publish(ben, "1")
        publish(cleo, "2")
        publish(cleo, "elsewhere", to: "room/news")
        publish(ben, "3")
        #expect(received(anna) == ["ben 1", "ben 3"])
        #expect(received(dora) == ["ben 1", "cleo 2", "ben 3"])
        #expect(received(emil) == [])
        #expect(received(ben) == ["cleo 2"])
        // Subscribing again replaces the publishers, with nothing lost in between.
        subscribe(anna, 21, .topic, "room/chat", publishers: ["cleo"])
        publish(ben, "4")
        publish(cleo, "5")
        #expect(received(anna) == ["cleo 5"])
        #expect(received(dora) == ["ben 4", "cleo 5"])
        unsubscribe(dora, .topic, "room/chat")
        publish(ben, "6")
        #expect(received(dora) == [])
    }

    @Test("C-14: a flooded topic of low priority doesn't hold up a high one, nor what is of no topic")
    func priorities() {
        defer { fixture.end() }
        let (ben, anna) = (member("ben", publishes: true), member("anna"))
        for topic in ["room/low", "room/chat", "room/high"] {
            subscribe(anna, 20, .topic, topic, publishers: ["ben"])
        }
        anna.subscribe(21, "lobby", .message)
        answerPresence()
        _ = anna.take()
        anna.isReading = false
        let flood = (100..<400).map { "\($0)" + String(repeating: ".", count: 1_000) }
        for text in flood { publish(ben, text, to: "room/low", .low) }
        publish(ben, "normal")
        publish(ben, "high", to: "room/high", .high)
        ben.publish(70, "message")
        anna.isReading = true
        fixture.pass()
        // The first one was under way to the socket already.
        let expected = [flood[0], "message", "high", "normal"] + flood.dropFirst()
        #expect(received(anna) == expected.map { "ben \($0)" })
        publish(ben, "later", to: "room/low", .low)
        publish(ben, "too", to: "room/high", .high)
        #expect(received(anna) == ["ben later", "ben too"], "nothing waits for who reads")
    }

    @Test("C-11, C-14: what waits of a topic comes before the answer that ends its subscription")
    func leavesBehind() throws {
        defer { fixture.end() }
        let (ben, anna) = (member("ben", publishes: true), member("anna"))
        for topic in ["room/low", "room/high"] {
            subscribe(anna, 20, .topic, topic, publishers: ["ben"])
        }
        _ = anna.take()
        anna.isReading = false
        publish(ben, "under way", to: "room/low", .low)
        for text in ["1", "2"] { publish(ben, text, to: "room/low", .low) }
        publish(ben, "3", to: "room/high", .high)
        unsubscribe(anna, .topic, "room/low")
        publish(ben, "ignored", to: "room/low", .low)
        anna.isReading = true
        fixture.pass()
        let frames = anna.take()
        #expect(frames.map(\.requestID) == [0, 0, 0, 90, 0])
        let texts = frames.filter { $0.requestID == 0 }.map(\.publication.message.payload)
        #expect(texts == ["under way", "1", "2", "3"].map { Data($0.utf8) })
    }

    @Test("a client for whom too much waits in topics is cut off")
    func slowConsumer() {
        defer { fixture.end() }
        let (ben, anna) = (member("ben", publishes: true), member("anna"))
        subscribe(anna, 20, .topic, "room/low", publishers: ["ben"])
        _ = anna.take()
        anna.isReading = false
        let text = String(repeating: ".", count: 1_000)
        for _ in 0..<1_200 { publish(ben, text, to: "room/low", .low) }
        anna.isReading = true
        fixture.pass()
        #expect(anna.take().last?.disconnect.code == .disconnectSlowConsumer)
    }

    @Test(
        "K-18, K-8, P-30: the locks of a stream channel need its join, but for a release; its roster doesn't")
    func locks() {
        defer { fixture.end() }
        let anna = fixture.client("anna")
        let request: (inout Rtm_Client_AcquireLock) -> Void = {
            ($0.channelType, $0.channel, $0.name) = (.stream, "room", "manage")
        }
        func refusal(_ body: Rtm_Client_ClientFrame.OneOf_Body) -> Rtm_Client_ErrorCode? {
            anna.send(40, body)
            guard case .error(let error) = anna.bodies().last else { return nil }
            return error.code
        }
        #expect(refusal(.acquireLock(.with(request))) == .errorChannelNotJoined)
        #expect(
            refusal(.setLock(.with { ($0.channelType, $0.channel, $0.name) = (.stream, "room", "manage") }))
                == .errorChannelNotJoined)
        #expect(
            refusal(.getLocks(.with { ($0.channelType, $0.channel) = (.stream, "room") }))
                == .errorChannelNotJoined)
        #expect(fixture.storage.callCount == 0)
        #expect(
            refusal(
                .releaseLock(.with { ($0.channelType, $0.channel, $0.name) = (.stream, "room", "manage") }))
                == nil)
        #expect(fixture.storage.callCount == 1)
        #expect(refusal(.whoNow(.with { ($0.channelType, $0.channel) = (.stream, "room") })) == nil)
        #expect(fixture.presence.methods.contains(PresenceMethod.call.number))
        join(anna)
        #expect(refusal(.acquireLock(.with(request))) == nil)
        #expect(fixture.storage.callCount == 2)
    }

    @Test("S-19, C-8: who comes back gets what its publishers said since, and nothing of others")
    func resumed() throws {
        defer { fixture.end() }
        let (ben, cleo) = (member("ben", publishes: true), member("cleo", publishes: true))
        let anna = member("anna")
        subscribe(anna, 20, .topic, "room/chat", publishers: ["ben"])
        let position = try #require(
            anna.bodies().compactMap { if case .subscribed(let answer) = $0 { answer.position } else { nil } }
                .first)
        anna.vanish()
        publish(ben, "1")
        publish(cleo, "2")
        publish(ben, "3")
        let back = fixture.client("anna")
        join(back)
        subscribe(back, 20, .topic, "room/chat", publishers: ["ben"], after: position)
        #expect(received(back) == ["ben 1", "ben 3"])
    }

    @Test("C-4: leaving a stream channel ends its topics, and presence hears of the topics first")
    func leave() throws {
        defer { fixture.end() }
        let (ben, anna) = (member("ben", publishes: true), member("anna"))
        subscribe(anna, 20, .topic, "room/chat", publishers: ["ben"])
        _ = anna.take()
        fixture.presence.forget()
        unsubscribe(ben, .stream, "room")
        #expect(fixture.presence.leaves.map(\.channel.type) == [.topics, .stream])
        publish(ben, "late")
        #expect(ben.take().last?.error.code == .errorChannelTopicNotJoined)
        #expect(received(anna) == [])
        unsubscribe(anna, .stream, "room")
        _ = anna.take()
        for (type, name, code) in [
            (.stream, "room", .errorChannelNotJoined), (.topics, "room", .errorChannelNotSubscribed),
            (.topic, "room/chat", .errorChannelTopicNotSubscribed),
        ] as [(Rtm_Client_ChannelType, String, Rtm_Client_ErrorCode)] {
            unsubscribe(anna, type, name)
            #expect(anna.take().first?.error.code == code)
        }
    }

    @Test("whoever only listens to topics is no member of them, and a sync doesn't name him (0017)")
    func listening() throws {
        defer { fixture.end() }
        _ = member("anna")
        _ = member("ben", publishes: true)
        let joined = fixture.presence.joins.map { "\($0.caller.userID) \($0.channel.type)" }
        #expect(joined == ["anna stream", "ben stream", "ben topics"])
        fixture.pass(.seconds(6))
        fixture.renewLease(isKnown: false)
        let announced = fixture.presence.syncs.flatMap(\.memberships)
            .map { "\($0.caller.userID) \($0.channel.type)" }
        #expect(Set(announced) == ["anna stream", "ben stream", "ben topics"])
    }

    @Test("C-7, L-8, L-21, H-1: what may be published to a topic")
    func publishing() {
        defer { fixture.end() }
        let (ben, anna) = (member("ben", publishes: true), member("anna"))
        func refusal(_ client: EdgeClient, _ text: String = "x", to topic: String, stored: Bool = false)
            -> Rtm_Client_ErrorCode?
        {
            client.send(
                60,
                .publish(
                    .with {
                        ($0.channelType, $0.channel, $0.payload) = (.topic, topic, Data(text.utf8))
                        $0.storeInHistory = stored
                    }))
            return client.take().first.map(\.error.code)
        }
        #expect(refusal(anna, to: "room/chat") == .errorChannelTopicNotJoined)
        #expect(refusal(ben, to: "other/chat") == .errorChannelTopicNotJoined)
        #expect(refusal(ben, to: "chat") == .errorChannelInvalidTopicName)
        #expect(refusal(ben, to: "room/") == .errorChannelInvalidTopicName)
        #expect(refusal(ben, to: "room/a/b") == .errorChannelInvalidTopicName)
        #expect(
            refusal(ben, to: "room/\(String(repeating: "x", count: 17))") == .errorChannelInvalidTopicName)
        #expect(refusal(ben, to: "/chat") == .errorInvalidChannelName)
        let long = String(repeating: "x", count: 1_025)
        #expect(refusal(ben, long, to: "room/chat") == .errorChannelMessageLengthExceedLimitation)
        #expect(refusal(ben, to: "room/chat", stored: true) == .errorInvalidChannelType)
        #expect(refusal(ben, String(long.dropLast()), to: "room/chat") == .errorOk)
    }

    @Test("L-25, L-28, L-29, C-9: how much may be joined and heard, and what a subscribe has to name")
    func limits() throws {
        defer { fixture.end() }
        let anna = member("anna")
        func refusal(
            _ type: Rtm_Client_ChannelType, _ name: String, features: UInt32 = 0, publishers: [String] = []
        ) -> Rtm_Client_Error? {
            subscribe(anna, 30, type, name, features: features, publishers: publishers)
            answerPresence()
            guard case .error(let error)? = anna.bodies().first else { return nil }
            return error
        }
        #expect(refusal(.topics, "other", features: 17)?.code == .errorChannelNotJoined)
        #expect(refusal(.topic, "other/chat", publishers: ["ben"])?.code == .errorChannelNotJoined)
        #expect(refusal(.topic, "room/chat")?.code == .errorChannelInvalidUserList)
        #expect(refusal(.topic, "room/chat", publishers: [""])?.code == .errorChannelInvalidUserList)
        let crowd = (0..<65).map { "user\($0)" }
        let tooMany = try #require(refusal(.topic, "room/chat", publishers: crowd))
        #expect(tooMany.code == .errorChannelExceedTopicUserLimitation && tooMany.limit.value == 64)
        #expect(refusal(.stream, "b", features: 4)?.code == .errorInvalidParameter)
        #expect(refusal(.topics, "room", features: 2)?.code == .errorInvalidParameter)
        #expect(refusal(.user, "anna")?.code == .errorInvalidChannelType)
        for number in 0..<50 { #expect(refusal(.topic, "room/t\(number)", publishers: ["ben"]) == nil) }
        #expect(refusal(.topic, "room/t0", publishers: ["cleo"]) == nil, "one that is subscribed")
        let full = try #require(refusal(.topic, "room/more", publishers: ["ben"]))
        #expect(full.code == .errorChannelExceedTopicLimitation && full.limit.value == 50)
        for number in 1..<100 { #expect(refusal(.stream, "room\(number)") == nil) }
        let rooms = try #require(refusal(.stream, "one more"))
        #expect(rooms.code == .errorChannelJoinFailed && rooms.limit.value == 100)
        #expect(refusal(.message, "lobby", features: 4) == nil, "message channels have a limit of their own")
    }

    @Test("R-4: two hundred messages a second to a topic, whatever a channel may have")
    func rate() {
        let fixture = EdgeFixture(
            rates: ApplicationRates(
                publish: 1, calls: 0, subscribesMax: 0, login: 0, subscriptionsMax: 0, topicPublish: 200))
        defer { fixture.end() }
        let ben = fixture.client("ben")
        for (id, type, features) in [(10, .stream, 1), (11, .topics, 1)]
            as [(UInt64, Rtm_Client_ChannelType, UInt32)]
        {
            subscribe(ben, id, type, "room", features: features)
            while fixture.presence.answerJoin() { fixture.pass() }
            fixture.pass()
        }
        _ = ben.take()
        // A millisecond passes with each, which brings back a fifth of a message.
        for _ in 0..<300 { publish(ben, "x") }
        let refusals = ben.bodies().compactMap { if case .error(let error) = $0 { error } else { nil } }
        #expect((30...50).contains(refusals.count))
        #expect(
            refusals.allSatisfy {
                $0.code == .errorChannelPublishMessageTooFrequent && $0.limit.value == 200
            })
    }
}
