import Foundation
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Metadata over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientStorageTests {
    static func set(
        _ revision: Int64, of name: String = "lobby", type: Rtm_Client_ChannelType = .message,
        _ items: [String: String] = [:]
    ) -> Rtm_Client_Metadata {
        .with { metadata in
            (metadata.channelType, metadata.target, metadata.majorRevision) = (type, name, revision)
            metadata.items = items.sorted { $0.key < $1.key }.map { key, value in
                .with { ($0.key, $0.value, $0.revision) = (key, value, revision) }
            }
        }
    }

    static func snapshot(_ metadata: Rtm_Client_Metadata) -> Rtm_Client_ServerFrame {
        .with { $0.metadata = metadata }
    }

    static func update(
        _ revision: Int64, offset: UInt64, of name: String = "lobby", type: Rtm_Client_ChannelType = .message
    ) -> Rtm_Client_ServerFrame {
        .with { frame in
            frame.publication.channelType = type
            frame.publication.channel = name
            frame.publication.offset = offset
            frame.publication.timestampMs = 1_790_000_000_000 + offset
            frame.publication.publisher = "bob"
            frame.publication.storage = .with {
                $0.majorRevision = revision
                $0.items = [.with { ($0.key, $0.value, $0.revision) = ("k", "\(revision)", revision) }]
            }
        }
    }

    // MARK: Calls

    @Test func `A write answers with the new revision, a read with the whole set`() async throws {
        let script: FakeEdge.Script = { frame in
            switch frame.body {
            case .writeMetadata: [FakeEdge.answer(to: frame) { $0.metadataWritten.majorRevision = 12 }]
            case .getMetadata:
                [
                    FakeEdge.answer(to: frame) { answer in
                        answer.metadata = Self.set(12, ["k": "v"])
                        answer.metadata.items[0].author = "bob"
                        answer.metadata.items[0].updateTsMs = 5
                    }
                ]
            default: [FakeEdge.usual(frame)].compactMap { $0 }
            }
        }
        try await withClient(script) { client, edge in
            #expect(try await client.setMetadata(["k": "v"], of: .channel("lobby")) == 12)
            #expect(edge.received.last?.writeMetadata.items.first?.value == "v")
            #expect(try await client.removeMetadata(["k"], of: .ownUser) == 12)
            let removal = edge.received.last?.writeMetadata
            #expect(removal?.target == "alice" && removal?.channelType == Rtm_Client_ChannelType.none)
            let metadata = try await client.metadata(of: .channel("lobby"))
            #expect(metadata.majorRevision == 12 && metadata["k"] == "v" && metadata["x"] == nil)
            #expect(
                metadata.item(for: "k")
                    == MetadataItem(
                        key: "k", value: "v", revision: 12, updatedAtMilliseconds: 5, author: "bob"))
        }
    }

    @Test func `D-5: a writer that loses a compare-and-set learns what is there now`() async throws {
        let script: FakeEdge.Script = { frame in
            guard case .writeMetadata = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            var refusal = FakeEdge.refusal(of: frame, .errorStorageOutdatedRevision)
            refusal.error.conflict = .with { ($0.majorRevision, $0.key, $0.revision) = (9, "k", 8) }
            return [refusal]
        }
        try await withClient(script) { client, _ in
            let error = await #expect(throws: RTMError.self) {
                try await client.updateMetadata(
                    [MetadataChange("k", "v", revision: 7)], of: .channel("lobby"),
                    options: .init(majorRevision: 9))
            }
            #expect(error?.code == .storageOutdatedRevision && error?.operation == "updateChannelMetadata")
            #expect(error?.conflict == .init(majorRevision: 9, key: "k", revision: 8))
        }
    }

    @Test func `D-17: an edit begins anew when somebody was faster, with what there is then`() async throws {
        let server = MetadataServer()
        let script: FakeEdge.Script = { frame in
            server.answer(frame) ?? [FakeEdge.usual(frame)].compactMap { $0 }
        }
        try await withClient(script) { client, _ in
            var seen: [String] = []
            let revision = try await client.editMetadata(of: .channel("auction")) { now in
                seen.append(now["bid"] ?? "none")
                if seen.count <= 2 { server.write("bid", "\(seen.count)00") }
                return [MetadataChange("bid", (now["bid"] ?? "") + "+")]
            }
            #expect(seen == ["none", "100", "200"])
            #expect(server.value("bid") == "200+" && revision == 3)
            let unchanged = try await client.editMetadata(of: .channel("auction")) { _ in [] }
            #expect(unchanged == 3)
        }
    }

    @Test func `A write that can't work is refused before anything is sent, with the name of the call`()
        async throws
    {
        try await withClient { client, edge in
            let sent = edge.received.count
            let error = await #expect(throws: RTMError.self) {
                try await client.setMetadata(["": "v"], of: .user("bob"))
            }
            #expect(error?.code == .storageInvalidKey && error?.operation == "setUserMetadata")
            #expect(
                await code { _ = try await client.metadata(of: .channel("bob", type: .user)) }
                    == .invalidChannelType)
            #expect(await code { try await client.subscribeUserMetadata("a*b") } == .invalidUserId)
            #expect(edge.received.count == sent)
        }
    }

    @Test func `S-8: before login and while the link is down calls report that`() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) { $0.timing.firstRetryDelay = .seconds(60) }
        #expect(await code { try await client.setMetadata(["k": "v"], of: .ownUser) } == .notLogin)
        try await client.login()
        var events = client.events().makeAsyncIterator()
        edge.dropConnections()
        _ = await events.nextLinkState(.disconnected)
        #expect(await code { _ = try await client.metadata(of: .ownUser) } == .notConnected)
        #expect(await code { _ = try await client.locks(of: "lobby") } == .notConnected)
        #expect(await code { _ = try await client.history(of: .channel("lobby")) } == .notConnected)
        await client.close()
        try await edge.stop()
    }

    // MARK: Events

    @Test func `D-41, D-42, D-45: the snapshot comes first, then each newer set once`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.metadata])
            edge.push([
                Self.snapshot(Self.set(5, ["k": "5"])), Self.update(4, offset: 1), Self.update(5, offset: 2),
                Self.update(6, offset: 3), Self.update(6, offset: 3), Self.update(7, offset: 4),
            ])
            let snapshot = await events.nextStorage()
            #expect(snapshot?.kind == .snapshot && snapshot?.metadata["k"] == "5")
            #expect(snapshot?.target == .channel("lobby") && snapshot?.author == nil)
            let update = await events.nextStorage()
            #expect(update?.kind == .update && update?.metadata.majorRevision == 6)
            #expect(update?.author == "bob" && update?.timestampMilliseconds == 1_790_000_000_003)
            #expect(await events.nextStorage()?.metadata.majorRevision == 7)
        }
    }

    @Test func `Storage and lock entries move the position on from which a reconnect continues`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.metadata])
            edge.push([Self.update(1, offset: 8)])
            _ = await events.nextStorage()
            edge.dropConnections()
            _ = await events.nextLinkState(.connected)
            #expect(edge.received.last(where: \.isSubscribe)?.subscribe.after.offset == 8)
        }
    }

    @Test func `2.1.12: events aren't missing after a reconnect: the snapshot is shown again`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.metadata])
            edge.push([Self.snapshot(Self.set(5))])
            _ = await events.nextStorage()
            edge.follow { frame in
                guard frame.isSubscribe, let answer = FakeEdge.usual(frame) else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                // The snapshot contains what was missed, and the log brings it once more.
                return [
                    answer, Self.snapshot(Self.set(8, ["k": "8"])), Self.update(7, offset: 1),
                    Self.update(8, offset: 2), Self.update(9, offset: 3),
                ]
            }
            edge.dropConnections()
            let snapshot = await events.nextStorage()
            #expect(snapshot?.kind == .snapshot && snapshot?.metadata["k"] == "8")
            #expect(await events.nextStorage()?.metadata.majorRevision == 9)
        }
    }

    @Test func `After a gap the set is asked for and shown`() async throws {
        let script: FakeEdge.Script = { frame in
            guard case .getMetadata = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            return [FakeEdge.answer(to: frame) { $0.metadata = Self.set(30, ["k": "30"]) }]
        }
        try await withClient(script) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.metadata])
            edge.push([
                .with {
                    $0.gap = .with { gap in
                        (gap.channelType, gap.channel) = (.message, "lobby")
                        gap.position = .with { ($0.epoch, $0.offset) = (1, 40) }
                    }
                }
            ])
            let snapshot = await events.nextStorage()
            #expect(snapshot?.kind == .snapshot && snapshot?.metadata.majorRevision == 30)
        }
    }

    @Test(arguments: [
        (Rtm_Client_ErrorCode.errorOperationRateExceedLimitation, UInt32(20)), (.errorStorageNotAvailable, 0),
    ]) func `R-6: a snapshot that can't be read right after a gap is asked for again, and shown`(
        _ code: Rtm_Client_ErrorCode, retryAfterMs: UInt32
    ) async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.metadata])
            edge.follow { frame in
                guard case .getMetadata = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
                let isFirst = edge.received.filter(\.isGetMetadata).count < 2
                guard isFirst else {
                    return [FakeEdge.answer(to: frame) { $0.metadata = Self.set(30, ["k": "30"]) }]
                }
                var refusal = FakeEdge.refusal(of: frame, code)
                refusal.error.retryAfterMs = retryAfterMs
                return [refusal]
            }
            edge.push([
                .with {
                    $0.gap = .with { gap in
                        (gap.channelType, gap.channel) = (.message, "lobby")
                        gap.position = .with { ($0.epoch, $0.offset) = (1, 40) }
                    }
                }
            ])
            let snapshot = await events.nextStorage()
            #expect(snapshot?.kind == .snapshot && snapshot?.metadata.majorRevision == 30)
            #expect(edge.received.filter(\.isGetMetadata).count == 2)
        }
    }

    @Test func `S-21: behind a gap while storage is away, the snapshot is asked for later`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.metadata])
            edge.follow { frame in
                if case .getMetadata = frame.body {
                    return [FakeEdge.answer(to: frame) { $0.metadata = Self.set(30, ["k": "30"]) }]
                }
                guard frame.isSubscribe, var answer = FakeEdge.usual(frame) else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                answer.subscribed.gap = true
                answer.subscribed.position.offset = 50
                answer.subscribed.featuresUnavailable = SubscriptionFeatures.metadata.rawValue
                return [answer]
            }
            edge.dropConnections()
            let snapshot = await events.nextStorage()
            #expect(snapshot?.kind == .snapshot && snapshot?.metadata.majorRevision == 30)
        }
    }

    // MARK: Users

    @Test func `D-44, S-19: a followed user has a snapshot, events, and a position of its own`() async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribeUserMetadata("")
            #expect(edge.received.last?.subscribeUserMetadata.userID == "alice")
            try await client.subscribeUserMetadata("bob")
            edge.push([
                Self.snapshot(Self.set(0, of: "bob", type: .none)),
                Self.update(1, offset: 6, of: "bob", type: .none),
                Self.update(1, offset: 1, of: "carol", type: .none),
            ])
            let snapshot = await events.nextStorage()
            #expect(snapshot?.target == .user("bob") && snapshot?.metadata == RTMMetadata())
            #expect(await events.nextStorage()?.metadata["k"] == "1")
            edge.dropConnections()
            _ = await events.nextLinkState(.connected)
            let restored = edge.received.suffix(2).map(\.subscribeUserMetadata)
            #expect(restored.map(\.userID) == ["alice", "bob"])
            #expect(restored.map(\.after.offset) == [0, 6])
        }
    }

    @Test func `D-15, S-16: unsubscribing needs a subscription, and no connection`() async throws {
        let change: (inout RTMClient.Configuration) -> Void = {
            $0.timing.firstRetryDelay = .milliseconds(300)
        }
        try await withClient(nil, change) { client, edge in
            var events = client.events().makeAsyncIterator()
            #expect(await code { try await client.unsubscribeUserMetadata("bob") } == .storageNotSubscribe)
            try await client.subscribeUserMetadata("bob")
            try await client.subscribeUserMetadata("carol")
            try await client.unsubscribeUserMetadata("bob")
            edge.dropConnections()
            _ = await events.nextLinkState(.disconnected)
            try await client.unsubscribeUserMetadata("carol")
            let before = edge.received.count
            _ = await events.nextLinkState(.connected)
            #expect(edge.received.dropFirst(before).filter(\.isSubscribeUserMetadata).isEmpty)
        }
    }

    @Test func `L-38: the server decides how many users may be followed`() async throws {
        try await withClient { client, edge in
            for number in 1...150 { try await client.subscribeUserMetadata("u\(number)") }
            edge.follow { frame in
                var refusal = FakeEdge.refusal(of: frame, .errorStorageSubscribeUserExceedLimitation)
                refusal.error.limit = .with { ($0.name, $0.value) = ("user metadata subscriptions", 150) }
                return [refusal]
            }
            let error = await #expect(throws: RTMError.self) {
                try await client.subscribeUserMetadata("u151")
            }
            #expect(error?.code == .storageSubscribeUserExceedLimitation)
            #expect(error?.limit == .init(name: "user metadata subscriptions", value: 150))
        }
    }

    @Test func `S-19: a user who can't be followed again yet is followed later, and nothing is missing`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribeUserMetadata("bob")
            let failures = FakeEdge.Failures(2)
            edge.follow { frame in
                guard frame.isSubscribeUserMetadata, failures.next() else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                var refusal = FakeEdge.refusal(of: frame, .errorStorageNotAvailable)
                refusal.error.retryAfterMs = 10
                return [refusal]
            }
            edge.dropConnections()
            let change = await events.nextLinkState(.connected)
            #expect(change?.isResumed == true)
            #expect(change?.unrestoredChannels == [] && change?.unrestoredUsers == [])
            try await eventually("it is asked for again") {
                edge.received.filter(\.isSubscribeUserMetadata).count == 4
            }
            edge.push([Self.update(1, offset: 1, of: "bob", type: .none)])
            #expect(await events.nextStorage()?.metadata["k"] == "1")
            #expect(edge.connectionsAccepted == 2)
        }
    }

    @Test func `S-18, S-19: the event names a user who may not be followed any more`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribeUserMetadata("bob")
            edge.follow { frame in
                frame.isSubscribeUserMetadata
                    ? [FakeEdge.refusal(of: frame, .errorStoragePermissionDenied)]
                    : [FakeEdge.usual(frame)].compactMap { $0 }
            }
            edge.dropConnections()
            let change = await events.nextLinkState(.connected)
            #expect(change?.unrestoredUsers == ["bob"])
            #expect(change?.unrestoredChannels == [])
            #expect(change?.isResumed == false)
            #expect(await code { try await client.unsubscribeUserMetadata("bob") } == .storageNotSubscribe)
        }
    }

    // MARK: History

    @Test func `H-6, H-7: the sequence walks page after page, newest first, each message once`() async throws
    {
        let script: FakeEdge.Script = { frame in
            guard case .getHistory(let query) = frame.body else {
                return [FakeEdge.usual(frame)].compactMap { $0 }
            }
            // 25 messages at 101…125; without `end` the start is exclusive.
            let newest = query.startMs == 0 ? 125 : min(125, query.startMs - 1)
            let times = Array(stride(from: Int(newest), to: 100, by: -1).prefix(Int(query.count)))
            return [
                FakeEdge.answer(to: frame) { answer in
                    answer.historyPage.messages = times.map { time in
                        .with {
                            $0.type = .text
                            $0.payload = .init("m\(time)".utf8)
                            ($0.publisher, $0.customType, $0.timestampMs) = ("bob", "t", UInt64(time))
                        }
                    }
                    if let last = times.last, last > 101 { answer.historyPage.newStartMs = UInt64(last) }
                }
            ]
        }
        try await withClient(script) { client, edge in
            let page = try await client.history(of: .channel("lobby"), count: 10)
            #expect(page.messages.count == 10 && page.nextStart == 116)
            #expect(
                page.messages.first
                    == HistoryMessage(
                        payload: .text("m125"), publisher: "bob", customType: "t", timestampMilliseconds: 125)
            )
            var times: [UInt64] = []
            for try await message in client.historyMessages(of: .channel("lobby"), pageSize: 10) {
                times.append(message.timestampMilliseconds)
            }
            #expect(times == (101...125).reversed())
            let queries = edge.received.map(\.getHistory).filter { $0.count > 0 }.dropFirst()
            #expect(queries.map(\.startMs) == [0, 116, 106])
            let error = await #expect(throws: RTMError.self) {
                try await client.history(of: .user("alice"), start: 5, end: 6)
            }
            #expect(error?.code == .historyInvalidTimestamp && error?.operation == "getMessages")
            let (since, before) = (Date(timeIntervalSince1970: 0.1101), Date(timeIntervalSince1970: 0.116))
            let between = client.historyMessages(of: .channel("lobby"), since: since, before: before)
            for try await _ in between { break }
            let last = try #require(edge.received.last?.getHistory)
            #expect(
                last.startMs == 115 && last.endMs == 111, "H-4: with both bounds the newer one is included")
            for try await _ in client.historyMessages(of: .channel("lobby"), since: .distantPast) { break }
            #expect(edge.received.last?.getHistory.endMs == 0)
        }
    }
}

extension Rtm_Client_ClientFrame {
    var isGetMetadata: Bool { if case .getMetadata = body { true } else { false } }
    var isGetLocks: Bool { if case .getLocks = body { true } else { false } }
    func asks(for user: String) -> Bool { isSubscribeUserMetadata && subscribeUserMetadata.userID == user }
    var isSubscribeUserMetadata: Bool { if case .subscribeUserMetadata = body { true } else { false } }
}
