import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMClient

/// Joining stream channels, against an edge that answers as it is told.
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
