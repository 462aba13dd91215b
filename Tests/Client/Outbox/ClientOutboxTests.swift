import Foundation
import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// An outbox over real files, against an edge that answers as each test says.
@Suite(.ends(withinMinutes: 1))
struct ClientOutboxTests {
    /// Leaves publishes without an answer.
    private static let silent: FakeEdge.Script = { frame in
        frame.isPublish ? [] : [FakeEdge.usual(frame)].compactMap { $0 }
    }

    private static func answering(
        _ answer: @escaping @Sendable (Rtm_Client_ClientFrame) -> Rtm_Client_ServerFrame
    ) -> FakeEdge.Script {
        { frame in frame.isPublish ? [answer(frame)] : [FakeEdge.usual(frame)].compactMap { $0 } }
    }

    /// A folder for the test's files, and an edge.
    private func with(_ test: (URL, FakeEdge) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let edge = try await FakeEdge.start()
        do {
            try await test(folder.appending(path: "outbox"), edge)
        } catch {
            try await edge.stop()
            throw error
        }
        try await edge.stop()
    }

    @Test("What the app gives while it is logged out is published after the login, in order, and once")
    func offline() async throws {
        try await with { file, edge in
            let client = try RTMClient.forTest(edge)
            var events = client.events().makeAsyncIterator()
            let outbox = try await client.openOutbox(at: file)
            var given: [OutboxMessage] = []
            for text in ["a", "b", "c"] {
                given.append(
                    try await outbox.publish(text, to: .channel("c"), customType: "t", storeInHistory: true))
            }
            #expect(try await outbox.waiting() == given)
            try await client.login()
            try await outbox.waitUntilEmpty()
            for message in given {
                let event = await events.nextOutbox()
                #expect(event?.message == message)
                let receipt = PublishReceipt(timestampMilliseconds: 1_790_000_000_000, offset: 1)
                #expect(event?.outcome == .published(receipt))
            }
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.map(\.sequence) == [1, 2, 3])
            #expect(Set(sent.map(\.origin)) == [given[0].id.origin])
            #expect(sent.allSatisfy { !$0.again && $0.customType == "t" && $0.storeInHistory })
            #expect(sent.map { String(decoding: $0.payload, as: UTF8.self) } == ["a", "b", "c"])
            await client.close()
            // What has ended is in the file no more.
            let next = try RTMClient.forTest(edge)
            #expect(try await next.openOutbox(at: file).waiting().isEmpty)
            await next.close()
        }
    }

    @Test("What had no answer when the app ended is sent again by the next one, under the same number")
    func restart() async throws {
        try await with { file, edge in
            edge.follow(Self.silent)
            let first = try RTMClient.forTest(edge)
            let message = try await first.openOutbox(at: file).publish("x", to: .channel("c"))
            try await first.login()
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            await first.close()
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            let second = try RTMClient.forTest(edge)
            let outbox = try await second.openOutbox(at: file)
            #expect(try await outbox.waiting() == [message])
            #expect(try await !outbox.takeBack(message.id))
            try await second.login()
            try await outbox.waitUntilEmpty()
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.map(\.again) == [false, true])
            #expect(sent.map(\.origin) == [message.id.origin, message.id.origin])
            #expect(sent.map(\.sequence) == [1, 1])
            #expect(sent[1].ageMs > 0)
            // A new message counts anew under another origin.
            let next = try await outbox.publish("y", to: .channel("c"))
            #expect(next.id.origin != message.id.origin && next.id.sequence == 1)
            try await outbox.waitUntilEmpty()
            await second.close()
        }
    }

    @Test("Over a loss of the link a message keeps its number, and its age counts from the first sending")
    func loss() async throws {
        try await with { file, edge in
            edge.follow(Self.silent)
            let client = try RTMClient.forTest(edge)
            try await client.login()
            let outbox = try await client.openOutbox(at: file)
            try await outbox.publish("x", to: .channel("c"))
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            edge.dropConnections()
            try await outbox.waitUntilEmpty()
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.map(\.again) == [false, true] && sent.map(\.sequence) == [1, 1])
            await client.close()
        }
    }

    @Test("A refusal for good and an outcome that nobody knows are ends, and a refusal for now is none")
    func refusals() async throws {
        try await with { file, edge in
            let rates = FakeEdge.Failures(1)
            edge.follow(
                Self.answering { frame in
                    switch (frame.publish.channel, frame.publish.again) {
                    case ("denied", _): FakeEdge.refusal(of: frame, .errorChannelReceiverOffline)
                    case ("lost", _): FakeEdge.refusal(of: frame, .errorChannelPublishMessageFailed)
                    case ("slow", _) where rates.next():
                        FakeEdge.refusal(of: frame, .errorChannelPublishMessageTooFrequent, retryAfterMs: 5)
                    case ("late", false): FakeEdge.refusal(of: frame, .errorChannelPublishMessageTimeout)
                    default: FakeEdge.usual(frame) ?? .init()
                    }
                })
            let client = try RTMClient.forTest(edge)
            var events = client.events().makeAsyncIterator()
            let outbox = try await client.openOutbox(at: file)
            for name in ["denied", "lost", "slow", "late"] {
                try await outbox.publish(name, to: .channel(name))
            }
            try await client.login()
            try await outbox.waitUntilEmpty()
            await client.close()
            var ends: [String: String] = [:]
            while let event = await events.nextOutbox() {
                guard case .text(let text) = event.message.payload else { continue }
                ends[text] =
                    switch event.outcome {
                    case .published: "published"
                    case .refused(let error): "refused \(error.code.rawValue)"
                    case .unknown(let error): "unknown \(error.code.rawValue)"
                    }
            }
            #expect(
                ends == [
                    "denied": "refused -11033", "lost": "unknown -11024", "slow": "published",
                    "late": "published",
                ])
        }
    }

    @Test("A repetition that is refused may have been published, and what a rate refuses was not sent")
    func repetitions() async throws {
        try await with { file, edge in
            edge.follow(Self.silent)
            let first = try RTMClient.forTest(edge)
            try await first.openOutbox(at: file).publish("x", to: .channel("c"))
            try await first.login()
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            await first.close()
            let rates = FakeEdge.Failures(1)
            edge.follow(
                Self.answering { frame in
                    switch frame.publish.channel {
                    case "c": FakeEdge.refusal(of: frame, .errorChannelPublishPermissionDenied)
                    case _ where rates.next():
                        FakeEdge.refusal(of: frame, .errorChannelPublishMessageTooFrequent, retryAfterMs: 5)
                    default: FakeEdge.usual(frame) ?? .init()
                    }
                })
            let second = try RTMClient.forTest(edge)
            var events = second.events().makeAsyncIterator()
            let outbox = try await second.openOutbox(at: file)
            try await second.login()
            guard case .unknown(let error) = await events.nextOutbox()?.outcome else {
                Issue.record("it has another end")
                return
            }
            #expect(error.code == .channelPublishPermissionDenied)
            try await outbox.publish("y", to: .channel("d"))
            try await outbox.waitUntilEmpty()
            let sent = edge.received.filter { $0.isPublish && $0.publish.channel == "d" }.map(\.publish)
            #expect(sent.map(\.again) == [false, false] && sent.map(\.sequence) == [1, 1])
            await second.close()
        }
    }

    @Test("A file is opened by one client at a time, and a client has one outbox")
    func once() async throws {
        try await with { file, edge in
            let client = try RTMClient.forTest(edge)
            let outbox = try await client.openOutbox(at: file)
            try await outbox.publish("x", to: .channel("c"))
            let other = try RTMClient.forTest(edge)
            #expect(await refusal(of: other, at: file) == .duplicateOperation)
            #expect(await refusal(of: client, at: file.appendingPathExtension("b")) == .duplicateOperation)
            await outbox.close()
            #expect(await code { _ = try await outbox.waiting() } == .instanceAlreadyReleased)
            #expect(try await other.openOutbox(at: file).waiting().count == 1)
            // A second outbox of the client is none of the first handle's.
            let second = try await client.openOutbox(at: file.appendingPathExtension("b"))
            #expect(
                await code { try await outbox.publish("y", to: .channel("c")) } == .instanceAlreadyReleased)
            await outbox.close()
            #expect(try await second.waiting().isEmpty)
            await client.close()
            await other.close()
            #expect(await refusal(of: client, at: file) == .instanceAlreadyReleased)
        }
    }

    @Test("A file of somebody or something else is left as it is, and so is a place where no file can be")
    func foreign() async throws {
        try await with { file, edge in
            let client = try RTMClient.forTest(edge)
            try await client.openOutbox(at: file).publish("x", to: .channel("c"))
            await client.close()
            let note = file.deletingLastPathComponent().appending(path: "note")
            try Data("buy milk\n".utf8).write(to: note)
            let contents = try Data(contentsOf: file)
            let bob = try RTMClient.forTest(edge, user: "bob")
            #expect(await refusal(of: bob, at: file) == .invalidParameter)
            #expect(await refusal(of: bob, at: note) == .invalidParameter)
            #expect(await refusal(of: bob, at: file.appending(path: "x")) == .initServiceFailed)
            #expect(await refusal(of: bob, at: file, messagesMax: 0) == .invalidParameter)
            #expect(try Data(contentsOf: file) == contents)
            #expect(try Data(contentsOf: note) == Data("buy milk\n".utf8))
            await bob.close()
        }
    }

    private func refusal(
        of client: RTMClient, at file: URL, messagesMax: Int = 1
    ) async -> ErrorCode? {
        await code { _ = try await client.openOutbox(at: file, messagesMax: messagesMax) }
    }

    @Test("A bad message is refused, a full outbox names its limit, and what wasn't sent can be taken back")
    func giving() async throws {
        try await with { file, edge in
            let client = try RTMClient.forTest(edge)
            let outbox = try await client.openOutbox(at: file, messagesMax: 2)
            #expect(await code { try await outbox.publish("x", to: .channel("")) } == .invalidChannelName)
            let topic = MessageDestination.topic("t", in: "c")
            #expect(await code { try await outbox.publish("x", to: topic) } == .invalidChannelType)
            let long = Data(repeating: 0, count: Limits.messageBytesMax + 1)
            #expect(
                await code { try await outbox.publish(long, to: .channel("c")) }
                    == .channelMessageLengthExceedLimitation)
            let first = try await outbox.publish("x", to: .channel("c"))
            try await outbox.publish(Data([1]), to: .user("bob"))
            do throws(RTMError) {
                try await outbox.publish("z", to: .channel("c"))
                Issue.record("it was taken")
            } catch {
                #expect(error.limit == .init(name: "outbox messages", value: 2))
            }
            #expect(try await outbox.takeBack(first.id))
            #expect(try await !outbox.takeBack(first.id))
            try await client.login()
            try await outbox.waitUntilEmpty()
            #expect(edge.received.filter(\.isPublish).map(\.publish.channel) == ["bob"])
            await client.close()
        }
    }

    @Test("When the file can't be written the call says so, and the next one that can saves all that waits")
    func disk() async throws {
        try await with { file, edge in
            let client = try RTMClient.forTest(edge)
            let outbox = try await client.openOutbox(at: file, bytesMax: 1 << 20)
            let text = String(repeating: "x", count: 30_000)
            for _ in 0..<3 { try await outbox.publish(text, to: .channel("c")) }
            // The file has grown so far that it is written anew, for which there is no folder now.
            try FileManager.default.removeItem(at: file.deletingLastPathComponent())
            let unwritten = await code { try await outbox.publish("y", to: .channel("c")) }
            #expect(unwritten == .channelPublishMessageFailed)
            #expect(try await outbox.waiting().count == 3)
            let kept = try await outbox.waiting()[0].id
            #expect(await code { _ = try await outbox.takeBack(kept) } == .channelPublishMessageFailed)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try await outbox.publish("z", to: .channel("c"))
            await client.close()
            let next = try RTMClient.forTest(edge)
            let waiting = try await next.openOutbox(at: file).waiting()
            #expect(waiting.map(\.payload) == [.text(text), .text(text), .text("z")])
            await next.close()
        }
    }
}
