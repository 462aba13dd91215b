import Foundation
import NIOCore
import RTMClientTestSupport
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

/// What a client with keys sends, and what it makes of what arrives, over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientEncryptionTests {
    private func withEncryption(
        _ script: FakeEdge.Script? = nil, _ body: (RTMClient, FakeEdge) async throws -> Void
    ) async throws {
        let keys = [try EncryptionKey.sample()]
        try await withClient(script) {
            $0.encryptionKeys = keys
        } _: {
            try await body($0, $1)
        }
    }

    /// Bob, who isn't there, seals something for this place.
    private func sealed(
        _ text: String, at place: ContentContext, with key: EncryptionKey? = nil
    ) throws -> Data {
        var sealer = Sealer(appID: "app")
        var random = SystemRandomNumberGenerator()
        return try sealer.seal(.text(text), at: place, with: key ?? .sample(), random: &random)
    }

    private func publication(
        _ payload: Data, in channel: String = "lobby", offset: UInt64
    ) -> Rtm_Client_ServerFrame {
        var frame = FakeEdge.publication(channel, offset: offset, text: "")
        frame.publication.message.type = .binary
        frame.publication.message.payload = payload
        return frame
    }

    private let fromBob = ContentContext(.message, .message, "lobby", publisher: "bob", item: "")

    // MARK: Messages

    @Test("E-2, E-3: the server gets bytes that tell nothing, and custom types as they are")
    func publish() async throws {
        try await withEncryption { client, edge in
            try await client.publish("a secret", to: .channel("lobby"), customType: "note")
            try await client.publish(Data("a secret".utf8), to: .user("bob"))
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.map(\.messageType) == [.binary, .binary])
            #expect(sent.map(\.customType) == ["note", ""])
            for publish in sent { #expect(publish.payload.range(of: Data("secret".utf8)) == nil) }
            var opener = Opener(appID: "app")
            let place = ContentContext(.message, .message, "lobby", publisher: "alice", item: "note")
            let opened = try opener.openStored(
                try #require(sent.first).payload, at: place, with: [.sample()])
            #expect(opened == .text("a secret"))
        }
    }

    @Test("E-4: what can't be decrypted is left out and reported, with the reason and the key")
    func delivered() async throws {
        try await withEncryption { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            try await client.subscribe(to: "hall")
            let good = try sealed("hello", at: fromBob)
            let foreign = try EncryptionKey.sample(9)
            edge.push([
                publication(good, offset: 1),
                // The server delivers it again, and elsewhere.
                publication(good, offset: 2), publication(good, in: "hall", offset: 1),
                publication(try sealed("other key", at: fromBob, with: foreign), offset: 3),
                publication(Data("in the clear".utf8), offset: 4),
                publication(try sealed("end", at: fromBob), offset: 5),
            ])
            #expect(await events.nextMessage()?.payload == .text("hello"))
            let id = try EncryptionKey.sample().id
            let expected: [(String, DecryptionFailure)] = [
                ("lobby", .init(.replayed, id)), ("hall", .init(.notAuthentic, id)),
                ("lobby", .init(.unknownKey, foreign.id)), ("lobby", .init(.notEncrypted)),
            ]
            for (channel, failure) in expected {
                #expect(
                    await events.next()
                        == .undecryptable(
                            UndecryptableEvent(
                                content: .message, failure: failure, channelType: .message,
                                channelName: channel, publisher: "bob")))
            }
            #expect(await events.nextMessage()?.payload == .text("end"))
        }
    }

    @Test("H-13: a page of history is read as often as one likes, and a strange message doesn't spoil it")
    func history() async throws {
        let stored = try [
            sealed("new", at: fromBob), sealed("?", at: fromBob, with: .sample(9)),
            sealed("old", at: fromBob),
        ]
        let script: FakeEdge.Script = { frame in
            guard case .getHistory = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            return [
                FakeEdge.answer(to: frame) { answer in
                    answer.historyPage.messages = stored.map { payload in
                        .with { ($0.publisher, $0.type, $0.payload) = ("bob", .binary, payload) }
                    }
                }
            ]
        }
        try await withEncryption(script) { client, edge in
            try await client.subscribe(to: "lobby")
            var events = client.events().makeAsyncIterator()
            edge.push([publication(stored[0], offset: 1)])
            #expect(await events.nextMessage()?.payload == .text("new"))
            for _ in 0..<2 {
                let page = try await client.history(of: .channel("lobby"))
                #expect(page.messages.map(\.payload) == [.text("new"), .data(Data()), .text("old")])
                #expect(
                    page.messages.map { $0.decryptionFailure?.reason } == [nil, .unknownKey, nil])
            }
        }
    }

    @Test("L-20: with encryption a message has at most 32,722 bytes")
    func sizes() async throws {
        try await withEncryption { client, edge in
            try await client.publish(Data(count: 32_722), to: .channel("lobby"))
            #expect(edge.received.last?.publish.payload.count == 32_768)
            let error = await #expect(throws: RTMError.self) {
                try await client.publish(Data(count: 32_723), to: .channel("lobby"))
            }
            #expect(error?.code == .channelMessageLengthExceedLimitation)
            #expect(error?.limit == .init(name: "message bytes", value: 32_722))
        }
    }

    @Test("a publish that is sent again is the same ciphertext")
    func publishedAgain() async throws {
        let failures = FakeEdge.Failures(1)
        let script: FakeEdge.Script = { frame in
            if frame.isPublish, failures.next() { return [] }
            return [FakeEdge.usual(frame)].compactMap { $0 }
        }
        try await withEncryption(script) { client, edge in
            async let receipt = client.publish("once", to: .channel("lobby"))
            try await eventually("the publish arrives") { edge.received.contains(where: \.isPublish) }
            edge.dropConnections()
            _ = try await receipt
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.count == 2 && sent.last?.again == true)
            #expect(sent.first?.payload == sent.last?.payload)
        }
    }

    // MARK: States

    private func state(_ key: String, _ value: String, of user: String) throws -> [String: String] {
        let place = ContentContext(.state, .message, "lobby", publisher: user, item: key)
        return [key: try sealed(value, at: place).base64EncodedString()]
    }

    /// What the server has been told to show.
    private func states(on edge: FakeEdge) throws -> [String: String] {
        try #require(edge.received.filter(\.isSetState).last).setState.items.states
    }

    @Test("E-3: states are encrypted, and those of others decrypted; what isn't readable is empty (E-4)")
    func states() async throws {
        try await withEncryption { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            let good = try state("mood", "good", of: "bob")
            let stolen = try state("mood", "good", of: "carol")
            edge.push([
                .snapshot(
                    "lobby", at: 1,
                    [.user("bob", good), .user("dave", stolen), .user("eve", ["x": "plain"])]),
                .presence("lobby", offset: 2, .presenceEventRemoteStateChanged, of: "dave", stolen),
            ])
            let id = try EncryptionKey.sample().id
            let moved = await events.nextUndecryptable()
            #expect(moved?.content == .state && moved?.failure == .init(.notAuthentic, id))
            #expect(moved?.publisher == "dave" && moved?.count == 1)
            #expect(await events.nextUndecryptable()?.failure == .init(.notEncrypted))
            let snapshot = await events.nextPresence()
            #expect(
                snapshot?.change
                    == .snapshot([
                        UserState(userID: "bob", states: ["mood": "good"]),
                        UserState(userID: "dave", states: ["mood": ""]),
                        UserState(userID: "eve", states: ["x": ""]),
                    ]))
            #expect(await events.nextUndecryptable()?.publisher == "dave")
            try await client.setState(["mood": "fine"], in: "lobby")
            let sent = try states(on: edge)
            #expect(sent["mood"]?.contains("fine") == false)
            var opener = Opener(appID: "app")
            let place = ContentContext(.state, .message, "lobby", publisher: "alice", item: "mood")
            let bytes = try #require(sent["mood"].flatMap { Data(base64Encoded: $0) })
            #expect(try opener.openStored(bytes, at: place, with: [.sample()]) == .text("fine"))
        }
    }

    @Test("S-19: after a reconnect a state is set again if the server has lost it, and not if it has it")
    func statesRestored() async throws {
        try await withEncryption { client, edge in
            try await client.subscribe(to: "lobby")
            var events = client.events().makeAsyncIterator()
            try await client.setState(["mood": "fine"], in: "lobby")
            let shown = try states(on: edge)
            edge.push([.snapshot("lobby", at: 1, [.user("alice", shown)])])
            #expect(
                await events.nextPresence()?.change
                    == .snapshot([UserState(userID: "alice", states: ["mood": "fine"])]))
            #expect(edge.received.filter(\.isSetState).count == 1, "What is shown is what was set.")
            edge.push([.snapshot("lobby", at: 2, [.user("alice")])])
            try await eventually("the state is set again") {
                edge.received.filter(\.isSetState).count == 2
            }
        }
    }

    @Test("P-46, S-43: a return brings the states sealed as they were, so that others see no change")
    func statesBroughtAgain() async throws {
        try await withEncryption { client, edge in
            try await client.setState(["mood": "fine"], in: "lobby")
            try await client.subscribe(to: "lobby")
            let brought = try #require(edge.received.last { $0.isSubscribe }).subscribe.states
            #expect(brought.first.map { !$0.value.contains("fine") } == true)
            var events = client.events().makeAsyncIterator()
            edge.dropConnections()
            _ = await events.nextLinkState(.connected)
            let login = try #require(edge.received.last { $0.isLogin }).login
            #expect(login.subscriptions.first?.states == brought)
        }
    }

    @Test("L-14: a state that waits has at most 722 bytes with encryption")
    func stateSizes() async throws {
        try await withEncryption { client, _ in
            try await client.setState(["a": String(repeating: "x", count: 722)], in: "lobby")
            let error = await #expect(throws: RTMError.self) {
                try await client.setState(["a": String(repeating: "x", count: 723)], in: "lobby")
            }
            #expect(error?.code == .presenceStateValueSizeOverflow)
            #expect(error?.limit == .init(name: "state value bytes", value: 722))
        }
    }

    // MARK: Metadata

    @Test("E-3: metadata values are encrypted and compared by revision, whoever wrote them")
    func metadata() async throws {
        let server = MetadataServer()
        let script: FakeEdge.Script = { server.answer($0) ?? [FakeEdge.usual($0)].compactMap { $0 } }
        try await withEncryption(script) { client, _ in
            let auction = MetadataTarget.channel("auction")
            try await client.setMetadata(["price": "299"], of: auction)
            #expect(server.value("price")?.contains("299") == false)
            #expect(try await client.metadata(of: auction)["price"] == "299")
            try await client.editMetadata(of: auction) { now in
                [MetadataChange("price", (now["price"] ?? "") + "1")]
            }
            let now = try await client.metadata(of: auction)
            #expect(now["price"] == "2991" && now.majorRevision == 2)
            // The server shows a value under another key, and one of its own.
            server.write("other", server.value("price") ?? "")
            server.write("plain", "text")
            let strange = try await client.metadata(of: auction)
            #expect(strange["other"] == "" && strange["plain"] == "")
            #expect(strange.item(for: "other")?.decryptionFailure?.reason == .notAuthentic)
            #expect(strange.item(for: "plain")?.decryptionFailure == .init(.notEncrypted))
            #expect(strange["price"] == "2991")
        }
    }

    @Test("D-11, E-6: the server can't name another author")
    func author() async throws {
        let place = ContentContext(.metadata, .message, "auction", publisher: "bob", item: "price")
        let value = AuthoredContent(author: "bob", sealed: try sealed("1", at: place)).text
        let script: FakeEdge.Script = { frame in
            guard case .getMetadata = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            return [
                FakeEdge.answer(to: frame) { answer in
                    answer.metadata.items = ["", "bob", "carol"].map { author in
                        .with { ($0.key, $0.value, $0.author) = ("price", value, author) }
                    }
                }
            ]
        }
        try await withEncryption(script) { client, _ in
            let items = try await client.metadata(of: .channel("auction")).items
            #expect(items.map(\.value) == ["1", "1", ""])
            #expect(items.last?.decryptionFailure?.reason == .notAuthentic)
        }
    }

    @Test("L-36: a value is measured as it is stored")
    func metadataSizes() async throws {
        let server = MetadataServer()
        let script: FakeEdge.Script = { server.answer($0) ?? [FakeEdge.usual($0)].compactMap { $0 } }
        try await withEncryption(script) { client, _ in
            let longest = String(repeating: "x", count: 12_233)
            try await client.setMetadata(["k": longest], of: .channel("auction"))
            #expect(server.value("k")?.utf8.count == 16_380)
            let error = await #expect(throws: RTMError.self) {
                try await client.setMetadata(["k": longest + "1234"], of: .channel("auction"))
            }
            #expect(error?.code == .storageValueLengthOverflow)
            #expect(error?.limit == .init(name: "metadata value bytes", value: 12_236))
            let set = await #expect(throws: RTMError.self) {
                try await client.setMetadata(["k": longest, "l": "1"], of: .channel("auction"))
            }
            #expect(set?.code == .storageMetadataLengthOverflow)
        }
    }
}
