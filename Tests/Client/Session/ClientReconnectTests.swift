import NIOCore
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

/// The link is lost and comes back, over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientReconnectTests {
    @Test
    func `S-17, S-19: after a loss the client logs in and continues each channel after its last position`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a", features: [.message])
            try await client.subscribe(to: "b")
            edge.push((1...5).map { FakeEdge.publication("a", offset: $0, text: "\($0)") })
            for _ in 1...5 { _ = await events.nextMessage() }
            edge.follow { frame in
                guard frame.isSubscribe, let answer = FakeEdge.usual(frame) else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                // A replay that overlaps with what was seen.
                let replay = (4...7).map { FakeEdge.publication("a", offset: $0, text: "\($0)") }
                return frame.subscribe.channel == "a" ? [answer] + replay : [answer]
            }
            edge.dropConnections()
            #expect(await events.nextLinkState(.disconnected)?.affectedChannels == ["a", "b"])
            #expect(await events.nextMessage()?.payload == .text("6"))
            #expect(await events.nextMessage()?.payload == .text("7"))
            let restored = edge.received.suffix(2).map(\.subscribe)
            #expect(restored.map(\.channel) == ["a", "b"])
            #expect(restored.map(\.features) == [4, 5])
            #expect(restored.map(\.after.offset) == [5, 0])
            #expect(restored.map(\.after.epoch) == [1, 1])
            try await eventually("connected again") { client.linkState == .connected }
        }
    }

    @Test func `S-26, M-6: calls that are made while a drained link comes back begin when it is back`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            edge.push([
                .with {
                    $0.disconnect.code = .disconnectDraining
                    $0.disconnect.retryAfterMs = 200
                }
            ])
            #expect(await events.nextLinkState(.connecting)?.reasonCode == .autoReconnect)
            // These are made before the connection is opened.
            async let publish: PublishReceipt = client.publish("hi", to: .channel("a"))
            async let subscribe: ChannelSubscription = client.subscribe(to: "b")
            let cancelled = Task { try await client.publish("never", to: .channel("a")) }
            cancelled.cancel()
            await #expect(throws: RTMError.self) { try await cancelled.value }
            _ = try await (publish, subscribe)
            #expect(client.linkState == .connected)
            #expect(edge.received.count(where: \.isPublish) == 1)
        }
    }

    @Test func `S-26: who subscribes and unsubscribes while the link comes back isn't subscribed in the end`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            edge.push([
                .with {
                    $0.disconnect.code = .disconnectDraining
                    $0.disconnect.retryAfterMs = 200
                }
            ])
            #expect(await events.nextLinkState(.connecting) != nil)
            let subscribe = Task { try await client.subscribe(to: "b") }
            try await eventually("the subscribe waits") {
                try await client.link.eventLoop.submit { client.link.value.waitingCalls.deadline != nil }
                    .get()
            }
            try await client.unsubscribe(from: "b")
            _ = try await subscribe.value
            #expect(await code { try await client.unsubscribe(from: "b") } == .channelNotSubscribed)
        }
    }

    @Test func `S-8, S-26: when the attempt fails, calls that waited fail as without a connection`()
        async throws
    {
        let isImpatient: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(500) }
        try await withClient(nil, isImpatient) { client, edge in
            var events = client.events().makeAsyncIterator()
            edge.follow { _ in [] }
            edge.push([
                .with {
                    $0.disconnect.code = .disconnectDraining
                    $0.disconnect.retryAfterMs = 200
                }
            ])
            #expect(await events.nextLinkState(.connecting) != nil)
            #expect(await code { try await client.publish("hi", to: .channel("a")) } == .channelNotConnected)
            #expect(await code { try await client.subscribe(to: "b") } == .notConnected)
        }
    }

    @Test func `S-18, A-16: the event of the return names affected, unrestored and forbidden channels`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            try await client.subscribe(to: "b")
            edge.follow { frame in
                frame.isSubscribe && frame.subscribe.channel == "b"
                    ? [FakeEdge.refusal(of: frame, .errorChannelSubscribePermissionDenied)]
                    : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            edge.dropConnections()
            let change = await events.nextLinkState(.connected)
            #expect(change?.operation == .reconnected)
            #expect(change?.isResumed == false)
            #expect(change?.affectedChannels == ["a", "b"])
            #expect(change?.unrestoredChannels == ["b"] && change?.forbiddenChannels == ["b"])
            #expect(
                await code { try await client.unsubscribe(from: "b") }
                    == .channelNotSubscribed)
        }
    }

    @Test func `M-6, S-16: a channel that is left while it is being restored is left on the server, too`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            try await client.subscribeUserMetadata("bob")
            edge.follow { frame in
                frame.isSubscribe || frame.isSubscribeUserMetadata
                    ? [] : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            let before = edge.received.count
            edge.dropConnections()
            try await eventually("they are being restored") {
                edge.received.dropFirst(before).filter { $0.isSubscribe || $0.isSubscribeUserMetadata }.count
                    == 2
            }
            let asked = edge.received.suffix(2)
            try await client.unsubscribe(from: "a")
            try await client.unsubscribeUserMetadata("bob")
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            edge.push(asked.compactMap { FakeEdge.usual($0) })
            let change = await events.nextLinkState(.connected)
            #expect(change?.affectedChannels == [] && change?.unrestoredChannels == [])
            try await eventually("the server gets the unsubscribe") {
                let bodies = edge.received.suffix(2)
                return bodies.contains { $0.unsubscribe.channel == "a" }
                    && bodies.contains { $0.unsubscribeUserMetadata.userID == "bob" }
            }
        }
    }

    /// Simulation, presence, seed 40191.
    @Test func `S-16: a channel that is left when only others are still to be restored is left, too`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            try await client.subscribe(to: "b")
            edge.follow { $0.subscribe.channel == "b" ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
            let before = edge.received.count
            edge.dropConnections()
            try await eventually("they are being restored") {
                edge.received.dropFirst(before).filter(\.isSubscribe).count == 2
            }
            let last = try #require(edge.received.last { $0.subscribe.channel == "b" })
            try await client.unsubscribe(from: "a")
            try await eventually("the server gets the unsubscribe") {
                edge.received.dropFirst(before).contains { $0.unsubscribe.channel == "a" }
            }
            edge.push([FakeEdge.usual(last)].compactMap { $0 })
            #expect(await events.nextLinkState(.connected)?.unrestoredChannels == [])
        }
    }

    @Test(arguments: [
        Rtm_Client_ErrorCode.errorChannelSubscribeFailed, .errorChannelSubscribeTimeout,
    ]) func `S-19: a server that can't restore yet is asked again, and nothing counts as lost`(
        _ code: Rtm_Client_ErrorCode
    ) async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            edge.follow { frame in
                frame.isSubscribe
                    ? [FakeEdge.refusal(of: frame, code)] : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            edge.dropConnections()
            try await eventually("several attempts") { edge.received.filter(\.isSubscribe).count > 3 }
            #expect(client.linkState != .connected)
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            let change = await events.nextLinkState(.connected)
            #expect(change?.affectedChannels == ["a"])
            #expect(change?.unrestoredChannels == [])
        }
    }

    @Test func `S-17, S-18: a restoration with a gap is reported and continues, and the link isn't resumed`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            edge.follow { frame in
                guard frame.isSubscribe, var answer = FakeEdge.usual(frame) else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                answer.subscribed.gap = true
                answer.subscribed.position.offset = 50
                return [answer]
            }
            edge.dropConnections()
            let gap = await events.nextGap()
            #expect(gap?.lastSeen == StreamPosition(epoch: 1, offset: 0))
            #expect(gap?.continuesAfter == StreamPosition(epoch: 1, offset: 50))
            let change = await events.nextLinkState(.connected)
            #expect(change?.unrestoredChannels == ["a"])
            #expect(change?.affectedChannels == ["a"])
            #expect(change?.isResumed == false)
            edge.push([FakeEdge.publication("a", offset: 51, text: "on")])
            #expect(await events.nextMessage()?.payload == .text("on"))
        }
    }

    @Test func `S-17: a gap of the inbox is reported, and the link isn't resumed`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            edge.follow { frame in
                guard frame.isLogin, var answer = FakeEdge.usual(frame) else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                answer.loggedIn.inboxGap = true
                answer.loggedIn.inboxPosition = .with { $0.offset = 9 }
                return [answer]
            }
            edge.dropConnections()
            #expect(await events.nextGap()?.channelName == "alice")
            let change = await events.nextLinkState(.connected)
            #expect(change?.isResumed == false)
            #expect(change?.unrestoredChannels == [])
            // The record of the client has it, which rtm doctor explains.
            let gaps = await client.flightRecord().entries.filter { $0.kind == .gap }
            #expect(gaps.map(\.name) == ["user"])
        }
    }

    @Test func `S-17, S-18: a gap that comes while others are still restored counts as one of the return`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            try await client.subscribe(to: "b")
            edge.follow { frame in
                guard let answer = FakeEdge.usual(frame) else { return [] }
                guard frame.isSubscribe, frame.subscribe.channel == "b" else { return [answer] }
                // The log of the first channel begins anew before the second one is restored.
                let gap = Rtm_Client_ServerFrame.with {
                    $0.gap.channelType = .message
                    $0.gap.channel = "a"
                    $0.gap.position = .with { $0.epoch = 77 }
                }
                return [gap, answer]
            }
            edge.dropConnections()
            #expect(await events.nextGap()?.channelName == "a")
            let change = await events.nextLinkState(.connected)
            #expect(change?.isResumed == false)
            #expect(change?.unrestoredChannels == ["a"])
        }
    }

    @Test func `T7: when the app reports that the network changed, the client connects anew at once`()
        async throws
    {
        let slow: (inout RTMClient.Configuration) -> Void = {
            $0.timing.firstRetryDelay = .seconds(1_000)
        }
        try await withClient(nil, slow) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            client.networkChanged()
            let loss = await events.nextLinkState(.disconnected)
            #expect(loss?.operation == .networkChange && loss?.reasonCode == .networkChange)
            #expect(loss?.affectedChannels == ["a"])
            #expect(await events.nextLinkState(.connecting)?.operation == .autoReconnect)
            #expect(await events.nextLinkState(.connected)?.isResumed == true)
            edge.dropConnections()
            _ = await events.nextLinkState(.disconnected)
            client.networkChanged()
            #expect(await events.nextLinkState(.connected)?.isResumed == true)
        }
    }

    @Test func `Calls in flight that aren't publishes complete at once when the connection is lost`()
        async throws
    {
        let script: FakeEdge.Script = { $0.isSubscribe ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
        try await withClient(script) { client, edge in
            async let subscribe = code { try await client.subscribe(to: "c") }
            try await eventually("it arrived") { edge.received.contains(where: \.isSubscribe) }
            edge.dropConnections()
            #expect(await subscribe == .notConnected)
            try await eventually("connected again") { client.linkState == .connected }
            #expect(edge.received.filter(\.isSubscribe).count == 1)
        }
    }

    @Test func `T5: the client leaves a server that stops answering heartbeats, although its socket is open`()
        async throws
    {
        let script: FakeEdge.Script = { $0.isHeartbeat ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
        let quick: (inout RTMClient.Configuration) -> Void = {
            $0.timing.heartbeatInterval = .milliseconds(20)
            $0.timing.heartbeatAnswer = .milliseconds(40)
        }
        try await withClient(script, quick) { client, edge in
            var events = client.events().makeAsyncIterator()
            let change = await events.nextLinkState(.disconnected)
            #expect(change?.operation == .heartbeatTimeout)
            #expect(change?.reasonCode == .keepAliveTimeout)
            #expect(await events.nextLinkState(.connected)?.operation == .reconnected)
            #expect(edge.connectionsAccepted >= 2)
        }
    }

    @Test func `Heartbeats that are answered keep the link`() async throws {
        let quick: (inout RTMClient.Configuration) -> Void = {
            $0.timing.heartbeatInterval = .milliseconds(5)
        }
        try await withClient(nil, quick) { client, edge in
            try await eventually("twenty heartbeats") { edge.received.filter(\.isHeartbeat).count >= 20 }
            #expect(client.linkState == .connected)
            #expect(edge.connectionsAccepted == 1)
        }
    }

    @Test func `A disconnect of the upper band fails the link with the server's reason`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            edge.push([
                .with {
                    ($0.disconnect.code, $0.disconnect.reason) = (.disconnectProtocolError, "out of turn")
                }
            ])
            let change = await events.nextLinkState(.failed)
            #expect(change?.operation == .serverReject)
            #expect(change?.reason.contains("out of turn") == true)
            #expect(change?.affectedChannels == ["a"])
            #expect(await code { try await client.subscribe(to: "a") } == .notLogin)
            try await client.login()
            #expect(client.linkState == .connected)
            #expect(edge.received.filter(\.isSubscribe).count == 1)
        }
    }

    @Test func `A disconnect of the lower band reconnects`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            edge.push([.with { $0.disconnect.code = .disconnectDraining }])
            #expect(await events.nextLinkState(.disconnected)?.reasonCode == .connectionError)
            #expect(await events.nextLinkState(.connected)?.isResumed == true)
        }
    }

    @Test func `Garbage from the server ends the connection, not the client`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            edge.pushBytes([0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3])
            #expect(await events.nextLinkState(.disconnected)?.reason.contains("are allowed") == true)
            #expect(await events.nextLinkState(.connected) != nil)
        }
    }

    @Test func `A server that restarts on the same port is found again`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge)
        var events = client.events().makeAsyncIterator()
        try await client.login()
        let port = edge.port
        try await edge.stop()
        _ = await events.nextLinkState(.disconnected)
        let successor = try await FakeEdge.start(port: port)
        #expect(await events.nextLinkState(.connected)?.operation == .reconnected)
        await client.close()
        try await successor.stop()
    }
}
