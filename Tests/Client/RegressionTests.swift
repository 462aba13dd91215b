import Foundation
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Synchronization
import Testing

/// Defects that the reference's release notes admit, and those that users of comparable systems report: what
/// isn't held by a test elsewhere. The number is the version that mended it; tests of other suites begin with
/// theirs, too.
@Suite(.ends(withinMinutes: 1))
struct RegressionTests {
    private static let usual: FakeEdge.Script = { [FakeEdge.usual($0)].compactMap { $0 } }

    private func serves(_ client: RTMClient, _ edge: FakeEdge) async throws {
        var events = client.events().makeAsyncIterator()
        try await client.publish("x", to: .channel("c"))
        edge.push([FakeEdge.publication("lobby", offset: 1_000, text: "still served")])
        #expect(await events.nextMessage()?.payload == .text("still served"))
    }

    // MARK: Link

    @Test func `2.2.8, 2.2.6: however often the network changes, the link ends connected and serves`()
        async throws
    {
        try await withClient { client, edge in
            try await client.subscribe(to: "lobby")
            var random = SeededGenerator(seed: 228)
            for _ in 0..<50 {
                client.networkChanged()
                if random.chance(1, in: 3) { edge.dropConnections() }
                if random.chance(1, in: 3) {
                    try await eventually("connected") { client.linkState == .connected }
                }
            }
            try await eventually("connected at the end") {
                let refusal = await code { try await client.publish("x", to: .channel("c")) }
                return refusal == nil && edge.connectionsOpen == 1
            }
            try await serves(client, edge)
        }
    }

    @Test func `2.2.2: a user who is superseded on one device after the other can log in on each again`()
        async throws
    {
        try await withClient { client, edge in
            for _ in 0..<3 {
                var events = client.events().makeAsyncIterator()
                edge.push([
                    .with {
                        $0.disconnect.code = .disconnectSuperseded
                        $0.disconnect.reason = "elsewhere"
                    }
                ])
                let end = await events.nextLinkState(.failed)
                #expect(end?.operation == .serverReject && end?.reasonCode == .sameUidLogin)
                let refusal = await #expect(throws: RTMError.self) { try await client.subscribe(to: "lobby") }
                #expect(refusal?.code == .notLogin && refusal?.reason.contains("elsewhere") == true)
                try await client.login()
                try await client.subscribe(to: "lobby")
            }
            try await serves(client, edge)
        }
    }

    @Test func `Web 2.2.3: a link whose server doesn't answer isn't shown as connected for long`()
        async throws
    {
        let quick: (inout RTMClient.Configuration) -> Void = {
            $0.timing.heartbeatInterval = .milliseconds(50)
            $0.timing.heartbeatAnswer = .milliseconds(200)
        }
        try await withClient(nil, quick) { client, edge in
            var events = client.events().makeAsyncIterator()
            // The socket is open, but nobody answers.
            edge.follow { _ in [] }
            #expect(await events.nextLinkState(.disconnected)?.operation == .heartbeatTimeout)
            edge.follow(Self.usual)
            edge.dropConnections()
            #expect(await events.nextLinkState(.connected) != nil)
        }
    }

    @Test func `2.1.7: logout and login work in the midst of a reconnect`() async throws {
        try await withClient { client, edge in
            for _ in 0..<20 {
                edge.dropConnections()
                try await client.logout()
                #expect(client.linkState == .idle)
                try await client.login()
                #expect(client.linkState == .connected)
            }
            try await client.subscribe(to: "lobby")
            try await serves(client, edge)
        }
    }

    @Test func `2.1.12: a login over a bad network completes, once, when it is better`() async throws {
        let edge = try await FakeEdge.start()
        let logins = Mutex(0)
        edge.follow { frame in
            guard frame.isLogin else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            let number = logins.withLock { logins in
                logins += 1
                return logins
            }
            // The login is first refused for the moment, then not answered at all, then accepted.
            if number < 4 { return [FakeEdge.refusal(of: frame, .errorLoginNoServerResources)] }
            return number < 6 ? [] : [FakeEdge.usual(frame)].compactMap { $0 }
        }
        let client = try RTMClient.forTest(edge) { $0.requestTimeout = .milliseconds(500) }
        try await client.login()
        #expect(client.linkState == .connected)
        #expect(logins.withLock { $0 } >= 6)
        await client.close()
        try await edge.stop()
    }

