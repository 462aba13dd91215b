import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// What storage can't give for a moment is asked for again, until the app has it.
@Suite(.ends(withinMinutes: 1))
struct ClientRefreshTests {
    private typealias Frames = ClientStorageTests

    @Test func `D-41, K-13: what storage could not give at the subscribe comes once it is back`() async throws
    {
        let script: FakeEdge.Script = { frame in
            guard frame.isSubscribe, var answer = FakeEdge.usual(frame) else {
                return [FakeEdge.usual(frame)].compactMap { $0 }
            }
            answer.subscribed.featuresUnavailable = SubscriptionFeatures([.metadata, .lock]).rawValue
            return [answer]
        }
        try await withClient(script, Self.impatient) { client, edge in
            var events = client.events().makeAsyncIterator()
            let away = FakeEdge.Failures(4)
            edge.follow { frame in
                let isAway = frame.isGetMetadata || frame.isGetLocks ? away.next() : false
                if isAway {
                    var refusal = FakeEdge.refusal(of: frame, .errorStorageNotAvailable)
                    refusal.error.retryAfterMs = 5
                    return [refusal]
                }
                switch frame.body {
                case .getMetadata:
                    return [FakeEdge.answer(to: frame) { $0.metadata = Frames.set(3, ["k": "3"]) }]
                case .getLocks:
                    return [
                        FakeEdge.answer(to: frame) {
                            ($0.locks.channelType, $0.locks.channel) = (.message, "lobby")
                        }
                    ]
                default: return script(frame)
                }
            }
            let subscription = try await client.subscribe(to: "lobby", features: [.metadata, .lock])
            #expect(subscription.unavailableFeatures == [.metadata, .lock])
            var seen: Set<String> = []
            while seen.count < 2, let event = await events.next() {
                if case .metadata(let event) = event, event.kind == .snapshot { seen.insert("metadata") }
                if case .lock(let event) = event, event.kind == .snapshot { seen.insert("locks") }
            }
            #expect(seen == ["metadata", "locks"])
            edge.push([Frames.update(4, offset: 1)])
            #expect(await events.nextStorage()?.metadata.majorRevision == 4)
        }
    }

    @Test func `D-45: a snapshot that was asked for does not take the place of a newer event`() async throws {
        try await withClient(nil, Self.impatient) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.metadata])
            edge.follow { frame in
                guard case .getMetadata = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
                let isFirst = edge.received.filter(\.isGetMetadata).count < 2
                let answer = FakeEdge.answer(to: frame) { $0.metadata = Frames.set(isFirst ? 7 : 8) }
                return isFirst ? [Frames.update(8, offset: 41), answer] : [answer]
            }
            edge.push([Self.gap("lobby", at: 40)])
            #expect(await events.nextStorage()?.kind == .update)
            let snapshot = await events.nextStorage()
            #expect(snapshot?.kind == .snapshot && snapshot?.metadata.majorRevision == 8)
            // A storage that was restored from a backup answers with less each time, and that is what there
            // is.
            edge.follow { frame in
                guard case .getMetadata = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
                return [FakeEdge.answer(to: frame) { $0.metadata = Frames.set(2) }]
            }
            edge.push([Self.gap("lobby", at: 50)])
            #expect(await events.nextStorage()?.metadata.majorRevision == 2)
        }
    }

    private static func gap(_ channel: String, at offset: UInt64) -> Rtm_Client_ServerFrame {
        .with {
            $0.gap = .with { gap in
                (gap.channelType, gap.channel) = (.message, channel)
                gap.position = .with { ($0.epoch, $0.offset) = (1, offset) }
            }
        }
    }

    private static let quickReturn: @Sendable (inout RTMClient.Configuration) -> Void = {
        $0.timing.firstRetryDelay = .milliseconds(5)
    }

    private static let impatient: @Sendable (inout RTMClient.Configuration) -> Void = {
        $0.timing.firstRetryDelay = .milliseconds(5)
        $0.timing.refreshPause = .milliseconds(5)
    }

    @Test func `S-19, 2.1.12: a followed user stays followed over a return while storage is away`()
        async throws
    {
        try await withClient(nil, Self.impatient) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribeUserMetadata("bob")
            edge.push([Frames.update(1, offset: 6, of: "bob", type: .none)])
            _ = await events.nextStorage()
            let codes: [Rtm_Client_ErrorCode] = [
                .errorStorageNotAvailable, .errorStorageOperationTimeout, .errorStorageOperationFailed,
            ]
            let number = FakeEdge.Failures(codes.count)
            edge.follow { frame in
                guard frame.isSubscribeUserMetadata, var answer = FakeEdge.usual(frame) else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                guard number.next() else {
                    answer.userMetadataSubscribed.position.offset = 9
                    return [answer, Frames.snapshot(Frames.set(4, of: "bob", type: .none))]
                }
                let count = edge.received.filter(\.isSubscribeUserMetadata).count
                return [FakeEdge.refusal(of: frame, codes[count % codes.count])]
            }
            edge.dropConnections()
            let change = await events.nextLinkState(.connected)
            #expect(change?.unrestoredUsers == [])
            #expect(await events.nextStorage()?.metadata.majorRevision == 4)
            let asked = edge.received.filter(\.isSubscribeUserMetadata).map(\.subscribeUserMetadata)
            #expect(asked.count == 5 && asked.dropFirst().allSatisfy { $0.after.offset == 6 })
            edge.push([Frames.update(5, offset: 10, of: "bob", type: .none)])
            #expect(await events.nextStorage()?.metadata.majorRevision == 5)
            try await client.unsubscribeUserMetadata("bob")
        }
    }

    @Test func `S-16: a user who is still to be followed again can be left, and is not asked for any more`()
        async throws
    {
        try await withClient(nil, Self.quickReturn) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribeUserMetadata("bob")
            try await client.subscribeUserMetadata("carol")
            edge.follow { frame in
                let isBob = frame.subscribeUserMetadata.userID == "bob"
                guard frame.isSubscribeUserMetadata,
                    isBob || edge.received.count(where: { $0.asks(for: "carol") }) < 3
                else { return [FakeEdge.usual(frame)].compactMap { $0 } }
                var refusal = FakeEdge.refusal(of: frame, .errorStorageNotAvailable)
                refusal.error.retryAfterMs = 30
                return [refusal]
            }
            edge.dropConnections()
            _ = await events.nextLinkState(.connected)
            try await client.unsubscribeUserMetadata("bob")
            let before = edge.received.count(where: { $0.asks(for: "bob") })
            // By the time carol is followed again bob's turn would have come.
            try await eventually("carol is asked for again") {
                edge.received.count(where: { $0.asks(for: "carol") }) > 2
            }
            #expect(edge.received.count(where: { $0.asks(for: "bob") }) == before)
            #expect(await code { try await client.unsubscribeUserMetadata("bob") } == .storageNotSubscribe)
        }
    }
}
