import AgoraRtmKit
import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Synchronization
import Testing

/// End-to-end encryption through the real system: who has a key understands the others, the server and
/// everybody else don't.
@Suite(.serialized, .ends(withinMinutes: 2)) struct EncryptionTests {
    private static let salt = Data(repeating: 3, count: EncryptionKey.saltBytes)

    private func key(_ secret: String) throws -> EncryptionKey { try EncryptionKey(secret, salt: Self.salt) }

    private func client(
        _ system: RunningSystem, _ user: String, _ secrets: String..., through address: String? = nil
    ) async throws -> RTMClient {
        let keys = try secrets.map(key)
        let servers = try address.map { [try ServerAddress($0)] }
        let client = try system.client(user) {
            $0.encryptionKeys = keys
            if let servers { $0.servers = servers }
        }
        try await client.login()
        return client
    }

    @Test(
        "E-2, E-4, H-13: two with a key talk; one with another key, and one without, see nothing of it",
        arguments: Deployment.allCases)
    func messages(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            let alice = try await client(system, "alice", "one")
            let bob = try await client(system, "bob", "one")
            let mallory = try await client(system, "mallory", "guessed")
            let nobody = try await client(system, "nobody")
            var (received, guessed, plain) = (
                bob.events().makeAsyncIterator(), mallory.events().makeAsyncIterator(),
                nobody.events().makeAsyncIterator()
            )
            for reader in [bob, mallory, nobody] { try await reader.subscribe(to: "lobby") }
            try await alice.publish(
                "a secret", to: .channel("lobby"), customType: "note", storeInHistory: true)
            let message = try #require(await received.nextMessage())
            #expect(message.payload == .text("a secret") && message.customType == "note")
            let refused = try #require(await guessed.nextUndecryptable())
            #expect(refused.failure == DecryptionFailure(.unknownKey, try key("one").id))
            #expect(refused.publisher == "alice" && refused.channelName == "lobby")
            guard case .data(let bytes)? = await plain.nextMessage()?.payload else {
                Issue.record("bytes were expected")
                return
            }
            #expect(bytes.count == 8 + 46 && bytes.range(of: Data("secret".utf8)) == nil)

            try await nobody.publish("in the clear", to: .user("bob"))
            #expect(await received.nextUndecryptable()?.failure == DecryptionFailure(.notEncrypted))
            try await alice.publish(Data([0, 255]), to: .user("bob"), storeInHistory: true)
            #expect(await received.nextMessage()?.payload == .data(Data([0, 255])))
            var own = alice.events().makeAsyncIterator()
            try await alice.publish("note to self", to: .user("alice"))
            #expect(await own.nextMessage()?.payload == .text("note to self"))

            for _ in 0..<2 {
                let page = try await bob.history(of: .channel("lobby"))
                #expect(page.messages.map(\.payload) == [.text("a secret")])
            }
            let inbox = try await bob.history(of: .user("bob"))
            #expect(inbox.messages.map(\.payload) == [.data(Data([0, 255]))])
            let strange = try await mallory.history(of: .channel("lobby"))
            #expect(strange.messages.map(\.payload) == [.data(Data())])
            #expect(strange.messages.first?.decryptionFailure?.reason == .unknownKey)
            for client in [alice, bob, mallory, nobody] { await client.close() }
        }
    }

    @Test("a key is changed while everybody goes on reading everything")
    func rotation() async throws {
        try await RunningSystem.with(.standalone) { system in
            let alice = try await client(system, "alice", "old")
            let bob = try await client(system, "bob", "old")
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby")
            func publish(_ text: String) async throws {
                try await alice.publish(text, to: .channel("lobby"), storeInHistory: true)
                #expect(await received.nextMessage()?.payload == .text(text))
            }
            try await publish("with the old key")
            try bob.useEncryptionKeys([key("old"), key("new")])
            // A message that is there already when bob's event loop wakes comes before the keys.
            _ = await bob.flightRecord()
            try alice.useEncryptionKeys([key("new"), key("old")])
            try await publish("with the new key")
            let page = try await bob.history(of: .channel("lobby"))
            #expect(page.messages.map(\.payload) == [.text("with the new key"), .text("with the old key")])
            try bob.useEncryptionKeys([key("new")])
            let later = try await bob.history(of: .channel("lobby"))
            #expect(later.messages.last?.decryptionFailure == .init(.unknownKey, try key("old").id))
            for client in [alice, bob] { await client.close() }
        }
    }

    @Test("S-19: a client that comes back goes on without a gap, and a new one reads on, too")
    func reconnect() async throws {
        try await RunningSystem.with(.standalone) { system in
            let proxy = try await FaultProxy.start(to: system.address("edge"))
            let alice = try await client(system, "alice", "one")
            let bob = try await client(system, "bob", "one", through: proxy.address)
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby")
            try await bob.setState(["mood": "fine"], in: "lobby")
            try await alice.publish("1", to: .channel("lobby"))
            #expect(await received.nextMessage()?.payload == .text("1"))
            for round in 2...4 {
                proxy.spoil(.reset)
                #expect(await received.nextLinkState(.disconnected) != nil)
                try await alice.publish("\(round)", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("\(round)"))
            }
            #expect(try await alice.state(of: "bob", in: "lobby") == ["mood": "fine"])
            // Alice starts again: a new sender, whom bob doesn't know yet.
            await alice.close()
            let again = try await client(system, "alice", "one")
            try await again.publish("5", to: .channel("lobby"))
            #expect(await received.nextMessage()?.payload == .text("5"))
            for client in [again, bob] { await client.close() }
            try await proxy.stop()
        }
    }

    @Test("E-3, E-4: states are readable for those with the key", arguments: Deployment.allCases)
    func states(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            let alice = try await client(system, "alice", "one")
            let bob = try await client(system, "bob", "one")
            let nobody = try await client(system, "nobody")
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby")
            // The state waits in the client until the channel is subscribed, and comes with the user (P-46).
            try await alice.setState(["mood": "good", "empty": ""], in: "lobby")
            try await alice.subscribe(to: "lobby")
            let expected = UserState(userID: "alice", states: ["mood": "good", "empty": ""])
            while let event = await received.nextPresence(in: "lobby") {
                if event.change == .joined("alice", states: expected.states) { break }
            }
            #expect(try await bob.state(of: "alice", in: "lobby") == expected.states)
            let listed = try await bob.whoNow(in: "lobby", includingStates: true).users
            #expect(listed.contains(expected))
            let raw = try await nobody.state(of: "alice", in: "lobby")
            #expect(Set(raw.keys) == ["mood", "empty"])
            #expect(raw.values.allSatisfy { !$0.contains("good") && $0.utf8.count >= 64 })
            for client in [alice, bob, nobody] { await client.close() }
        }
    }

    @Test("E-3, D-5: metadata are compared and set as ever, and the server sees none of the values")
    func metadata() async throws {
        try await RunningSystem.with(.standalone) { system in
            let alice = try await client(system, "alice", "one")
            let bob = try await client(system, "bob", "one")
            let nobody = try await client(system, "nobody")
            let auction = MetadataTarget.channel("auction")
            var seen = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "auction", features: [.metadata])
            let first = try await alice.setMetadata(
                ["bid": "10"], of: auction, options: .init(majorRevision: 0, recordsAuthor: true))
            #expect(await seen.nextStorage()?.kind == .snapshot)
            #expect(await seen.nextStorage()?.metadata["bid"] == "10")
            let late = await #expect(throws: RTMError.self) {
                try await bob.setMetadata(
                    [MetadataChange("bid", "11", revision: first + 1)], of: auction)
            }
            #expect(late?.code == .storageOutdatedRevision)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in [alice, bob] {
                    group.addTask {
                        for _ in 0..<5 {
                            try await client.editMetadata(of: auction) { now in
                                [MetadataChange("bid", "\((Int(now["bid"] ?? "") ?? 0) + 1)")]
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await bob.metadata(of: auction)["bid"] == "20")
            let raw = try await nobody.metadata(of: auction)["bid"]
            #expect(raw.map { $0.utf8.count > 60 } == true)
            try await nobody.setMetadata(["bid": "1"], of: auction)
            let forged = try await alice.metadata(of: auction).item(for: "bid")
            #expect(forged?.value == "" && forged?.decryptionFailure == .init(.notEncrypted))

            try await alice.setMetadata(["name": "Alice"], of: .ownUser)
            #expect(try await bob.metadata(of: .user("alice"))["name"] == "Alice")
            for client in [alice, bob, nobody] { await client.close() }
        }
    }

    @Test("rtm encrypts and decrypts with the keys of a file")
    func commandLine() async throws {
        try await RunningSystem.with(.standalone) { system in
            let file = system.directory.appending(path: "team.key")
            try "\(String(repeating: "0f", count: 32)) a secret\n".write(
                to: file, atomically: true, encoding: .utf8)
            let withKeys = ["--key-file", file.path]
            let publish = try await system.end(
                system.command(["publish", "lobby", "greetings", "--history"] + withKeys))
            #expect(publish.status == 0)
            let read = try await system.end(system.command(["history", "lobby"] + withKeys))
            #expect(read.output.contains { $0.contains("greetings") })
            let without = try await system.end(system.command(["history", "lobby"]))
            #expect(without.status == 0 && !without.output.contains { $0.contains("greetings") })
        }
    }

    @Test("E-4: in the compatible API a strange message is left out, and the rest arrives")
    func compatible() async throws {
        final class Listener: NSObject, AgoraRtmClientDelegate, Sendable {
            let texts = Mutex<[String]>([])

            func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
                texts.withLock { $0.append(event.message.stringData ?? "bytes") }
            }
        }
        try await RunningSystem.with(.standalone) { system in
            func kit(_ user: String, _ secret: String?, _ listener: Listener? = nil) async throws
                -> AgoraRtmClientKit
            {
                let config = AgoraRtmClientConfig(appId: "dev", userId: user)
                config.privateConfig = AgoraRtmPrivateConfig()
                config.privateConfig?.serviceType = [.message]
                config.privateConfig?.accessPointHosts = [system.address("edge")]
                if let secret {
                    config.encryptionConfig = AgoraRtmEncryptionConfig()
                    config.encryptionConfig?.encryptionMode = .AES256GCM
                    config.encryptionConfig?.encryptionKey = secret
                    config.encryptionConfig?.encryptionSalt = Self.salt
                }
                let kit = try AgoraRtmClientKit(config, delegate: listener)
                let (_, error) = await kit.login(nil)
                #expect(error == nil)
                return kit
            }
            let listener = Listener()
            let bob = try await kit("bob", "one", listener)
            let alice = try await kit("alice", "one")
            let mallory = try await kit("mallory", "guessed")
            _ = await bob.subscribe(channelName: "lobby", option: nil)
            let stored = AgoraRtmPublishOptions()
            stored.storeInHistory = true
            _ = await mallory.publish(channelName: "lobby", message: "let me in", option: stored)
            _ = await alice.publish(channelName: "lobby", message: "hello", option: stored)
            try await eventually("the message arrives") { !listener.texts.withLock { $0 }.isEmpty }
            #expect(listener.texts.withLock { $0 } == ["hello"])
            let (history, _) =
                await bob.getHistory()?.getMessages(
                    channelName: "lobby", channelType: .message, options: nil) ?? (nil, nil)
            let messages = history?.messageList.map(\.message) ?? []
            #expect(messages.map(\.stringData) == ["hello", nil])
            #expect(messages.last?.rawData == Data())
            for client in [alice, bob, mallory] { client.destroy() }
        }
    }
}