    @Test func `2.2.6: a client that the app releases amid calls and events does no harm`()
        async throws
    {
        let edge = try await FakeEdge.start()
        for _ in 0..<20 {
            for call in try await letGo(edge) { await call.value }
        }
        try await eventually("all are gone") { edge.connectionsOpen == 0 }
        try await edge.stop()
    }

    /// Calls that are under way in a client that nobody holds any more.
    private func letGo(_ edge: FakeEdge) async throws -> [Task<Void, Never>] {
        let client = try RTMClient.forTest(edge)
        try await client.login()
        try await client.subscribe(to: "lobby")
        edge.push((1...10).map { FakeEdge.publication("lobby", offset: $0, text: "x") })
        return (0..<10).map { number in
            // Unstructured: the caller awaits it, and it must not hold the client.
            Task { [weak client] in _ = try? await client?.publish("\(number)", to: .channel("c")) }
        }
    }

    // MARK: Subscriptions

    @Test func `2.2.4: subscriptions and their features are there again after every reconnect`()
        async throws
    {
        try await withClient { client, edge in
            try await client.subscribe(to: "a", features: .message)
            try await client.subscribe(to: "b", features: [.message, .presence])
            for round in 1...5 {
                edge.dropConnections()
                try await eventually("restored") {
                    edge.received.filter(\.isSubscribe).count == 2 + 2 * round
                }
                try await eventually("connected") { client.linkState == .connected }
                let restored = edge.received.filter(\.isSubscribe).suffix(2).map(\.subscribe)
                #expect(restored.map(\.channel) == ["a", "b"])
                #expect(restored.map(\.features) == [4, 5])
            }
        }
    }

