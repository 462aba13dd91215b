import Foundation
import NIOCore
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Subscribing, publishing and events over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientMessagingTests {
    @Test func `A publish carries its fields and returns the server's receipt`() async throws {
        try await withClient { client, edge in
            let receipt = try await client.publish(
                "héllo", to: .channel("lobby"), customType: "greeting", storeInHistory: true)
            #expect(receipt == PublishReceipt(timestampMilliseconds: 1_790_000_000_000, offset: 1))
            let publish = edge.received.last?.publish
            #expect(publish?.channelType == .message)
            #expect(publish?.channel == "lobby")
            #expect(publish?.messageType == .text)
            #expect(publish?.payload == Data("héllo".utf8))
            #expect(publish?.customType == "greeting")
            #expect(publish?.storeInHistory == true)
            try await client.publish(Data([0, 255]), to: .user("bob"))
            #expect(edge.received.last?.publish.channelType == .user)
            #expect(edge.received.last?.publish.messageType == .binary)
            #expect(edge.received.last?.publish.payload == Data([0, 255]))
        }
    }

    @Test func `A refused publish throws everything that the server sent`() async throws {
        let script: FakeEdge.Script = { frame in
            guard frame.isPublish else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            var refusal = FakeEdge.refusal(of: frame, .errorChannelPublishMessageTooFrequent, "slow down")
            refusal.error.retryAfterMs = 250
            refusal.error.limit = .with { ($0.name, $0.value) = ("publishes per second", 60) }
            return [refusal]
        }
        try await withClient(script) { client, _ in
            let error = await #expect(throws: RTMError.self) {
                try await client.publish("x", to: .channel("c"))
            }
            #expect(
                error
                    == RTMError(
                        .channelPublishMessageTooFrequent, "slow down", operation: "publish",
                        retryAfter: .milliseconds(250), limit: .init(name: "publishes per second", value: 60))
            )
        }
    }

    @Test func `An unknown error code is shown by its number`() async throws {
        let script: FakeEdge.Script = {
            $0.isPublish
                ? [FakeEdge.refusal(of: $0, .UNRECOGNIZED(-99_999), "new")]
                : [FakeEdge.usual($0)].compactMap { $0 }
        }
        try await withClient(script) { client, _ in
            let error = await #expect(throws: RTMError.self) {
                try await client.publish("x", to: .channel("c"))
            }
            #expect(error?.code == .channelPublishMessageFailed)
            #expect(error?.reason == "new (code -99999)")
        }
    }

    @Test func `Bad arguments are refused before the network`() async throws {
        try await withClient { client, edge in
            let sent = edge.received.count
            func publishing(
                _ text: String = "x", to destination: MessageDestination = .channel("c"),
                customType: String = ""
            ) async -> ErrorCode? {
                await code {
                    try await client.publish(text, to: destination, customType: customType)
                }
            }
            let long = String(repeating: "x", count: 32_769)
            #expect(await publishing(long) == .channelMessageLengthExceedLimitation)
            #expect(await publishing(to: .channel("a.b")) == .invalidChannelName)
            #expect(await publishing(to: .user("")) == .invalidUserId)
            #expect(
                await publishing(customType: String(repeating: "t", count: 33))
                    == .channelCustomTypeLengthOverflow)
            #expect(await publishing(customType: "\u{7}") == .channelInvalidCustomType)
            #expect(
                await code { try await client.subscribe(to: "_x") }
                    == .invalidChannelName)
            #expect(edge.received.count == sent)
            #expect(await publishing(String(long.dropLast())) == nil)
        }
    }

    @Test func `L-20: the error names the limit`() async throws {
        try await withClient { client, _ in
            let error = await #expect(throws: RTMError.self) {
                try await client.publish(Data(count: 32_769), to: .channel("c"))
            }
            #expect(error?.limit == .init(name: "message bytes", value: 32_768))
            #expect(error?.operation == "publish")
        }
    }

    @Test func `S-8: without a login every call is refused as notLogin`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge)
        #expect(await code { try await client.subscribe(to: "c") } == .notLogin)
        #expect(await code { try await client.unsubscribe(from: "c") } == .notLogin)
        #expect(
            await code { try await client.publish("x", to: .user("bob")) } == .notLogin
        )
        #expect(await code { _ = try await client.ping() } == .notLogin)
        await client.close()
        try await edge.stop()
    }

    @Test
    func `S-8, S-16: without a connection publish and subscribe have their codes, unsubscribe succeeds`()
        async throws
    {
        let patient: (inout RTMClient.Configuration) -> Void = { $0.timing.firstRetryDelay = .seconds(60) }
        try await withClient(nil, patient) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.dropConnections()
            let change = await events.nextLinkState(.disconnected)
            #expect(change?.operation == .serverTimeout)
            #expect(change?.affectedChannels == ["lobby"])
            #expect(
                await code { try await client.subscribe(to: "c") } == .notConnected)
            #expect(
                await code { try await client.publish("x", to: .channel("c")) }
                    == .channelNotConnected)
            #expect(await code { try await client.unsubscribe(from: "lobby") } == nil)
        }
    }

    @Test func `Every consumer receives every message with all its fields, in order`() async throws {
        try await withClient { client, edge in
            var first = client.events().makeAsyncIterator()
            var second = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.push((1...100).map { FakeEdge.publication("lobby", offset: $0, text: "m\($0)") })
            edge.push([FakeEdge.publication("alice", offset: 1, text: "direct", type: .user)])
            for number in 1...100 {
                let message = await first.nextMessage()
                #expect(message?.payload == .text("m\(number)"))
                #expect(await second.nextMessage() == message)
            }
            let direct = await first.nextMessage()
            #expect(direct?.channelType == .user)
            // The channel of a message to a user is the receiver's own id (M-34).
            #expect(direct?.channelName == "alice")
            #expect(direct?.publisher == "bob")
            #expect(direct?.timestampMilliseconds == 1_790_000_000_001)
        }
    }

    @Test func `M-25: what was delivered is not delivered again`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.push([1, 2, 1, 2, 3].map { FakeEdge.publication("lobby", offset: $0, text: "\($0)") })
            for number in 1...3 { #expect(await events.nextMessage()?.payload == .text("\(number)")) }
        }
    }

    @Test func `A gap that the server pushes becomes an event`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            var gap = Rtm_Client_ServerFrame()
            gap.gap.channelType = .message
            gap.gap.channel = "lobby"
            gap.gap.position = .with { ($0.epoch, $0.offset) = (2, 7) }
            edge.push([gap, FakeEdge.publication("lobby", offset: 8, text: "after")])
            let event = await events.nextGap()
            #expect(event?.channelName == "lobby")
            #expect(event?.lastSeen == StreamPosition(epoch: 1, offset: 0))
            #expect(event?.continuesAfter == StreamPosition(epoch: 2, offset: 7))
            #expect(await events.nextMessage()?.payload == .text("after"))
        }
    }

    @Test func `P-7: the answer and an event report that the server can't give presence`() async throws {
        let script: FakeEdge.Script = { frame in
            guard frame.isSubscribe, var answer = FakeEdge.usual(frame) else {
                return [FakeEdge.usual(frame)].compactMap { $0 }
            }
            answer.subscribed.featuresUnavailable = 1
            return [answer]
        }
        try await withClient(script) { client, edge in
            var events = client.events().makeAsyncIterator()
            let subscription = try await client.subscribe(to: "lobby")
            #expect(subscription.unavailableFeatures == .presence)
            #expect(subscription.features == .default)
            #expect(edge.received.last?.subscribe.features == 5)
            #expect(await events.nextPresence()?.change == .outage(.unavailable))
        }
    }

    @Test func `M-8: two concurrent subscribes of one channel; the second is refused`() async throws {
        let script: FakeEdge.Script = { $0.isSubscribe ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
        try await withClient(script) { client, edge in
            async let first = code { try await client.subscribe(to: "lobby") }
            try await eventually("the subscribe arrived") { edge.received.contains(where: \.isSubscribe) }
            #expect(
                await code { try await client.subscribe(to: "lobby") }
                    == .duplicateOperation)
            edge.push([
                .with { ($0.requestID, $0.subscribed) = (edge.received.last?.requestID ?? 0, .init()) }
            ])
            #expect(await first == nil)
        }
    }

    @Test
    func `M-26: unanswered calls time out with their own codes, and a late subscription is undone`()
        async throws
    {
        let script: FakeEdge.Script = { $0.isLogin ? [FakeEdge.usual($0)].compactMap { $0 } : [] }
        let impatient: (inout RTMClient.Configuration) -> Void = {
            $0.requestTimeout = .milliseconds(300)
            $0.timing.logoutAnswer = .milliseconds(50)
        }
        try await withClient(script, impatient) { client, edge in
            #expect(
                await code { try await client.publish("x", to: .channel("c")) }
                    == .channelPublishMessageTimeout)
            #expect(
                await code { try await client.subscribe(to: "c") }
                    == .channelSubscribeTimeout)
            #expect(await code { _ = try await client.ping() } == .notConnected)
            try await eventually("the unsubscribe arrived") { edge.received.contains(where: \.isUnsubscribe) }
        }
    }

    @Test func `A gap that a late answer reports is announced although its subscribe timed out`() async throws
    {
        let script: FakeEdge.Script = { [FakeEdge.usual($0)].compactMap { $0 } }
        let impatient: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(300) }
        try await withClient(script, impatient) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.follow { $0.isSubscribe ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
            #expect(await code { try await client.subscribe(to: "lobby") } == .channelSubscribeTimeout)
            let late = try #require(edge.received.last { $0.isSubscribe })
            edge.push([
                FakeEdge.answer(to: late) {
                    $0.subscribed.position = .with { ($0.epoch, $0.offset) = (2, 7) }
                    $0.subscribed.gap = true
                }
            ])
            #expect(await events.nextGap()?.continuesAfter == StreamPosition(epoch: 2, offset: 7))
        }
    }

    /// Simulation, presence, seed 100784: the server had done the first of two subscribes, so the second one
    /// brought no snapshot, and the app heard who goes without having heard who is there.
    @Test func `M-5: a subscribe that is answered late counts, and its snapshot is shown`() async throws {
        let script: FakeEdge.Script = { [FakeEdge.usual($0)].compactMap { $0 } }
        let impatient: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(300) }
        try await withClient(script, impatient) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: .message)
            edge.follow { $0.isSubscribe ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
            #expect(
                await code { try await client.subscribe(to: "lobby", features: .default) }
                    == .channelSubscribeTimeout)
            let late = try #require(edge.received.last { $0.isSubscribe })
            edge.push(
                [FakeEdge.usual(late)].compactMap { $0 } + [.snapshot("lobby", at: 1, [.user("ann")])])
            while let event = await events.next() {
                guard case .presence(let presence) = event, case .snapshot(let users) = presence.change
                else { continue }
                #expect(users == [UserState(userID: "ann")])
                break
            }
        }
    }

    /// Simulation, presence, seed 40210.
    @Test func `The late answer to a subscribe does not concern a subscription that has begun since`()
        async throws
    {
        let script: FakeEdge.Script = { [FakeEdge.usual($0)].compactMap { $0 } }
        let impatient: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(300) }
        try await withClient(script, impatient) { client, edge in
            try await client.subscribe(to: "lobby")
            edge.follow { $0.isSubscribe ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
            #expect(await code { try await client.subscribe(to: "lobby") } == .channelSubscribeTimeout)
            let late = try #require(edge.received.last { $0.isSubscribe })
            try await client.unsubscribe(from: "lobby")
            async let refusal = code { try await client.subscribe(to: "lobby") }
            try await eventually("it is subscribed again") {
                edge.received.filter(\.isSubscribe).count == 3
            }
            edge.push([FakeEdge.usual(late)].compactMap { $0 })
            #expect(await refusal == .channelSubscribeTimeout)
            try await eventually("what has failed is left") {
                edge.received.filter(\.isUnsubscribe).count == 2
            }
        }
    }

    @Test func `A cancelled task completes its publish at once`() async throws {
        let script: FakeEdge.Script = { $0.isPublish ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
        try await withClient(script) { client, edge in
            // The documented loop ends with its task, and doesn't spin.
            let publish = Task { () -> (Int, RTMError?) in
                var count = 0
                while true {
                    count += 1
                    do throws(RTMError) {
                        try await client.publish("x", to: .channel("c"))
                        return (count, nil)
                    } catch  where error.isRetryable {
                    } catch {
                        return (count, error)
                    }
                }
            }
            try await eventually("the publish arrived") { edge.received.contains(where: \.isPublish) }
            publish.cancel()
            let (count, error) = await publish.value
            #expect(count == 1)
            #expect(error?.code == .cancelled && error?.outcome == .unknown)
            #expect(edge.received.filter(\.isPublish).count == 1)
        }
    }

    @Test func `Web 2.2.2: after unsubscribe nothing of the channel is delivered`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            try await client.subscribe(to: "other")
            try await client.unsubscribe(from: "lobby")
            edge.push([
                FakeEdge.publication("lobby", offset: 1, text: "late"),
                FakeEdge.publication("other", offset: 1, text: "wanted"),
            ])
            #expect(await events.nextMessage()?.payload == .text("wanted"))
            #expect(
                await code { try await client.unsubscribe(from: "lobby") }
                    == .channelNotSubscribed)
        }
    }

    @Test func `2.1.10: a thousand publishes at once are all acknowledged, each once`() async throws {
        try await withClient { client, edge in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask { try await client.publish("\(number)", to: .channel("c")) }
                }
                try await group.waitForAll()
            }
            #expect(edge.received.filter(\.isPublish).count == 1000)
        }
    }
}
