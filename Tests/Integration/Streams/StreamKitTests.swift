import AgoraRtmKit
import Foundation
import RTMTestSupport
import Synchronization
import Testing

/// Stream channels through the compatible API and the command line, against the real system.
@Suite(.serialized, .ends(withinMinutes: 2)) struct StreamKitTests {
    /// What a delegate gets, in words and in order.
    private final class Listener: NSObject, AgoraRtmClientDelegate, Sendable {
        let received = Mutex<[String]>([])

        private func note(_ text: String) { received.withLock { $0.append(text) } }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
            note(
                "\(event.channelType) \(event.channelName)/\(event.channelTopic) \(event.publisher): "
                    + "\(event.message.stringData ?? "?") \(event.customType ?? "")")
        }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTopicEvent event: AgoraRtmTopicEvent) {
            let topics = event.topicInfos.map { topic in
                topic.topic + "="
                    + topic.publishers.map { "\($0.publisherUserId):\($0.publisherMeta ?? "")" }.joined()
            }
            note("\(event.type) \(event.channelName) \(topics.joined(separator: " "))")
        }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
            guard event.serviceType == .stream else { return }
            note("\(event.previousState)-\(event.currentState) \(event.reasonCode)")
        }

        func messages(_ texts: [String]) async throws {
            try await eventually("\(texts)") { received.withLock { $0.count } >= texts.count }
            #expect(received.withLock { $0 } == texts)
            received.withLock { $0 = [] }
        }
    }

    private func kit(_ system: RunningSystem, _ user: String, _ delegate: any AgoraRtmClientDelegate) throws
        -> AgoraRtmClientKit
    {
        let config = AgoraRtmClientConfig(appId: "dev", userId: user)
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.serviceType = [.message, .stream]
        privateConfig.accessPointHosts = [system.address("edge")]
        config.privateConfig = privateConfig
        return try AgoraRtmClientKit(config, delegate: delegate)
    }

    @Test("C-1, C-3, C-5, C-9, C-12, S-31: an app joins, publishes, hears and leaves by the compatible API")
    func kit() async throws {
        try await RunningSystem.with(.standalone, presence: ["--debounce", "0s"]) { system in
            let (annaListener, benListener) = (Listener(), Listener())
            let (anna, ben) = try (kit(system, "anna", annaListener), kit(system, "ben", benListener))
            for client in [anna, ben] {
                let (_, error) = await client.login(nil)
                #expect(error == nil)
            }
            let room = try anna.createStreamChannel("room")
            let bens = try ben.createStreamChannel("room")
            let (_, early) = await room.joinTopic("chat", option: nil)
            #expect(early?.errorCode == .channelNotJoined && early?.operation == "joinTopic")
            for channel in [room, bens] {
                let (response, error) = await channel.join(AgoraRtmJoinChannelOption())
                #expect(response != nil && error == nil)
            }
            try await annaListener.messages([
                "idle-connecting join", "connecting-connected joinSuccess", "snapshot room ",
            ])
            try await benListener.messages([
                "idle-connecting join", "connecting-connected joinSuccess", "snapshot room ",
            ])
            let option = AgoraRtmJoinTopicOption()
            (option.meta, option.qos, option.priority) = ("m", .ordered, .high)
            let (_, joined) = await bens.joinTopic("chat", option: option)
            #expect(joined == nil)
            let users = AgoraRtmTopicOption()
            users.users = ["ben", "cleo"]
            let (answer, subscribed) = await room.subscribeTopic("chat", option: users)
            #expect(subscribed == nil)
            #expect(answer?.succeedUsers == ["ben"] && answer?.failedUsers == ["cleo"])
            let message = AgoraRtmTopicMessageOptions()
            message.customType = "t"
            let (_, published) = await bens.publishTopicMessage(
                topic: "chat", message: "hi", option: message)
            #expect(published == nil)
            try await annaListener.messages(["remoteJoinTopic room chat=ben:m", "stream room/chat ben: hi t"])
            let (list, _) = await room.getSubscribedUserList("chat")
            #expect(list?.users == ["ben", "cleo"])
            let (_, unsubscribed) = await room.unsubscribeTopic("chat", option: nil)
            #expect(unsubscribed == nil)
            let (_, none) = await room.getSubscribedUserList("chat")
            #expect(none?.errorCode == .channelTopicNotSubscribed)
            let (_, left) = await bens.leaveTopic("chat")
            #expect(left == nil)
            try await annaListener.messages(["remoteLeaveTopic room chat=ben:m"])
            let (_, gone) = await room.leave()
            #expect(gone == nil)
            try await annaListener.messages(["connected-idle leave"])
            ben.destroy()
            anna.destroy()
        }
    }

    @Test("C-9, C-10: a shared whiteboard: each user names the other before the other joins the topic")
    func board() async throws {
        try await RunningSystem.with(.standalone, presence: ["--debounce", "0s"]) { system in
            let (annaListener, benListener) = (Listener(), Listener())
            let kits = try [kit(system, "anna", annaListener), kit(system, "ben", benListener)]
            var boards: [AgoraRtmStreamChannel] = []
            for (kit, other) in zip(kits, ["ben", "anna"]) {
                let (_, error) = await kit.login(nil)
                #expect(error == nil)
                let board = try kit.createStreamChannel("board")
                let (_, refused) = await board.join(AgoraRtmJoinChannelOption())
                #expect(refused == nil)
                let option = AgoraRtmTopicOption()
                option.users = [other]
                // Nobody publishes the topic, which has its documented error, and the user stays named.
                let (early, missing) = await board.subscribeTopic("strokes", option: option)
                #expect(early == nil && missing?.errorCode == .channelTopicNotExist)
                let (list, _) = await board.getSubscribedUserList("strokes")
                #expect(list?.users == [other])
                boards.append(board)
            }
            for (board, name) in zip(boards, ["a", "b"]) {
                let (_, refused) = await board.joinTopic("strokes", option: nil)
                #expect(refused == nil)
                for number in 0..<3 {
                    let (_, error) = await board.publishTopicMessage(
                        topic: "strokes", message: "\(name)\(number)", option: nil)
                    #expect(error == nil)
                }
            }
            for (listener, other, name) in [(annaListener, "ben", "b"), (benListener, "anna", "a")] {
                let wanted = (0..<3).map { "stream board/strokes \(other): \(name)\($0) " }
                try await eventually("\(wanted)") {
                    listener.received.withLock { $0.filter { $0.hasPrefix("stream ") } } == wanted
                }
            }
            // One who publishes makes the topic exist, so a user who doesn't yet only fails.
            let option = AgoraRtmTopicOption()
            option.users = ["cleo"]
            let (later, error) = await boards[0].subscribeTopic("strokes", option: option)
            #expect(error == nil && later?.succeedUsers == [] && later?.failedUsers == ["cleo"])
            for kit in kits { kit.destroy() }
        }
    }

    @Test(
        "D-15, K-18: the metadata and locks of a stream channel are for those who have joined it, also for rtm"
    )
    func metadata() async throws {
        try await RunningSystem.with(.standalone) { system in
            let anna = try kit(system, "anna", Listener())
            _ = await anna.login(nil)
            let data = AgoraRtmMetadata()
            data.items = [AgoraRtmMetadataItem(key: "topic", value: "tea")]
            func write() async -> AgoraRtmErrorCode? {
                await anna.setChannelMetadata(
                    channelName: "room", channelType: .stream, data: data, options: nil, lock: nil
                ).1?.errorCode
            }
            #expect(await write() == .storageNotSubscribe)
            let early = await anna.getChannelMetadata(channelName: "room", channelType: .stream)
            #expect(early.1?.errorCode == .storageNotSubscribe)
            let earlyLocks = await anna.getLocks(channelName: "room", channelType: .stream)
            #expect(earlyLocks.1?.errorCode == .channelNotJoined)
            let taken = try await system.run("lock", "set", "room", "manage", "--stream")
            #expect(taken.status == 0)
            let listed = try await system.run("lock", "list", "room", "--stream")
            #expect(listed.status == 0 && listed.output.contains { $0.hasPrefix("manage") })
            let room = try anna.createStreamChannel("room")
            let (_, joined) = await room.join(AgoraRtmJoinChannelOption())
            #expect(joined == nil)
            #expect(await write() == nil)
            let (response, _) = await anna.getChannelMetadata(channelName: "room", channelType: .stream)
            #expect(response?.data?.items?.map(\.value) == ["tea"])
            let locks = await anna.getLocks(channelName: "room", channelType: .stream)
            #expect(locks.1 == nil)
            let shown = try await system.run("metadata", "get", "channel", "room", "--stream")
            #expect(shown.status == 0 && shown.output.contains { $0.hasPrefix("topic=tea") })
            _ = await room.leave()
            #expect(await write() == .storageNotSubscribe)
            anna.destroy()
        }
    }

    @Test("S-31: what a join asked for and can't have is named, and the channel is joined")
    func lacking() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let listener = Listener()
            let anna = try kit(system, "anna", listener)
            _ = await anna.login(nil)
            try await system.process("rtm-storage").kill9()
            try await eventually("the edge knows that storage is away") {
                let answer = await anna.getChannelMetadata(channelName: "x", channelType: .message)
                return answer.1?.errorCode == .storageNotAvailable
            }
            let room = try anna.createStreamChannel("room")
            let option = AgoraRtmJoinChannelOption()
            option.features = [.presence, .metadata, .lock]
            let (response, error) = await room.join(option)
            #expect(response != nil && error == nil)
            try await eventually("both are named") { listener.received.withLock { $0.count } >= 4 }
            let changes = listener.received.withLock { $0 }.filter { $0.contains("-conne") }
            #expect(
                changes == [
                    "idle-connecting join", "connecting-connected joinSuccess",
                    "connected-connected storageNotAvailable", "connected-connected lockNotAvailable",
                ])
            anna.destroy()
        }
    }

    @Test("rtm stream: one publishes the lines of a topic, another one hears them and ends after --count")
    func commands() async throws {
        try await RunningSystem.with(.standalone) { system in
            let listener = try system.command([
                "stream", "join", "room", "--topic", "chat", "--subscribe", "ben", "--count", "1",
                "--timeout",
                "30s", "--json", "--user", "anna",
            ])
            let watcher = try system.command([
                "stream", "watch", "room", "--count", "4", "--json", "--user", "cleo",
            ])
            try await eventually("both are there", within: .seconds(20)) {
                try await system.run("presence", "who", "room", "--stream", "--user", "dora").output
                    .filter { $0.contains("anna") || $0.contains("cleo") }.count == 2
            }
            // From here on it misses nothing of whom it has named.
            #expect(await system.firstLine(of: listener).contains("joined"))
            let publish = try await system.run(
                "stream", "publish", "room", "--topic", "chat", "--meta", "m", "hi", "--user", "ben")
            #expect(publish.status == 0)
            let outcome = try await system.end(listener)
            #expect(outcome.status == 0)
            let message = outcome.output.first { $0.hasPrefix("{\"event\":\"message\"") }
            #expect(
                message?.hasPrefix(
                    "{\"event\":\"message\",\"channelType\":\"stream\",\"channelName\":\"room\","
                        + "\"channelTopic\":\"chat\",\"publisher\":\"ben\",\"message\":\"hi\"") == true)
            #expect(try await system.end(watcher).status == 0)
        }
    }
}
