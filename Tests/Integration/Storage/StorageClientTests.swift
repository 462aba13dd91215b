import AgoraRtmKit
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Synchronization
import Testing

/// Metadata, locks and history as apps see them, against the real system.
@Suite(.serialized, .ends(withinMinutes: 2)) struct StorageClientTests {
    private func withClients(
        _ deployment: Deployment, _ users: [String], _ body: ([RTMClient], RunningSystem) async throws -> Void
    ) async throws {
        try await RunningSystem.with(deployment) { system in
            var clients: [RTMClient] = []
            for user in users {
                let server = try ServerAddress(system.address("edge"))
                clients.append(try RTMClient(.init(servers: [server], appID: "dev", userID: user)))
                try await clients.last?.login()
            }
            try await body(clients, system)
            for client in clients { await client.close() }
        }
    }

    @Test(
        "D-5, D-41, D-42, D-45: a watcher sees the set as it is, then every write once",
        arguments: Deployment.allCases)
    func metadata(deployment: Deployment) async throws {
        try await withClients(deployment, ["anna", "ben"]) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            let lobby = MetadataTarget.channel("lobby")
            let first = try await anna.setMetadata(
                ["topic": "a"], of: lobby, options: .init(majorRevision: 0, recordsAuthor: true))
            var events = ben.events().makeAsyncIterator()
            try await ben.subscribe(to: "lobby", features: [.metadata])
            let snapshot = await events.nextStorage()
            #expect(snapshot?.kind == .snapshot && snapshot?.metadata["topic"] == "a")
            #expect(snapshot?.metadata.item(for: "topic")?.author == "anna")
            let second = try await anna.setMetadata(
                [MetadataChange("topic", "b", revision: first)], of: lobby)
            #expect(second > first)
            let update = await events.nextStorage()
            #expect(update?.kind == .update && update?.metadata["topic"] == "b" && update?.author == "anna")
            let late = await #expect(throws: RTMError.self) {
                try await ben.setMetadata(["topic": "c"], of: lobby, options: .init(majorRevision: first))
            }
            #expect(late?.code == .storageOutdatedRevision)
            #expect(late?.conflict == .init(majorRevision: second))
            let created = await #expect(throws: RTMError.self) {
                try await ben.setMetadata(["topic": "c"], of: lobby, options: .init(majorRevision: 0))
            }
            #expect(created?.conflict == .init(majorRevision: second))
            try await ben.removeAllMetadata(of: lobby)
            #expect(await events.nextStorage()?.metadata.items == [])
            let afterwards = try await anna.metadata(of: lobby)
            #expect(afterwards.items == [] && afterwards.majorRevision > second, "Web 2.2.2, D-10")
        }
    }

    @Test("D-16, D-44: everybody writes a user's metadata, and whoever follows the user hears of it")
    func users() async throws {
        try await withClients(.standalone, ["anna", "ben"]) { clients, _ in
            var events = clients[1].events().makeAsyncIterator()
            try await clients[1].subscribeUserMetadata("anna")
            let snapshot = await events.nextStorage()
            #expect(snapshot?.target == .user("anna") && snapshot?.metadata == RTMMetadata())
            try await clients[0].setMetadata(["status": "busy"], of: .ownUser)
            let update = await events.nextStorage()
            #expect(update?.target == .user("anna") && update?.metadata["status"] == "busy")
            try await clients[1].unsubscribeUserMetadata("anna")
            #expect(
                await code { try await clients[1].unsubscribeUserMetadata("anna") } == .storageNotSubscribe)
        }
    }

    @Test("D-17: edits of several clients, from nothing on, lose none of each other")
    func edits() async throws {
        try await withClients(.standalone, ["anna", "ben", "cleo"]) { clients, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in clients {
                    group.addTask {
                        for _ in 0..<3 {
                            try await client.editMetadata(of: .channel("auction")) { now in
                                [MetadataChange("bids", String((Int(now["bids"] ?? "") ?? 0) + 1))]
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let bids = try await clients[0].metadata(of: .channel("auction"))["bids"]
            #expect(bids == "9")
        }
    }

    @Test("K-4, K-5, K-8: who waits gets the lock, with a greater token; the old token writes no more")
    func locks() async throws {
        try await withClients(.standalone, ["anna", "ben"]) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            let lobby = MetadataTarget.channel("lobby")
            try await anna.setLock("manage", in: "lobby", ttl: .seconds(10))
            let old = try await anna.acquireLock("manage", in: "lobby")
            #expect(
                await code { _ = try await ben.acquireLock("manage", in: "lobby") } == .lockAcquireFailed)
            let wait = Task { try await ben.acquireLock("manage", in: "lobby", waits: true) }
            try await anna.setMetadata(
                ["a": "1"], of: lobby, options: .init(lock: "manage", fencingToken: old))
            try await anna.releaseLock("manage", in: "lobby")
            let new = try await wait.value
            #expect(new > old)
            #expect(
                await code {
                    try await anna.setMetadata(
                        ["a": "2"], of: lobby, options: .init(lock: "manage", fencingToken: old))
                } == .storageLockNotAcquired)
            let details = try await anna.locks(of: "lobby")
            #expect(details.map(\.owner) == ["ben"] && details.map(\.fencingToken) == [new])
        }
    }

    @Test("2.1.9: a wait that was cancelled leaves the line, and may be begun anew")
    func cancelledWait() async throws {
        try await withClients(.standalone, ["anna", "ben", "cleo"]) { clients, _ in
            try await clients[0].setLock("manage", in: "lobby")
            _ = try await clients[0].acquireLock("manage", in: "lobby")
            let given = Task { try await clients[1].acquireLock("manage", in: "lobby", waits: true) }
            // Nothing shows who waits. When the last answer has come, the request was sent long ago.
            for _ in 0..<20 { _ = try await clients[1].ping() }
            given.cancel()
            #expect(await code { _ = try await given.value } == .cancelled)
            let wait = Task { try await clients[1].acquireLock("manage", in: "lobby", waits: true) }
            try await clients[0].revokeLock("manage", from: "anna", in: "lobby")
            _ = try await wait.value
            let owners = try await clients[2].locks(of: "lobby").map(\.owner)
            #expect(owners == ["ben"])
        }
    }

    @Test("K-13, K-17: lock events come once each, and withLock gives back")
    func lockEvents() async throws {
        try await withClients(.standalone, ["anna", "ben"]) { clients, _ in
            var events = clients[1].events().makeAsyncIterator()
            try await clients[1].subscribe(to: "lobby", features: [.lock])
            #expect(await events.nextLock()?.kind == .snapshot)
            try await clients[0].setLock("manage", in: "lobby")
            try await clients[0].withLock("manage", in: "lobby") { _ in }
            try await clients[0].removeLock("manage", in: "lobby")
            var kinds: [LockEvent.Kind] = []
            while kinds.count < 4, let event = await events.nextLock() { kinds.append(event.kind) }
            #expect(kinds == [.set, .acquired, .released, .removed])
        }
    }

    @Test(
        "K-15, K-16, D-21: an owner hears of his own lock, needn't be in the channel, and binds only who asks"
    )
    func ownLocks() async throws {
        try await withClients(.standalone, ["anna", "ben"]) { clients, _ in
            let (anna, ben) = (clients[0], clients[1])
            var events = anna.events().makeAsyncIterator()
            try await anna.setLock("outside", in: "lobby")
            _ = try await anna.acquireLock("outside", in: "lobby")
            let refusal = await code { _ = try await ben.acquireLock("outside", in: "lobby") }
            #expect(refusal == .lockAcquireFailed, "who never subscribed owns it all the same")
            try await anna.subscribe(to: "lobby", features: [.lock])
            #expect(await events.nextLock()?.kind == .snapshot)
            try await anna.setLock("manage", in: "lobby")
            _ = try await anna.acquireLock("manage", in: "lobby")
            try await anna.releaseLock("manage", in: "lobby")
            var own: [LockEvent.Kind] = []
            while own.count < 3, let event = await events.nextLock() { own.append(event.kind) }
            #expect(own == [.set, .acquired, .released])
            let lobby = MetadataTarget.channel("lobby")
            try await ben.setMetadata(["a": "1"], of: lobby)
            #expect(try await anna.metadata(of: lobby)["a"] == "1", "he didn't name the lock")
        }
    }

    @Test(
        "D-46, D-30: following a user twice gives the snapshot again, with all that is known of an item"
    )
    func followedTwice() async throws {
        try await withClients(.standalone, ["anna", "ben"]) { clients, _ in
            try await clients[0].setMetadata(
                ["status": "busy"], of: .ownUser, options: .init(recordsTimestamp: true, recordsAuthor: true))
            var events = clients[1].events().makeAsyncIterator()
            for _ in 0..<2 {
                try await clients[1].subscribeUserMetadata("anna")
                let event = await events.nextStorage()
                let item = event?.metadata.item(for: "status")
                #expect(event?.kind == .snapshot && event?.metadata.majorRevision == 1)
                #expect(item?.value == "busy" && item?.author == "anna" && item?.revision == 1)
                #expect(item?.updatedAtMilliseconds ?? 0 > 0)
            }
        }
    }

    @Test(
        "Appendix D, H-6 to H-12: 250 stored messages are found at once, in pages of 100, 100 and 50, each once"
    )
    func history() async throws {
        try await withClients(.standalone, ["anna", "ben"]) { clients, _ in
            let lobby = MessageDestination.channel("lobby")
            var live = clients[1].events().makeAsyncIterator()
            try await clients[1].subscribe(to: "lobby")
            for number in 0..<250 {
                try await clients[0].publish("m\(number)", to: lobby, customType: "t", storeInHistory: true)
            }
            try await clients[0].publish("unstored", to: lobby)
            var pages: [HistoryPage] = []
            repeat {
                let start = pages.last?.nextStart
                pages.append(try await clients[0].history(of: lobby, start: start))
            } while pages.last?.nextStart != nil
            #expect(pages.map(\.messages.count) == [100, 100, 50])
            let found = pages.flatMap(\.messages)
            #expect(found.map(\.payload) == (0..<250).reversed().map { .text("m\($0)") })
            #expect(found.allSatisfy { $0.publisher == "anna" && $0.customType == "t" })
            var times: [UInt64] = []
            while times.count < 250, let message = await live.nextMessage() {
                times.append(message.timestampMilliseconds)
            }
            #expect(found.map(\.timestampMilliseconds) == times.reversed(), "those of the live messages")
            var walked: [MessagePayload] = []
            for try await message in clients[1].historyMessages(of: lobby, pageSize: 99) {
                walked.append(message.payload)
            }
            #expect(walked == found.map(\.payload))
        }
    }

    // MARK: The compatible API

    private final class Listener: NSObject, AgoraRtmClientDelegate, Sendable {
        let received = Mutex<[String]>([])

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent) {
            let items = (event.data.items ?? []).map { "\($0.key)=\($0.value)" }.joined(separator: ",")
            received.withLock { $0.append("storage \(event.eventType) \(event.target) \(items)") }
        }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLockEvent event: AgoraRtmLockEvent) {
            let locks = event.lockDetailList.map { "\($0.lockName)/\($0.owner)" }.joined(separator: ",")
            received.withLock { $0.append("lock \(event.eventType) \(event.channelName) \(locks)") }
        }
    }

    @Test("AgoraRtmStorage, AgoraRtmLock and AgoraRtmHistory do what their samples say")
    func compatible() async throws {
        try await RunningSystem.with(.standalone) { system in
            let config = AgoraRtmClientConfig(appId: "dev", userId: "Tony")
            config.privateConfig = AgoraRtmPrivateConfig()
            config.privateConfig?.serviceType = [.message]
            config.privateConfig?.accessPointHosts = [system.address("edge")]
            let listener = Listener()
            let kit = try AgoraRtmClientKit(config, delegate: listener)
            #expect(await kit.login(nil).1 == nil)
            let options = AgoraRtmSubscribeOptions()
            options.features = [.metadata, .lock]
            #expect(await kit.subscribe(channelName: "channel1", option: options).1 == nil)

            let data = AgoraRtmMetadata()
            data.items = [AgoraRtmMetadataItem(key: "Quantity", value: "20")]
            let recording = AgoraRtmMetadataOptions()
            recording.recordTs = true
            recording.recordUserId = true
            let storage = try #require(kit.getStorage())
            #expect(
                await storage.setChannelMetadata(
                    channelName: "channel1", channelType: .message, data: data, options: recording, lock: nil
                ).1 == nil)
            let set = await storage.getChannelMetadata(channelName: "channel1", channelType: .message).0?.data
            #expect(set?.items?.first?.authorUserId == "Tony" && set?.items?.first?.updateTs ?? 0 > 0)
            data.majorRevision = (set?.majorRevision ?? 0) + 1
            #expect(
                await storage.updateChannelMetadata(
                    channelName: "channel1", channelType: .message, data: data, options: nil, lock: nil
                ).1?.errorCode == .storageOutdatedRevision)

            let lock = try #require(kit.getLock())
            #expect(
                await lock.setLock(
                    channelName: "channel1", channelType: .message, lockName: "manage", ttl: 30
                ).1 == nil)
            #expect(
                await lock.acquireLock(
                    channelName: "channel1", channelType: .message, lockName: "manage", retry: false
                ).1 == nil)
            data.majorRevision = -1
            #expect(
                await kit.updateChannelMetadata(
                    channelName: "channel1", channelType: .message, data: data, options: nil, lock: "manage"
                ).1 == nil)
            let locks = await lock.getLocks(channelName: "channel1", channelType: .message).0?.lockDetailList
            #expect(locks?.first?.owner == "Tony" && locks?.first?.ttl == 30)

            let publishing = AgoraRtmPublishOptions()
            publishing.storeInHistory = true
            #expect(await kit.publish(channelName: "channel1", message: "hi", option: publishing).1 == nil)
            let messages = await kit.getHistory()?.getMessages(
                channelName: "channel1", channelType: .message, options: nil)
            #expect(messages?.0?.messageList.map(\.message.stringData) == ["hi"])
            #expect(messages?.0?.newStart == 0)

            try await eventually("all events") { listener.received.withLock { $0.count } >= 6 }
            let received = listener.received.withLock { $0 }
            #expect(
                received.filter { $0.hasPrefix("storage") } == [
                    "storage snapshot channel1 ", "storage update channel1 Quantity=20",
                    "storage update channel1 Quantity=20",
                ])
            #expect(
                received.filter { $0.hasPrefix("lock") } == [
                    "lock snapshot channel1 ", "lock lockSet channel1 manage/",
                    "lock lockAcquired channel1 manage/Tony",
                ])
            kit.destroy()
        }
    }
}