    @Test func `2.1.12: unsubscribing while offline succeeds, and the channel isn't restored`()
        async throws
    {
        let slow: (inout RTMClient.Configuration) -> Void = {
            $0.timing.firstRetryDelay = .seconds(1_000)
        }
        try await withClient(nil, slow) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            try await client.subscribe(to: "b")
            edge.dropConnections()
            _ = await events.nextLinkState(.disconnected)
            try await client.unsubscribe(from: "a")
            client.networkChanged()
            #expect(await events.nextLinkState(.connected)?.affectedChannels == ["b"])
            // The server still has it, and gets an end of it (M-6).
            #expect(edge.received.filter(\.isSubscribe).map(\.subscribe.channel) == ["a", "b", "b", "a"])
            try await eventually("left") { edge.received.contains { $0.unsubscribe.channel == "a" } }
        }
    }

    @Test func `2.1.11: subscribe and unsubscribe in quick turns end as the last call wants`() async throws {
        try await withClient { client, edge in
            for _ in 0..<100 {
                try await client.subscribe(to: "lobby")
                try await client.unsubscribe(from: "lobby")
            }
            #expect(await code { try await client.unsubscribe(from: "lobby") } == .channelNotSubscribed)
            try await client.subscribe(to: "lobby")
            try await serves(client, edge)
        }
    }

    @Test func `Web 2.1.7: one unsubscribe ends a channel that was subscribed several times`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            for _ in 0..<3 { try await client.subscribe(to: "lobby") }
            try await client.subscribe(to: "other")
            try await client.unsubscribe(from: "lobby")
            edge.push([
                FakeEdge.publication("lobby", offset: 1, text: "late"),
                FakeEdge.publication("other", offset: 1, text: "wanted"),
            ])
            #expect(await events.nextMessage()?.payload == .text("wanted"))
        }
    }

    @Test func `2.1.11: subscribing with presence works after a new login`() async throws {
        try await withClient { client, edge in
            for _ in 0..<3 {
                try await client.subscribe(to: "lobby", features: [.message, .presence])
                try await client.logout()
                try await client.login()
            }
            let subscription = try await client.subscribe(to: "lobby", features: [.message, .presence])
            #expect(subscription.features == [.message, .presence])
            #expect(edge.received.filter(\.isSubscribe).allSatisfy { !$0.subscribe.hasAfter })
            try await serves(client, edge)
        }
    }

    @Test func `2.2.2: the answer names what the server can't give, and the subscription works without it`()
        async throws
    {
        let script: FakeEdge.Script = { frame in
            guard frame.isSubscribe, var answer = FakeEdge.usual(frame) else { return Self.usual(frame) }
            answer.subscribed.featuresUnavailable = 1
            return [answer]
        }
        try await withClient(script) { client, edge in
            let subscription = try await client.subscribe(to: "lobby", features: [.message, .presence])
            #expect(subscription.unavailableFeatures == .presence)
            try await serves(client, edge)
        }
    }

    // MARK: Messages

    @Test
    func `2.2.6: a delivered message is no timeout for its sender, although the answer was lost`()
        async throws
    {
        let sent = Mutex(0)
        let script: FakeEdge.Script = { frame in
            guard frame.isPublish else { return Self.usual(frame) }
            // The first time the message is accepted, and the answer is lost with the connection.
            let isFirst = sent.withLock { sent in
                sent += 1
                return sent == 1
            }
            return isFirst ? [] : Self.usual(frame)
        }
        try await withClient(script) { client, edge in
            async let receipt = client.publish("x", to: .channel("c"))
            try await eventually("taken") { sent.withLock { $0 } == 1 }
            edge.dropConnections()
            #expect(try await receipt.offset == 1)
            let publishes = edge.received.filter(\.isPublish).map(\.publish)
            #expect(publishes.map(\.again) == [false, true])
            #expect(Set(publishes.map(\.sequence)).count == 1)
        }
    }

    @Test func `Web 2.1.7: each event names its own publisher and channel`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            for channel in ["a", "b", "c"] { try await client.subscribe(to: channel) }
            let expected = (1...60).map { ("user\($0 % 7)", ["a", "b", "c"][$0 % 3]) }
            edge.push(
                expected.enumerated().map { number, event in
                    var frame = FakeEdge.publication(event.1, offset: UInt64(number + 1), text: "\(number)")
                    frame.publication.publisher = event.0
                    return frame
                })
            for (publisher, channel) in expected {
                let message = try #require(await events.nextMessage())
                #expect(message.publisher == publisher && message.channelName == channel)
            }
        }
    }

    // MARK: Of comparable systems

    @Test func `What a reconnect replays isn't delivered twice`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            let all = (1...10).map { FakeEdge.publication("lobby", offset: $0, text: "\($0)") }
            edge.push(Array(all.prefix(6)))
            for number in 1...6 { #expect(await events.nextMessage()?.payload == .text("\(number)")) }
            edge.dropConnections()
            try await eventually("connected again") {
                client.linkState == .connected && edge.received.filter(\.isSubscribe).count == 2
            }
            // The replay has more than was asked for: it begins at the start of the log instead of after 6.
            edge.push(all)
            for number in 7...10 { #expect(await events.nextMessage()?.payload == .text("\(number)")) }
        }
    }

    @Test func `A wait for the next attempt ends when the network is back`() async throws {
        let slow: (inout RTMClient.Configuration) -> Void = {
            $0.timing.firstRetryDelay = .seconds(1_000)
        }
        try await withClient(nil, slow) { client, edge in
            var events = client.events().makeAsyncIterator()
            edge.dropConnections()
            _ = await events.nextLinkState(.disconnected)
            client.networkChanged()
            #expect(await events.nextLinkState(.connected)?.operation == .reconnected)
        }
    }

    @Test func `A consumer that reads nothing keeps its heartbeats, and gets the number of lost events`()
        async throws
    {
        let quick: (inout RTMClient.Configuration) -> Void = {
            $0.timing.heartbeatInterval = .milliseconds(20)
            $0.timing.heartbeatAnswer = .seconds(1)
        }
        try await withClient(nil, quick) { client, edge in
            let events = client.events(buffering: .dropOldest(capacity: 10))
            try await client.subscribe(to: "lobby")
            edge.push((1...1_000).map { FakeEdge.publication("lobby", offset: $0, text: "x") })
            let before = edge.received.filter(\.isHeartbeat).count
            try await eventually("heartbeats go on") {
                edge.received.filter(\.isHeartbeat).count > before + 10
            }
            #expect(client.linkState == .connected && edge.connectionsAccepted == 1)
            var first = events.makeAsyncIterator()
            guard case .overflow(let dropped)? = await first.next() else {
                Issue.record("the loss wasn't said")
                return
            }
            #expect(dropped >= 990)
        }
    }
}
