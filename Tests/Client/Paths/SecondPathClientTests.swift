import NIOCore
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMClient

/// A client with a second path, and two small edges (N-5).
struct SecondPathClientTests {
    private func withPaths(
        _ body: (RTMClient, _ first: FakeEdge, _ second: FakeEdge) async throws -> Void
    ) async throws {
        let first = try await FakeEdge.start()
        let second = try await FakeEdge.start()
        let client = try RTMClient.forTest(first) {
            $0.servers.append(ServerAddress(host: "127.0.0.1", port: second.port))
            $0.secondPath = .otherServer
            $0.timing.paths.beat = .milliseconds(50)
            $0.timing.paths.stall = .milliseconds(800)
            $0.timing.paths.hold = .milliseconds(50)
        }
        try await client.login()
        try await eventually("the second connection stands by") {
            try await client.eventLoop.submit { [link = client.link] in link.value.standby?.server == 1 }
                .get()
        }
        do {
            try await body(client, first, second)
        } catch {
            Issue.record(error)
        }
        await client.close()
        try await first.stop()
        try await second.stop()
    }

    private static func isWhoNow(_ frame: Rtm_Client_ClientFrame) -> Bool {
        if case .whoNow = frame.body { true } else { false }
    }

    @Test(
        "N-5: when the first path falls silent, the session goes on over the second one, and no event says so"
    )
    func silence() async throws {
        try await withPaths { client, first, second in
            try await client.subscribe(to: "lobby", features: .message)
            let all = client.events()
            var messages = client.events().makeAsyncIterator()
            first.push([FakeEdge.publication("lobby", offset: 7, text: "seven")])
            #expect(await messages.nextMessage()?.payload == .text("seven"))
            first.follow { _ in [] }
            // These are under way when the path changes.
            async let receipt = client.publish("once", to: .channel("lobby"))
            async let users = client.whoNow(in: "lobby")
            _ = try await (receipt, users)
            let publishes = second.received.filter(\.isPublish)
            #expect(publishes.count == 1 && publishes.first?.publish.again == true)
            #expect(second.received.contains(where: Self.isWhoNow))
            let login = try #require(second.received.first(where: \.isLogin)?.login)
            #expect(login.subscriptions.first?.after.offset == 7)
            #expect(login.instance == first.received.first(where: \.isLogin)?.login.instance)
            second.push([FakeEdge.publication("lobby", offset: 8, text: "eight")])
            #expect(await messages.nextMessage()?.payload == .text("eight"))
            #expect(client.linkState == .connected)
            await client.close()
            for await case .linkState(let change) in all { #expect(change.currentState == .idle) }
        }
    }

    @Test("N-5: a subscribe and an unsubscribe without answers are sent again in their order, and end so")
    func order() async throws {
        try await withPaths { client, first, second in
            first.follow { _ in [] }
            async let subscribed: Void = { _ = try await client.subscribe(to: "lobby") }()
            try await eventually("the subscribe is sent") { first.received.contains(where: \.isSubscribe) }
            async let unsubscribed: Void = client.unsubscribe(from: "lobby")
            _ = try await (subscribed, unsubscribed)
            let bodies = second.received.filter { $0.isSubscribe || $0.isUnsubscribe }
            #expect(bodies.map(\.isSubscribe) == [true, false])
            #expect(client.linkState == .connected)
        }
    }

    @Test("N-5: what is called while the path changes waits for the other one")
    func calledMeanwhile() async throws {
        try await withPaths { client, first, second in
            try await client.subscribe(to: "lobby", features: .message)
            let isHeld = Shared(true)
            second.follow { frame in
                if frame.isLogin, isHeld.present { return [] }
                return [FakeEdge.usual(frame)].compactMap { $0 }
            }
            first.dropConnections()
            try await eventually("the client logs in") { second.received.contains(where: \.isLogin) }
            async let unsubscribed: Void = client.unsubscribe(from: "lobby")
            async let roundTrip = client.ping()
            let login = try #require(second.received.filter(\.isLogin).first)
            isHeld.withLock { $0 = false }
            second.push([FakeEdge.usual(login)].compactMap { $0 })
            _ = try await (unsubscribed, roundTrip)
            #expect(second.received.filter(\.isUnsubscribe).count == 1)
            #expect(client.linkState == .connected)
        }
    }

    @Test("N-5: a first connection that ends is replaced, too, and then the first server stands by")
    func ended() async throws {
        try await withPaths { client, first, second in
            let logins = first.connectionsAccepted
            first.dropConnections()
            try await eventually("the client logs in at the second server") {
                second.received.contains(where: \.isLogin)
            }
            try await eventually("a connection to the first server stands by") {
                first.connectionsAccepted > logins && first.connectionsOpen == 1
            }
            #expect(client.linkState == .connected)
            #expect(first.received.filter(\.isLogin).count == 1)
        }
    }

    @Test("N-5: when the second path fails, too, the connection counts as lost, and the client comes back")
    func bothFail() async throws {
        try await withPaths { client, first, second in
            var events = client.events().makeAsyncIterator()
            second.follow { frame in
                switch frame.body {
                case .login: [FakeEdge.refusal(of: frame, .errorLoginNoServerResources)]
                default: [FakeEdge.usual(frame)].compactMap { $0 }
                }
            }
            first.dropConnections()
            let change = await events.nextLinkState(.disconnected)
            #expect(change?.previousState == .connected)
            #expect(await events.nextLinkState(.connected)?.isResumed == true)
        }
    }

    @Test("N-5: a server that accepts connections and never answers holds up no other one")
    func blackHole() async throws {
        let edges = [
            try await FakeEdge.start(), try await FakeEdge.start { _ in [] }, try await FakeEdge.start(),
        ]
        let client = try RTMClient.forTest(edges[0]) {
            $0.servers += edges.dropFirst().map { ServerAddress(host: "127.0.0.1", port: $0.port) }
            $0.secondPath = .otherServer
            $0.timing.paths.dial = .seconds(1_000)
        }
        try await client.login()
        try await eventually("the server behind it stands by") {
            try await client.eventLoop.submit { [link = client.link] in link.value.standby?.server == 2 }
                .get()
        }
        edges[0].dropConnections()
        try await eventually("the session continues there") { edges[2].received.contains(where: \.isLogin) }
        #expect(client.linkState == .connected)
        await client.close()
        for edge in edges { try await edge.stop() }
    }

    @Test("N-5: a client without a second path opens one connection and sends no more heartbeats than before")
    func costsNothing() async throws {
        let other = try await FakeEdge.start()
        try await withClient { client, first in
            try await client.subscribe(to: "lobby", features: .message)
            #expect(first.connectionsAccepted == 1 && other.connectionsAccepted == 0)
            #expect(first.received.filter(\.isHeartbeat).isEmpty)
        }
        try await other.stop()
    }
}
