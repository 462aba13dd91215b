import Foundation
import RTMClient
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Synchronization
import Testing

/// Publishes whose answer the loss of the connection took: they are sent again, and complete once.
@Suite(.ends(withinMinutes: 1))
struct ClientRepublishTests {
    /// Leaves publishes without an answer.
    private static let silent: FakeEdge.Script = { frame in
        frame.isPublish ? [] : [FakeEdge.usual(frame)].compactMap { $0 }
    }

    /// Lets nobody log in again.
    private static let away: FakeEdge.Script = { frame in
        frame.isPublish || frame.isLogin ? [] : [FakeEdge.usual(frame)].compactMap { $0 }
    }

    @Test
    func
        `A publish without an answer is sent again after the loss, and ends with the answer that comes then`()
        async throws
    {
        try await withClient(Self.silent) { client, edge in
            async let receipt = client.publish(
                "x", to: .channel("c"), customType: "t", storeInHistory: true)
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            edge.follow { frame in
                guard frame.isPublish else { return [FakeEdge.usual(frame)].compactMap { $0 } }
                return [
                    FakeEdge.answer(to: frame) {
                        $0.published = .with { ($0.offset, $0.timestampMs) = (9, 77) }
                    }
                ]
            }
            edge.dropConnections()
            #expect(try await receipt == PublishReceipt(timestampMilliseconds: 77, offset: 9))
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.map(\.again) == [false, true])
            #expect(sent.map(\.sequence) == [1, 1])
            #expect(sent.last?.ageMs ?? 0 > 0)
            #expect(
                sent.allSatisfy {
                    $0.payload == .init("x".utf8) && $0.customType == "t" && $0.storeInHistory
                })
            let instances = edge.received.filter(\.isLogin).map(\.login.instance)
            #expect(instances.count == 2 && Set(instances).count == 1 && instances[0] != 0)
        }
    }

    @Test
    func
        `Order is kept, before new publishes, over two losses; only what has no answer is sent again`()
        async throws
    {
        try await withClient(Self.silent) { client, edge in
            edge.follow { frame in
                let isLost = frame.isPublish && frame.publish.sequence != 2
                return isLost ? [] : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            let done = Done()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...5 {
                    group.addTask {
                        try await client.publish("\(number)", to: .channel("c"))
                        done.add(number)
                    }
                    try await eventually("\(number) arrived") {
                        edge.received.filter(\.isPublish).count == number
                    }
                }
                try await eventually("one is done") { done.numbers == [2] }
                edge.follow(Self.silent)
                edge.dropConnections()
                try await eventually("four are sent again") { edge.received.filter(\.isPublish).count == 9 }
                try await eventually("connected again") { client.linkState == .connected }
                edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
                edge.dropConnections()
                try await group.waitForAll()
                try await client.publish("6", to: .channel("c"))
            }
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.map(\.sequence) == [1, 2, 3, 4, 5, 1, 3, 4, 5, 1, 3, 4, 5, 6])
            #expect(
                sent.map(\.again) == [false, false, false, false, false] + Array(repeating: true, count: 8)
                    + [false])
            #expect(done.numbers.count == 5)
        }
    }

    @Test
    func `The request timeout runs on while the client is away, and then the outcome is unknown`()
        async throws
    {
        let quick: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(300) }
        try await withClient(Self.silent, quick) { client, edge in
            async let publish = #expect(throws: RTMError.self) {
                try await client.publish("x", to: .channel("c"))
            }
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            edge.follow(Self.away)
            edge.dropConnections()
            let error = await publish
            #expect(error?.code == .channelPublishMessageTimeout)
            #expect(error?.reason.contains("unknown") == true)
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            try await eventually("connected again") { client.linkState == .connected }
            #expect(edge.received.filter(\.isPublish).count == 1)
        }
    }

    @Test
    func `S-8, S-16: what is published while the client is away fails at once and is never sent`()
        async throws
    {
        try await withClient { client, edge in
            edge.follow(Self.away)
            edge.dropConnections()
            try await eventually("away") { client.linkState != .connected }
            #expect(
                await code { try await client.publish("x", to: .channel("c")) } == .channelNotConnected)
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            client.networkChanged()
            try await eventually("connected again") { client.linkState == .connected }
            #expect(edge.received.filter(\.isPublish).isEmpty)
        }
    }

    @Test func `S-22: a logout while the client is away ends what waits for its answer`() async throws {
        try await withClient(Self.silent) { client, edge in
            async let publish = #expect(throws: RTMError.self) {
                try await client.publish("x", to: .channel("c"))
            }
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            edge.follow(Self.away)
            edge.dropConnections()
            try await eventually("away") { client.linkState != .connected }
            try await client.logout()
            let error = await publish
            #expect(error?.code == .channelPublishMessageFailed)
            #expect(error?.reason.contains("unknown") == true)
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            try await client.login()
            try await client.publish("y", to: .channel("c"))
            #expect(edge.received.filter(\.isPublish).map(\.publish.sequence) == [1, 2])
        }
    }

    @Test func `A close and a failure of the link end publishes that wait while the client is away, too`()
        async throws
    {
        try await withClient(Self.silent) { client, edge in
            async let failed = code { try await client.publish("x", to: .channel("c")) }
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            edge.follow { frame in
                frame.isLogin
                    ? [FakeEdge.refusal(of: frame, .errorInvalidToken)]
                    : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            edge.dropConnections()
            #expect(await failed == .channelPublishMessageFailed)
            #expect(client.linkState == .failed)
            edge.follow(Self.silent)
            try await client.login()
            async let closed = code { try await client.publish("y", to: .channel("c")) }
            try await eventually("it arrived") { edge.received.filter(\.isPublish).count == 2 }
            edge.follow(Self.away)
            edge.dropConnections()
            try await eventually("away") { client.linkState != .connected }
            await client.close()
            #expect(await closed == .instanceAlreadyReleased)
        }
    }

    /// The edge has no messaging service at present.
    private static let withoutMessaging: FakeEdge.Script = { frame in
        guard frame.isPublish else { return [FakeEdge.usual(frame)].compactMap { $0 } }
        var refusal = FakeEdge.refusal(of: frame, .errorChannelPublishMessageFailed, "messaging is away")
        // This is longer than two answers in a row can be apart.
        refusal.error.retryAfterMs = 250
        return [refusal]
    }

    @Test
    func
        `A publish whose server lost messaging is sent again, and the next ones behind it`()
        async throws
    {
        try await withClient(Self.withoutMessaging) { client, edge in
            try await withThrowingTaskGroup(of: Void.self) { group in
                func isSentAgain(_ times: Int) -> Bool {
                    edge.received.count { $0.publish.sequence == 1 && $0.publish.again } >= times
                }
                group.addTask { try await client.publish("1", to: .channel("c")) }
                try await eventually("it is refused, and sent again") { isSentAgain(1) }
                group.addTask { try await client.publish("2", to: .channel("c")) }
                try await eventually("it is sent again") { isSentAgain(3) }
                edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
                try await group.waitForAll()
            }
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(sent.allSatisfy { $0.payload == .init("\($0.sequence)".utf8) })
            let ones = sent.count - 1
            #expect(sent.map(\.sequence) == Array(repeating: 1, count: ones) + [2], "2 waits for 1's answer")
            #expect(sent.map(\.again) == [false] + Array(repeating: true, count: ones - 1) + [false])
            try await client.publish("3", to: .channel("c"))
            #expect(edge.received.last { $0.isPublish }?.publish.again == false)
        }
    }

    @Test
    func `While messaging stays away the request timeout runs on, and the call throws the last refusal`()
        async throws
    {
        let quick: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(900) }
        try await withClient(Self.withoutMessaging, quick) { client, edge in
            let error = await #expect(throws: RTMError.self) {
                try await client.publish("x", to: .channel("c"))
            }
            #expect(error?.code == .channelPublishMessageFailed)
            #expect(error?.reason.contains("messaging is away") == true)
            #expect(error?.reason.contains("unknown") == true)
            // A command that did it again could publish it twice.
            #expect(error?.retryAfter == nil)
        }
    }

    @Test func `What waits to be sent again outlives the loss of the connection`() async throws {
        try await withClient(Self.withoutMessaging) { client, edge in
            async let first: PublishReceipt = client.publish("1", to: .channel("c"))
            try await eventually("it is refused") { edge.received.contains(where: \.isPublish) }
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            edge.dropConnections()
            _ = try await first
            let sent = edge.received.filter(\.isPublish).map(\.publish)
            #expect(Set(sent.map(\.sequence)) == [1] && sent.last?.again == true)
        }
    }

    @Test func `A refusal without a time to wait is final`() async throws {
        let final: FakeEdge.Script = { frame in
            frame.isPublish
                ? [FakeEdge.refusal(of: frame, .errorChannelPublishMessageFailed)]
                : [FakeEdge.usual(frame)].compactMap { $0 }
        }
        try await withClient(final) { client, edge in
            #expect(
                await code { try await client.publish("x", to: .channel("c")) }
                    == .channelPublishMessageFailed)
            #expect(edge.received.filter(\.isPublish).count == 1)
        }
    }

    @Test func `A cancelled publish isn't sent again`() async throws {
        try await withClient(Self.silent) { client, edge in
            let task = Task { await code { try await client.publish("x", to: .channel("c")) } }
            try await eventually("it arrived") { edge.received.contains(where: \.isPublish) }
            edge.follow(Self.away)
            edge.dropConnections()
            try await eventually("away") { client.linkState != .connected }
            task.cancel()
            #expect(await task.value == .cancelled)
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            client.networkChanged()
            try await eventually("connected again") { client.linkState == .connected }
            #expect(edge.received.filter(\.isPublish).count == 1)
        }
    }
}

private final class Done: Sendable {
    private let contents = Mutex<[Int]>([])

    var numbers: [Int] { contents.withLock { $0 } }

    func add(_ number: Int) { contents.withLock { $0.append(number) } }
}
