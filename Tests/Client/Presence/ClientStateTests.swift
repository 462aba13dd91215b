import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// The own temporary states over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientStateTests {
    private func set(_ edge: FakeEdge) -> [[String: String]] {
        edge.received.filter(\.isSetState).map { $0.setState.items.states }
    }

    @Test func `P-41: before subscribing states are kept, seen by oneself only, and shown afterwards`()
        async throws
    {
        try await withClient { client, edge in
            try await client.setState(["a": "1", "b": "1"], in: "lobby")
            try await client.setState(["b": "2"], in: "lobby")
            try await client.setState(["c": "3"], in: "lobby")
            try await client.removeState(["c", "unknown"], in: "lobby")
            #expect(try await client.state(of: "alice", in: "lobby") == ["a": "1", "b": "2"])
            #expect(edge.received.filter(\.isPresenceCall).isEmpty)
            // The server knows the states of others, and the own ones where nothing waits.
            #expect(try await client.state(of: "bob", in: "lobby") == [:])
            #expect(try await client.state(of: "alice", in: "hall") == [:])
            #expect(edge.received.filter(\.isGetState).count == 2)

            try await client.subscribe(to: "lobby")
            edge.push([.snapshot("lobby", at: 1, [.user("alice")])])
            try await eventually("shown") { set(edge) == [["a": "1", "b": "2"]] }
            #expect(edge.received.last?.setState.channel == "lobby")
            #expect(edge.received.last?.setState.channelType == .message)
            // The server has the states now, and is asked.
            _ = try await client.state(of: "alice", in: "lobby")
            #expect(edge.received.last?.isGetState == true)
        }
    }

    @Test func `P-46: a subscribe brings the states that wait, and nothing follows where they are set`()
        async throws
    {
        let script: FakeEdge.Script = { frame in
            guard frame.isSubscribe, var answer = FakeEdge.usual(frame) else {
                return [FakeEdge.usual(frame)].compactMap { $0 }
            }
            answer.subscribed.statesSet = !frame.subscribe.states.isEmpty
            return [answer]
        }
        try await withClient(script) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.setState(["a": "1"], in: "lobby")
            try await client.subscribe(to: "lobby", features: .message)
            let subscribes = { edge.received.filter(\.isSubscribe).map(\.subscribe.states.states) }
            #expect(subscribes() == [["a": "1"]])
            // A second subscribe could set what a call has changed since.
            try await client.setState(["b": "2"], in: "lobby")
            try await client.subscribe(to: "lobby", features: .message)
            #expect(subscribes() == [["a": "1"], [:]])
            try await eventually("all is set that isn't known to be shown") {
                set(edge) == [["b": "2"], ["a": "1", "b": "2"]]
            }
            edge.dropConnections()
            _ = await events.nextLinkState(.connected)
            _ = try await client.whoNow(in: "lobby")
            let login = try #require(edge.received.last { $0.isLogin }).login
            #expect(login.subscriptions.map(\.states.states) == [["a": "1", "b": "2"]])
            try await client.unsubscribe(from: "lobby")
            try await client.subscribe(to: "lobby", features: .message)
            _ = try await client.whoNow(in: "lobby")
            #expect(subscribes().last == [:], "P-42")
            // Only what was not answered so is asked for: the return, by a login that says nothing.
            #expect(edge.received.filter(\.isGetState).count <= 1)
        }
    }

    /// Simulation, presence, seed 40016.
    @Test func `P-42: states end with their subscription, also when the next one begins before it is left`()
        async throws
    {
        try await withClient { client, edge in
            try await client.subscribe(to: "lobby")
            try await client.setState(["old": "1"], in: "lobby")
            edge.follow { $0.isUnsubscribe ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
            let leaving = Task { try? await client.unsubscribe(from: "lobby") }
            try await eventually("it is being left") { edge.received.contains(where: \.isUnsubscribe) }
            try await client.subscribe(to: "lobby")
            try await client.setState(["new": "1"], in: "lobby")
            edge.push([.snapshot("lobby", at: 1, [.user("alice")])])
            try await eventually("set again") { set(edge).count == 3 }
            #expect(set(edge) == [["old": "1"], ["new": "1"], ["new": "1"]])
            leaving.cancel()
        }
    }

    @Test func `L-31, L-32: the limits are those of the cache before subscribing, the server's afterwards`()
        async throws
    {
        func states(_ count: Int) -> [String: String] {
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("key\($0)", "") })
        }
        try await withClient { client, edge in
            #expect(
                await code { try await client.setState(states(33), in: "a") } == .presenceStateCountOverflow)
            for channel in ["a", "b", "c"] { try await client.setState(states(32), in: channel) }
            let error = await #expect(throws: RTMError.self) {
                try await client.setState(states(5), in: "d")
            }
            #expect(error?.code == .presenceCacheTooManyStates)
            #expect(error?.operation == "setState")
            try await client.subscribe(to: "d")
            try await client.setState(states(50), in: "d")
            #expect(set(edge) == [states(50)])
        }
    }

    @Test func `A refused setState is not remembered, an accepted one is`() async throws {
        try await withClient { client, edge in
            try await client.subscribe(to: "lobby")
            edge.push([.snapshot("lobby", at: 1, [.user("alice")])])
            try await client.setState(["a": "1"], in: "lobby")
            edge.follow { frame in
                frame.isSetState
                    ? [FakeEdge.refusal(of: frame, .errorPresenceStateCountOverflow)]
                    : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            #expect(
                await code { try await client.setState(["b": "1"], in: "lobby") }
                    == .presenceStateCountOverflow)
            edge.follow { [FakeEdge.usual($0)].compactMap { $0 } }
            // The first snapshot may still be on its way. Either one restores what the server has accepted.
            let before = set(edge).count
            edge.push([.snapshot("lobby", at: 2, [.user("alice")])])
            try await eventually("restored") { set(edge).count > before }
            #expect(set(edge).dropFirst(before).allSatisfy { $0 == ["a": "1"] })
        }
    }

    @Test
    func `Own states that only the server has are removed, after a logout that it didn't receive`()
        async throws
    {
        try await withClient { client, edge in
            try await client.setState(["b": "1"], in: "lobby")
            try await client.subscribe(to: "lobby")
            edge.push([.snapshot("lobby", at: 1, [.user("alice", ["a": "1", "b": "1"])])])
            try await eventually("removed") {
                edge.received.contains { frame in
                    guard case .removeState(let request) = frame.body else { return false }
                    return request.keys == ["a"] && request.channel == "lobby"
                }
            }
            _ = try await client.whoNow(in: "lobby")
            #expect(set(edge).isEmpty)
        }
    }

    @Test func `P-40: a snapshot from before a change that is under way brings nothing back`() async throws {
        try await withClient { client, edge in
            var roster = client.roster(of: "lobby").makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.push([.snapshot("lobby", at: 1, [.user("alice")])])
            _ = await roster.next()
            try await client.setState(["a": "1"], in: "lobby")
            edge.follow { frame in
                if frame.isGetState {
                    return [FakeEdge.answer(to: frame) { $0.userState = .user("alice", ["a": "2"]) }]
                }
                let answer = [FakeEdge.usual(frame)].compactMap { $0 }
                return (frame.isSetState ? [.snapshot("lobby", at: 2, [.user("alice")])] : []) + answer
            }
            try await client.setState(["a": "2"], in: "lobby")
            // A little later the server is asked what it has.
            try await eventually("asked") { edge.received.contains(where: \.isGetState) }
            _ = try await client.whoNow(in: "lobby")
            #expect(set(edge) == [["a": "1"], ["a": "2"]])
        }
    }

    @Test func `S-19, S-43: after a return only what the server lost is set again`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            var roster = client.roster(of: "lobby").makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.push([.snapshot("lobby", at: 1, [.user("alice")])])
            _ = await roster.next()
            try await client.setState(["a": "1", "b": "2"], in: "lobby")
            try await client.removeState(["b"], in: "lobby")
            for states in [["a": "1"], [:]] {
                edge.dropConnections()
                _ = await events.nextLinkState(.connected)
                edge.push([.snapshot("lobby", at: 9, [.user("alice", states)])])
                guard case .snapshot? = await events.nextPresence()?.change else {
                    Issue.record("no snapshot")
                    return
                }
                if states.isEmpty { try await eventually("restored") { set(edge).count == 2 } }
                // Nothing more comes, because the answer to a later call has come.
                _ = try await client.whoNow(in: "lobby")
                #expect(set(edge).count == (states.isEmpty ? 2 : 1))
            }
            #expect(set(edge).last == ["a": "1"])
            while let update = await roster.next(), update.members["alice"] != ["a": "1"] {}
        }
    }

    @Test func `Without snapshots the server is asked what it has; quiet users are set without being seen`()
        async throws
    {
        let quiet: FakeEdge.Script = { frame in
            frame.isGetState
                ? [FakeEdge.refusal(of: frame, .errorPresenceUserNotExist)]
                : [FakeEdge.usual(frame)].compactMap { $0 }
        }
        try await withClient(quiet) { client, edge in
            try await client.setState(["a": "1"], in: "lobby")
            try await client.subscribe(to: "lobby", features: [.message, .quiet])
            try await eventually("set") { set(edge) == [["a": "1"]] }
            // The user is visible again, and the server has kept what it had.
            edge.follow { frame in
                frame.isGetState
                    ? [FakeEdge.answer(to: frame) { $0.userState = .user("alice", ["a": "1"]) }]
                    : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            try await client.subscribe(to: "lobby", features: .message)
            try await eventually("asked") { edge.received.filter(\.isGetState).count == 2 }
            _ = try await client.whoNow(in: "lobby")
            #expect(set(edge).count == 1)
        }
    }

    @Test func `While presence is away the states are tried again`() async throws {
        let failures = FakeEdge.Failures(2)
        let script: FakeEdge.Script = { frame in
            guard frame.isSetState, failures.next() else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            var refusal = FakeEdge.refusal(of: frame, .errorPresenceOperationFailed)
            refusal.error.retryAfterMs = 10
            return [refusal]
        }
        try await withClient(script) { client, edge in
            try await client.setState(["a": "1"], in: "lobby")
            try await client.subscribe(to: "lobby")
            edge.push([.snapshot("lobby", at: 1, [.user("alice")])])
            try await eventually("three tries") { set(edge).count == 3 }
            #expect(set(edge).allSatisfy { $0 == ["a": "1"] })
        }
    }

    @Test func `P-42: unsubscribe and logout forget the states`() async throws {
        try await withClient { client, edge in
            try await client.setState(["a": "1"], in: "lobby")
            try await client.subscribe(to: "lobby")
            try await client.unsubscribe(from: "lobby")
            try await client.setState(["b": "1"], in: "hall")
            try await client.logout()
            try await client.login()
            for channel in ["lobby", "hall"] {
                try await client.subscribe(to: channel)
                edge.push([.snapshot(channel, at: 1, [.user("alice")])])
            }
            _ = try await client.whoNow(in: "lobby")
            #expect(set(edge).isEmpty)
        }
    }
}
