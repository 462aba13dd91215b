import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Queries and events of presence over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientPresenceTests {
    // MARK: Queries

    @Test func `P-31: whoNow asks with its options and gives page, bookmark and count`() async throws {
        let script: FakeEdge.Script = { frame in
            [
                FakeEdge.answer(to: frame) { answer in
                    answer.onlineUsers.users = [.user("alice", ["mood": "good", "näme": "ünicode"])]
                    answer.onlineUsers.nextPage = "next"
                    answer.onlineUsers.total = 1
                }
            ]
        }
        try await withClient { client, edge in
            edge.follow(script)
            let page = try await client.whoNow(in: "lobby", includingStates: true, page: "mark")
            #expect(
                page
                    == OnlineUsersPage(
                        users: [.init(userID: "alice", states: ["mood": "good", "näme": "ünicode"])],
                        nextPage: "next", total: 1))
            let request = edge.received.last?.whoNow
            #expect(request?.channelType == .message)
            #expect(request?.channel == "lobby")
            #expect(request?.includeUserID == true)
            #expect(request?.includeState == true)
            #expect(request?.page == "mark")
        }
    }

    @Test func `All pages are read one after the other, as far as they are wanted`() async throws {
        let pages: FakeEdge.Script = { frame in
            guard case .whoNow(let request) = frame.body else {
                return [FakeEdge.usual(frame)].compactMap { $0 }
            }
            let number = Int(request.page) ?? 0
            return [
                FakeEdge.answer(to: frame) { answer in
                    // The third page is empty, because its users left meanwhile.
                    answer.onlineUsers.users = number == 2 ? [] : [.user("a\(number)"), .user("b\(number)")]
                    answer.onlineUsers.nextPage = number < 3 ? "\(number + 1)" : ""
                }
            ]
        }
        try await withClient(pages) { client, edge in
            var names: [String] = []
            for try await user in client.onlineUsers(in: "lobby") { names.append(user.userID) }
            #expect(names == ["a0", "b0", "a1", "b1", "a3", "b3"])
            let asked = edge.received.filter(\.isWhoNow).count
            #expect(asked == 4)
            for try await _ in client.onlineUsers(in: "lobby") { break }
            #expect(edge.received.filter(\.isWhoNow).count == asked + 1)
        }
    }

    @Test func `P-36: whereNow gives the channels of both types`() async throws {
        try await withClient { client, edge in
            #expect(try await client.whereNow("bob") == [])
            edge.follow { frame in
                [
                    FakeEdge.answer(to: frame) {
                        $0.userChannels.channels = [
                            .with { ($0.type, $0.name) = (.message, "lobby") },
                            .with { ($0.type, $0.name) = (.stream, "lobby") },
                        ]
                    }
                ]
            }
            let channels = try await client.whereNow("bob")
            #expect(
                channels == [.init(type: .message, name: "lobby"), .init(type: .stream, name: "lobby")])
            #expect(edge.received.last?.whereNow.userID == "bob")
        }
    }

    // MARK: Errors

    private static let calls: [(String, @Sendable (RTMClient) async throws -> Void)] = [
        ("whoNow", { _ = try await $0.whoNow(in: "lobby") }),
        ("whereNow", { _ = try await $0.whereNow("bob") }),
        ("getState", { _ = try await $0.state(of: "bob", in: "lobby") }),
        ("setState", { try await $0.setState(["a": "1"], in: "lobby") }),
        ("removeState", { try await $0.removeState(["a"], in: "lobby") }),
    ]

    @Test(arguments: 0..<5)
    func `Every call passes on the server's error, with its own name in it`(number: Int) async throws {
        let (name, call) = Self.calls[number]
        try await withClient { client, edge in
            try await client.subscribe(to: "lobby")
            edge.follow { [FakeEdge.refusal(of: $0, .errorPresenceOperationFailed, "no presence")] }
            let error = await #expect(throws: RTMError.self) { try await call(client) }
            #expect(error?.code == .presenceOperationFailed)
            #expect(error?.operation == name)
            #expect(error?.reason == "no presence")
            // One event is of another kind, and one is of a kind that only newer servers know.
            edge.follow { frame in [FakeEdge.answer(to: frame) { $0.tokenRenewed = .init() }] }
            #expect(await code { try await call(client) } == .presenceOperationFailed)
            edge.follow { [FakeEdge.refusal(of: $0, .UNRECOGNIZED(-99_999), "new")] }
            #expect(await code { try await call(client) } == .presenceOperationFailed)
        }
    }

    @Test(arguments: 0..<5)
    func `S-8: -10002 before login, -13001 without a connection, -10018 when closed`(number: Int)
        async throws
    {
        let (name, call) = Self.calls[number]
        let patient: (inout RTMClient.Configuration) -> Void = { $0.timing.firstRetryDelay = .seconds(60) }
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge, patient)
        #expect(await code { try await call(client) } == .notLogin)
        var events = client.events().makeAsyncIterator()
        try await client.login()
        edge.dropConnections()
        _ = await events.nextLinkState(.disconnected)
        let error = await #expect(throws: RTMError.self) { try await call(client) }
        #expect(error?.code == .presenceNotConnected)
        #expect(error?.operation == name)
        await client.close()
        #expect(await code { try await call(client) } == .instanceAlreadyReleased)
        try await edge.stop()
    }

    @Test(arguments: 0..<5)
    func `A call without an answer throws -13012, and one whose connection is lost throws -13001`(number: Int)
        async throws
    {
        let (_, call) = Self.calls[number]
        let silent: FakeEdge.Script = { frame in
            frame.isPresenceCall ? [] : [FakeEdge.usual(frame)].compactMap { $0 }
        }
        let hasty: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .seconds(1) }
        try await withClient(silent, hasty) { client, edge in
            try await client.subscribe(to: "lobby")
            #expect(await code { try await call(client) } == .presenceOperationTimeout)
        }
        try await withClient(silent) { client, edge in
            try await client.subscribe(to: "lobby")
            async let lost = code { try await call(client) }
            try await eventually("it arrived") { edge.received.contains(where: \.isPresenceCall) }
            edge.dropConnections()
            #expect(await lost == .presenceNotConnected)
        }
    }

    @Test func `Bad arguments are refused before the network`() async throws {
        try await withClient { client, edge in
            let sent = edge.received.count
            #expect(await code { _ = try await client.whoNow(in: "a.b") } == .invalidChannelName)
            #expect(await code { _ = try await client.whoNow(in: "a", type: .user) } == .invalidChannelType)
            #expect(
                await code {
                    _ = try await client.whoNow(in: "a", includingUsers: false, includingStates: true)
                } == .presenceInvalidArgument)
            #expect(await code { _ = try await client.whereNow("") } == .invalidUserId)
            #expect(await code { _ = try await client.state(of: "", in: "a") } == .invalidUserId)
            #expect(await code { try await client.setState([:], in: "a") } == .presenceInvalidArgument)
            #expect(await code { try await client.setState(["": "x"], in: "a") } == .presenceInvalidStateKey)
            #expect(
                await code { try await client.setState(["a": "x"], in: "u", type: .user) }
                    == .invalidChannelType)
            #expect(
                await code { try await client.removeState(in: "u", type: .none) } == .invalidChannelType)
            #expect(edge.received.count == sent)
        }
    }

    // MARK: Events

    @Test func `P-1…P-6: a snapshot in frames, then each kind of event with its fields`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.push([
                .snapshot("lobby", at: 5, [.user("alice"), .user("bob", ["mood": "good"])], more: true),
                .snapshot("lobby", at: 5, [.user("carol")]),
                // The snapshot contains this already.
                .presence("lobby", offset: 4, .presenceEventRemoteJoin, of: "bob"),
                .presence("lobby", offset: 6, .presenceEventRemoteJoin, of: "dave"),
                .presence("lobby", offset: 7, .presenceEventRemoteStateChanged, of: "dave", ["a": "1"]),
                .presence("lobby", offset: 8, .presenceEventRemoteLeave, of: "bob"),
                .presence("lobby", offset: 9, .presenceEventRemoteTimeout, of: "carol"),
                .with {
                    $0.publication = .presence("lobby", 10, .presenceEventInterval, of: "")
                    $0.publication.presence.interval.joined = ["eve"]
                    $0.publication.presence.interval.left = ["dave"]
                    $0.publication.presence.interval.states = [
                        .with { ($0.userID, $0.items) = ("eve", .states(["b": "2"])) }
                    ]
                },
            ])
            let snapshot = await events.nextPresence()
            #expect(
                snapshot?.change
                    == .snapshot([
                        .init(userID: "alice"), .init(userID: "bob", states: ["mood": "good"]),
                        .init(userID: "carol"),
                    ]))
            #expect(snapshot?.channelName == "lobby" && snapshot?.channelType == .message)
            #expect(snapshot?.userID == nil)
            let joined = await events.nextPresence()
            #expect(joined?.change == .joined("dave"))
            #expect(joined?.userID == "dave")
            #expect(joined?.timestampMilliseconds == 1_790_000_000_006)
            #expect(
                await events.nextPresence()?.change
                    == .statesChanged(.init(userID: "dave", states: ["a": "1"])))
            #expect(await events.nextPresence()?.change == .left("bob"))
            #expect(await events.nextPresence()?.change == .timedOut("carol"))
            #expect(
                await events.nextPresence()?.change
                    == .interval(
                        .init(
                            joined: ["eve"], left: ["dave"],
                            states: [.init(userID: "eve", states: ["b": "2"])],
                            occupancy: 2)))
        }
    }

    @Test
    func `P-7: an event reports that presence is out of service when it wasn't asked for or can't be given`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: .message)
            #expect(await events.nextPresence()?.change == .outage(.notAskedFor))
            edge.follow { frame in
                guard var answer = FakeEdge.usual(frame) else { return [] }
                if frame.isSubscribe { answer.subscribed.featuresUnavailable = 1 }
                return [answer]
            }
            let subscription = try await client.subscribe(to: "hall")
            #expect(subscription.unavailableFeatures == .presence)
            let outage = await events.nextPresence()
            #expect(outage?.change == .outage(.unavailable))
            #expect(outage?.channelName == "hall")
            // It comes back with a snapshot.
            edge.push([.snapshot("hall", at: 1, [.user("bob")])])
            #expect(await events.nextPresence()?.change == .snapshot([.init(userID: "bob")]))
        }
    }

    @Test func `Events of several channels don't mix, and none come after unsubscribe`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            try await client.subscribe(to: "b")
            edge.push([
                .snapshot("b", at: 9, [.user("bob")]), .snapshot("a", at: 1, [.user("ann")]),
                .presence("a", offset: 2, .presenceEventRemoteJoin, of: "eve"),
                .presence("b", offset: 10, .presenceEventRemoteLeave, of: "bob"),
            ])
            #expect(await events.nextPresence(in: "b")?.change == .snapshot([.init(userID: "bob")]))
            #expect(await events.nextPresence(in: "a")?.change == .snapshot([.init(userID: "ann")]))
            #expect(await events.nextPresence()?.change == .joined("eve"))
            #expect(await events.nextPresence()?.channelName == "b")
            try await client.unsubscribe(from: "a")
            edge.push([
                .snapshot("a", at: 20, [.user("ann")]),
                .presence("a", offset: 21, .presenceEventRemoteJoin, of: "joe"),
                .presence("b", offset: 11, .presenceEventRemoteJoin, of: "zoe"),
            ])
            #expect(await events.nextPresence()?.change == .joined("zoe"))
        }
    }

    @Test func `S-19: presence events move the position on from which a reconnect continues`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            edge.push([
                .snapshot("lobby", at: 1, []),
                .presence("lobby", offset: 7, .presenceEventRemoteJoin, of: "bob"),
                // This kind is known only to newer servers.
                .presence("lobby", offset: 9, .UNRECOGNIZED(99), of: "bob"),
                FakeEdge.publication("b", offset: 1, text: "x"),
            ])
            _ = await events.nextPresence()
            #expect(await events.nextPresence()?.change == .joined("bob"))
            edge.dropConnections()
            _ = await events.nextLinkState(.connected)
            #expect(edge.received.last(where: \.isSubscribe)?.subscribe.after.offset == 9)
            // What was seen is not reported again when it is replayed, but a leave that was missed is.
            edge.push([
                .presence("lobby", offset: 7, .presenceEventRemoteJoin, of: "bob"),
                .presence("lobby", offset: 10, .presenceEventRemoteLeave, of: "bob"),
            ])
            #expect(await events.nextPresence()?.change == .left("bob"))
        }
    }

    @Test func `A roster has the members at once, follows them, and ends with the client`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge)
        var early = client.roster(of: "lobby").makeAsyncIterator()
        try await client.login()
        try await client.subscribe(to: "lobby")
        edge.push([.snapshot("lobby", at: 5, [.user("alice"), .user("bob", ["mood": "good"])])])
        let members = ["alice": [:], "bob": ["mood": "good"]]
        #expect(await early.next() == RosterUpdate(members: members, changes: [.replaced]))
        var late = client.roster(of: "lobby").makeAsyncIterator()
        #expect(await late.next() == RosterUpdate(members: members, changes: [.replaced]))
        try await client.setState(["me": "too"], in: "lobby")
        #expect(
            await early.next()
                == RosterUpdate(
                    members: ["alice": ["me": "too"], "bob": ["mood": "good"]],
                    changes: [.statesChanged(.init(userID: "alice", states: ["me": "too"]))]))
        edge.push([.presence("lobby", offset: 6, .presenceEventRemoteLeave, of: "bob")])
        #expect(
            await early.next() == RosterUpdate(members: ["alice": ["me": "too"]], changes: [.left("bob")]))
        try await client.unsubscribe(from: "lobby")
        #expect(await early.next() == RosterUpdate(members: [:], changes: [.cleared]))
        await client.close()
        #expect(await early.next() == nil)
        while let update = await late.next() { #expect(update.members["bob"] == nil) }
        try await edge.stop()
    }
}
