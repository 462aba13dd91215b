import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// Stream channels and topics as apps see them, against the real system.
@Suite(.serialized, .ends(withinMinutes: 3)) struct StreamTests {
    private func withClients(
        _ users: [String], on deployment: Deployment = .standalone,
        presence: [String] = ["--debounce", "0s"],
        edge: [String] = [], _ body: ([RTMClient], RunningSystem) async throws -> Void
    ) async throws {
        try await RunningSystem.with(deployment, edge: edge, presence: presence) { system in
            let clients = try users.map { try system.client($0) }
            for client in clients { try await client.login() }
            try await body(clients, system)
            for client in clients { await client.close() }
        }
    }

    @Test(
        "C-3, C-4, C-5, C-8, C-9, C-11, C-12: join, topics, subscribe, publish, leave: each hears what it asked for, in order",
        arguments: Deployment.allCases)
    func slice(_ deployment: Deployment) async throws {
        try await withClients(["anna", "ben", "cleo"], on: deployment) { clients, _ in
            let (anna, ben, cleo) = (clients[0], clients[1], clients[2])
            var received = anna.events().makeAsyncIterator()
            let room = try await anna.join("room")
            #expect(await received.nextTopic()?.change == .snapshot([]))
            let bens = try await ben.join("room")
            let cleos = try await cleo.join("room")
            try await bens.joinTopic("chat", meta: "ben's")
            let ben1 = TopicPublisher(userID: "ben", meta: "ben's")
            #expect(await received.nextTopic()?.change == .joined(topic: "chat", ben1))
            // C-10b: right after the join of a topic, whether its event has arrived or not.
            try await cleos.joinTopic("chat")
            let answer = try await room.subscribe(to: "chat", users: ["ben", "nobody"])
            #expect(answer.deliveredUsers == ["ben"] && answer.undeliveredUsers == ["nobody"])
            for number in 0..<50 {
                try await cleos.publish("unheard \(number)", to: "chat")
                try await bens.publish("\(number)", to: "chat", customType: "n")
            }
            for number in 0..<50 {
                let message = try #require(await received.nextMessage())
                #expect(message.payload == .text("\(number)") && message.publisher == "ben")
                #expect(message.channelType == .stream && message.channelName == "room")
                #expect(message.topic == "chat" && message.customType == "n")
            }
            #expect(try await room.subscribedUsers(of: "chat") == ["ben", "nobody"])
            #expect(try await room.subscribe(to: "chat").deliveredUsers == ["cleo"])
            #expect(try await room.subscribedUsers(of: "chat") == ["ben", "cleo", "nobody"])
            try await room.unsubscribe(from: "chat", users: ["ben"])
            try await bens.publish("to nobody", to: "chat")
            try await cleos.publish(Data([1, 2]), to: "chat")
            #expect(await received.nextMessage()?.payload == .data(Data([1, 2])))
            try await cleos.leaveTopic("chat")
            #expect(
                await received.nextTopic(.left)?.change
                    == .left(topic: "chat", TopicPublisher(userID: "cleo")))
            try await bens.leave()
            #expect(await received.nextTopic(.left)?.change == .left(topic: "chat", ben1))
            try await room.leave()
            #expect(try await anna.whereNow("anna") == [])
        }
    }

    @Test("C-4, C-6, C-7, C-9, C-11, L-8, L-9, L-21, L-27: every misuse gets its code")
    func refusals() async throws {
        try await withClients(["anna", "ben"]) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            let room = anna.streamChannel("room")
            #expect(await code { try await room.leave() } == .channelNotJoined)
            #expect(await code { try await room.joinTopic("chat") } == .channelNotJoined)
            #expect(await code { try await room.publish("x", to: "chat") } == .channelNotJoined)
            #expect(await code { _ = try await anna.join("a/b") } == .invalidChannelName)
            _ = try await anna.join("room")
            #expect(await code { _ = try await anna.join("room") } == .duplicateOperation)
            #expect(
                await code { try await room.joinTopic(String(repeating: "x", count: 17)) }
                    == .channelInvalidTopicName)
            #expect(
                await code { try await room.joinTopic("x", meta: String(repeating: "m", count: 257)) }
                    == .channelInvalidTopicMeta)
            #expect(await code { try await room.publish("x", to: "chat") } == .channelTopicNotJoined)
            #expect(await code { try await room.leaveTopic("chat") } == .channelTopicNotJoined)
            #expect(await code { try await room.subscribe(to: "chat") } == .channelTopicNotExist)
            #expect(await code { try await room.unsubscribe(from: "chat") } == .channelTopicNotSubscribed)
            #expect(
                await code { _ = try await room.subscribedUsers(of: "chat") } == .channelTopicNotSubscribed)
            for number in 1...8 { try await room.joinTopic("t\(number)") }
            #expect(await code { try await room.joinTopic("t1") } == .duplicateOperation)
            #expect(await code { try await room.joinTopic("t9") } == .channelExceedTopicLimitation)
            let long = String(repeating: "x", count: 1_025)
            #expect(
                await code { try await room.publish(long, to: "t1") } == .channelMessageLengthExceedLimitation
            )
            try await room.publish(String(long.dropLast()), to: "t1")
            // Without having joined, the server refuses, too.
            #expect(
                await code { try await ben.publish("x", to: .topic("t1", in: "room")) }
                    == .channelTopicNotJoined)
            // A leave forgets what was joined (C-4).
            try await room.leave()
            _ = try await anna.join("room")
            #expect(await code { try await room.publish("x", to: "t1") } == .channelTopicNotJoined)
        }
    }

    @Test(
        "C-9, C-10, C-11: two draw on one board, each subscribed to the other before the other joined the topic",
        arguments: Deployment.allCases)
    func board(_ deployment: Deployment) async throws {
        try await withClients(["anna", "ben"], on: deployment) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            var (toAnna, toBen) = (anna.events().makeAsyncIterator(), ben.events().makeAsyncIterator())
            let (annas, bens) = (try await anna.join("board"), try await ben.join("board"))
            // Nobody publishes the topic: without names there is nobody to choose.
            #expect(await code { try await annas.subscribe(to: "strokes") } == .channelTopicNotExist)
            let early = try await annas.subscribe(to: "strokes", users: ["ben"])
            #expect(early.deliveredUsers == [] && early.undeliveredUsers == ["ben"])
            #expect(try await annas.subscribedUsers(of: "strokes") == ["ben"])
            let other = try await bens.subscribe(to: "strokes", users: ["anna"])
            #expect(other.deliveredUsers == [] && other.undeliveredUsers == ["anna"])
            try await annas.joinTopic("strokes")
            for number in 0..<5 { try await annas.publish("a\(number)", to: "strokes") }
            try await bens.joinTopic("strokes")
            for number in 0..<5 { try await bens.publish("b\(number)", to: "strokes") }
            for number in 0..<5 {
                #expect(await toBen.nextMessage()?.payload == .text("a\(number)"))
                #expect(await toAnna.nextMessage()?.payload == .text("b\(number)"))
            }
            // Who is named again, is there now; and what is chosen survives a reconnect.
            #expect(try await annas.subscribe(to: "strokes", users: ["ben"]).deliveredUsers == ["ben"])
            try await annas.subscribe(to: "other", users: ["ben"])
            anna.networkChanged()
            try await bens.joinTopic("other")
            try await bens.publish("after the return", to: "other")
            #expect(await toAnna.nextMessage()?.payload == .text("after the return"))
            try await annas.unsubscribe(from: "strokes", users: ["ben"])
            #expect(
                await code { _ = try await annas.subscribedUsers(of: "strokes") }
                    == .channelTopicNotSubscribed)
        }
    }

    @Test("C-10: the first message after a joinTopic is never missed by who named its publisher before")
    func first() async throws {
        try await withClients(["anna", "ben"], on: .fourProcesses) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            var received = anna.events().makeAsyncIterator()
            let (annas, bens) = (try await anna.join("room"), try await ben.join("room"))
            for round in 0..<40 {
                let topic = "t\(round)"
                try await annas.subscribe(to: topic, users: ["ben"])
                try await bens.joinTopic(topic)
                try await bens.publish("\(round)", to: topic)
                #expect(await received.nextMessage()?.payload == .text("\(round)"))
                try await bens.leaveTopic(topic)
                try await annas.unsubscribe(from: topic)
            }
        }
    }

    @Test("C-9: calls about one topic that nobody waits for add up, in their order")
    func concurrent() async throws {
        try await withClients(["anna"]) { clients, _ in
            let room = try await clients[0].join("room")
            let crowd = (0..<20).map { "user\($0)" }
            try await withThrowingTaskGroup { group in
                for user in crowd {
                    group.addTask { _ = try await room.subscribe(to: "chat", users: [user]) }
                }
                try await group.waitForAll()
            }
            #expect(try await room.subscribedUsers(of: "chat") == crowd.sorted())
            try await withThrowingTaskGroup { group in
                for user in crowd.dropFirst() {
                    group.addTask { try await room.unsubscribe(from: "chat", users: [user]) }
                }
                try await group.waitForAll()
            }
            #expect(try await room.subscribedUsers(of: "chat") == ["user0"])
        }
    }

    @Test("C-3, L-6: presence, metadata and locks of a stream channel are its own")
    func storage() async throws {
        try await withClients(["anna", "ben"]) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            try await ben.setMetadata(["k": "v"], of: .channel("room"))
            var received = anna.events().makeAsyncIterator()
            _ = try await anna.join("room", features: [.presence, .metadata, .lock])
            #expect(await received.nextPresence()?.channelType == .stream)
            #expect(
                await received.nextStorage()?.metadata.items.isEmpty == true, "another channel has that name")
            #expect(await received.nextLock()?.channelType == .stream)
            _ = try await ben.join("room")
            #expect(await received.nextPresence()?.change == .joined("ben"))
            try await ben.setState(["mood": "good"], in: "room", type: .stream)
            #expect(
                await received.nextPresence()?.change
                    == .statesChanged(UserState(userID: "ben", states: ["mood": "good"])))
            #expect(try await anna.whereNow("ben") == [UserChannel(type: .stream, name: "room")])
        }
    }

    @Test("C-10b, C-14, S-19, S-32: a reconnect restores join, topics and subscriptions; nothing is lost")
    func reconnect() async throws {
        try await withClients(["anna", "ben"], on: .fourProcesses) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            var received = anna.events().makeAsyncIterator()
            let room = try await anna.join("room")
            let bens = try await ben.join("room")
            try await bens.joinTopic("chat", meta: "m")
            try await room.subscribe(to: "chat", users: ["ben"])
            for number in 0..<60 {
                if number == 20 { anna.networkChanged() }
                if number == 40 { ben.networkChanged() }
                try await bens.publish("\(number)", to: "chat")
            }
            for number in 0..<60 { #expect(await received.nextMessage()?.payload == .text("\(number)")) }
            #expect(try await room.subscribedUsers(of: "chat") == ["ben"])
        }
    }

    @Test("C-2: a join needs a token for the channel and the user, where the app has a certificate")
    func tokens() async throws {
        let flags = ["--apps", "\(SampleApp.id):\(SampleApp.certificate)"]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let client = try system.client("anna") { $0.appID = SampleApp.id }
            let now = WallClock.milliseconds() / 1000
            let login = try SampleApp.token(for: "anna", endsAt: now + 300)
            try await client.login(token: login)
            #expect(await code { _ = try await client.join("room") } == .invalidToken)
            #expect(
                await code { _ = try await client.join("room", token: login) }
                    == .channelJoinFailed)
            let other = try SampleApp.joinToken("other", for: "anna", endsAt: now + 60)
            #expect(await code { _ = try await client.join("room", token: other) } == .channelJoinFailed)
            let bens = try SampleApp.joinToken("room", for: "ben", endsAt: now + 60)
            #expect(await code { _ = try await client.join("room", token: bens) } == .channelJoinFailed)
            let old = try SampleApp.joinToken("room", for: "anna", endsAt: now - 60)
            #expect(await code { _ = try await client.join("room", token: old) } == .tokenExpired)
            let anybodys = try SampleApp.joinToken("room", for: "", endsAt: now + 60)
            let room = try await client.join("room", token: anybodys)
            try await room.leave()

            // S-50, S-52: the warning of a token that ends soon comes at once, and a renewal takes the end
            // away.
            var received = client.events().makeAsyncIterator()
            _ = try await client.join(
                "room", token: SampleApp.joinToken("room", for: "anna", endsAt: now + 20))
            #expect(await received.nextTokenNotice()?.channelName == "room")
            #expect(await code { try await room.renewToken(other) } == .channelJoinFailed)
            try await room.renewToken(anybodys)
            try await room.leave()
            #expect(await code { try await room.renewToken(anybodys) } == .channelNotJoined)

            // S-51: the membership ends with its token, and the link continues.
            let end = WallClock.milliseconds() / 1000 + 2
            _ = try await client.join("room", token: SampleApp.joinToken("room", for: "anna", endsAt: end))
            let ended = try #require(await received.nextStreamEnd())
            #expect(ended.channelName == "room" && ended.error.code == .tokenExpired)
            #expect(WallClock.milliseconds() / 1000 >= end && client.linkState == .connected)
            #expect(await code { try await room.leave() } == .channelNotJoined)
            #expect(try await client.whereNow("anna") == [])
            await client.close()
        }
    }

    @Test("A-13: where the operator asks for it, only a token with the privilege lets its user publish")
    func publishers() async throws {
        let flags = [
            "--apps", "\(SampleApp.id):\(SampleApp.certificate)", "--edge-permissions-publish-topics",
            "granted",
        ]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let end = WallClock.milliseconds() / 1000 + 300
            var clients: [RTMClient] = []
            for user in ["anna", "ben"] {
                let client = try system.client(user) { $0.appID = SampleApp.id }
                try await client.login(token: SampleApp.token(for: user, endsAt: end))
                clients.append(client)
            }
            let (anna, ben) = (clients[0], clients[1])
            func token(_ user: String, publishes: Bool) throws -> String {
                try SampleApp.joinToken("room", for: user, endsAt: end, publishes: publishes)
            }
            let stage = try await anna.join("room", token: token("anna", publishes: true))
            try await stage.joinTopic("news")
            let room = try await ben.join("room", token: token("ben", publishes: false))
            #expect(await code { try await room.joinTopic("chat") } == .channelJoinTopicFailed)

            // Who may not publish still receives those who may.
            var received = ben.events().makeAsyncIterator()
            try await room.subscribe(to: "news", users: ["anna"])
            try await stage.publish("hello", to: "news")
            #expect(await received.nextMessage()?.payload == .text("hello"))

            // A renewal gives the privilege and takes it away.
            try await room.renewToken(token("ben", publishes: true))
            try await room.joinTopic("chat")
            try await room.publish("hi", to: "chat")
            try await room.renewToken(token("ben", publishes: false))
            let refused = await #expect(throws: RTMError.self) { try await room.publish("hi", to: "chat") }
            #expect(refused?.code == .channelPublishPermissionDenied)
            try await room.leaveTopic("chat")
            for client in clients { await client.close() }
        }
    }
}
