import NIOConcurrencyHelpers
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

/// Joining stream channels, against an edge that follows a script.
@Suite struct JoinTests {
    private static func usual(but isSilent: @escaping @Sendable (Rtm_Client_ClientFrame) -> Bool)
        -> FakeEdge.Script
    {
        { isSilent($0) ? [] : [FakeEdge.usual($0)].compactMap { $0 } }
    }

    @Test("C-2: a newer join replaces one that has no answer yet, and so does a leave: -11034")
    func cancelled() async throws {
        let isFirst = FakeEdge.Failures(2)
        let script = Self.usual { $0.subscribe.channelType == .stream && isFirst.next() }
        try await withClient(script) { client, edge in
            func joins() -> Int { edge.received.count { $0.subscribe.channelType == .stream } }
            async let first = code { _ = try await client.join("room") }
            try await eventually("the first join arrived") { joins() == 1 }
            async let second = code { _ = try await client.join("room") }
            #expect(await first == .channelJoinCanceled)
            try await eventually("the second join arrived") { joins() == 2 }
            try await client.streamChannel("room").leave()
            #expect(await second == .channelJoinCanceled)
            let room = try await client.join("room")
            #expect(await code { _ = try await client.join("room") } == .duplicateOperation)
            try await room.leave()
            let left = edge.received.filter { if case .unsubscribe = $0.body { true } else { false } }
            #expect(left.count == 3 && left.allSatisfy { $0.unsubscribe.channelType == .stream })
        }
    }

    @Test("C-4: who joins again while a leave is under way is in none of the topics any more")
    func again() async throws {
        let waiting = NIOLockedValueBox<Rtm_Client_ClientFrame?>(nil)
        let script: FakeEdge.Script = { frame in
            let answer = [FakeEdge.usual(frame)].compactMap { $0 }
            if case .unsubscribe = frame.body {
                waiting.withLockedValue { $0 = frame }
                return []
            }
            guard frame.subscribe.channelType == .stream, let earlier = waiting.withLockedValue({ $0 }) else {
                return answer
            }
            waiting.withLockedValue { $0 = nil }
            return [FakeEdge.usual(earlier)].compactMap { $0 } + answer
        }
        try await withClient(script) { client, _ in
            let room = try await client.join("room")
            try await room.joinTopic("chat")
            async let left: Void = room.leave()
            try await eventually("the leave arrived") { waiting.withLockedValue { $0 } != nil }
            let again = try await client.join("room")
            try await left
            #expect(await code { try await again.leaveTopic("chat") } == .channelTopicNotJoined)
            try await again.joinTopic("chat")
        }
    }

    @Test("P-42: a publisher ends the topics that others still see of it from before a logout")
    func earlierTopics() async throws {
        let script: FakeEdge.Script = { frame in
            guard case .getState = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            return [FakeEdge.answer(to: frame) { $0.userState = .user("alice", ["chat": "", "news": ""]) }]
        }
        try await withClient(script) { client, edge in
            var events = client.events().makeAsyncIterator()
            let room = try await client.join("room")
            var snapshot = Rtm_Client_ServerFrame.snapshot("room", at: 1, [.user("alice", ["news": ""])])
            snapshot.presenceSnapshot.channelType = .topics
            edge.push([snapshot])
            while let event = await events.next() {
                if case .topic = event { break }
            }
            try await room.joinTopic("chat")
            try await eventually("the earlier topic is ended") {
                edge.received.contains { frame in
                    guard case .removeState(let request) = frame.body else { return false }
                    return request.keys == ["news"] && request.channelType == .topics
                }
            }
        }
    }

    @Test("C-2, S-52: the newest token is what a return joins with")
    func renewed() async throws {
        try await withClient { client, edge in
            let room = try await client.join("room", token: "old")
            try await room.renewToken("new")
            #expect(edge.received.last?.renewToken.channel == "room")
            edge.dropConnections()
            try await eventually("the client is back") {
                edge.received.contains { $0.login.subscriptions.contains { $0.token == "new" } }
            }
        }
    }

    @Test("C-3: a join whose topics can't be had is no join")
    func half() async throws {
        let script: FakeEdge.Script = { frame in
            frame.subscribe.channelType == .topics
                ? [FakeEdge.refusal(of: frame, .errorChannelSubscribeFailed)]
                : [FakeEdge.usual(frame)].compactMap { $0 }
        }
        try await withClient(script) { client, edge in
            #expect(await code { _ = try await client.join("room") } == .channelSubscribeFailed)
            #expect(edge.received.last?.unsubscribe.channelType == .stream)
            #expect(await code { try await client.streamChannel("room").leave() } == .channelNotJoined)
        }
    }
}
