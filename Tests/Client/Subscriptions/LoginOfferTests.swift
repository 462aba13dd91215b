import NIOCore
import RTMClientTestSupport
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Synchronization
import Testing

@testable import RTMClient

/// S-19: a client that comes back sends its subscriptions along with the login.
@Suite(.timeLimit(.minutes(1)))
struct LoginOfferTests {
    /// Takes up so many of what a login carries, and answers for them.
    private static func taking(_ count: Int) -> FakeEdge.Script {
        { frame in
            guard case .login(let login) = frame.body, var answer = FakeEdge.usual(frame) else {
                return [FakeEdge.usual(frame)].compactMap { $0 }
            }
            let channels = login.subscriptions.prefix(count)
            let users = login.followedUsers.prefix(count)
            answer.loggedIn.subscriptions = UInt32(channels.count)
            answer.loggedIn.followedUsers = UInt32(users.count)
            var answers = [answer]
            for subscribe in channels {
                var confirmed = Rtm_Client_ServerFrame()
                confirmed.requestID = subscribe.requestID
                confirmed.subscribed.position = subscribe.after
                answers.append(confirmed)
            }
            for follow in users {
                var confirmed = Rtm_Client_ServerFrame()
                confirmed.requestID = follow.requestID
                confirmed.userMetadataSubscribed.position = follow.after
                answers.append(confirmed)
            }
            return answers
        }
    }

    private func returns(
        taking count: Int, _ check: ([Rtm_Client_ClientFrame]) throws -> Void
    ) async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            for channel in ["a", "b", "c"] { try await client.subscribe(to: channel, features: [.message]) }
            try await client.subscribeUserMetadata("bob")
            let before = edge.received.count
            edge.follow(Self.taking(count))
            edge.dropConnections()
            let change = await events.nextLinkState(.connected)
            #expect(change?.isResumed == true && change?.unrestoredChannels == [])
            try check(Array(edge.received.dropFirst(before)))
            edge.push([FakeEdge.publication("c", offset: 1, text: "on")])
            #expect(await events.nextMessage()?.payload == .text("on"))
        }
    }

    @Test func `a server that takes everything up is asked for nothing more`() async throws {
        try await returns(taking: 100) { frames in
            #expect(frames.count == 2)
            let login = try #require(frames.last).login
            #expect(login.subscriptions.map(\.channel) == ["a", "b", "c"])
            #expect(login.subscriptions.allSatisfy { $0.features == 4 && $0.after.epoch == 1 })
            #expect(login.followedUsers.map(\.userID) == ["bob"])
            let ids = login.subscriptions.map(\.requestID) + login.followedUsers.map(\.requestID)
            #expect(Set(ids).count == 4 && !ids.contains(0))
        }
    }

    @Test func `a server that takes some up is asked for the others`() async throws {
        try await returns(taking: 1) { frames in
            #expect(frames.filter(\.isSubscribe).map(\.subscribe.channel) == ["b", "c"])
            #expect(!frames.contains { $0.isSubscribeUserMetadata })
        }
    }

    @Test func `an older server takes nothing up and is asked for each`() async throws {
        try await returns(taking: 0) { frames in
            #expect(frames.filter(\.isSubscribe).map(\.subscribe.channel) == ["a", "b", "c"])
            #expect(frames.filter(\.isSubscribeUserMetadata).count == 1)
        }
    }

    @Test func `R-1: a restoration above the rate is sent again when allowed, and nothing is lost`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            let failures = FakeEdge.Failures(2)
            edge.follow { frame in
                guard frame.isSubscribe, failures.next() else {
                    return [FakeEdge.usual(frame)].compactMap { $0 }
                }
                var refusal = FakeEdge.refusal(of: frame, .errorOperationRateExceedLimitation)
                refusal.error.retryAfterMs = 1
                return [refusal]
            }
            edge.dropConnections()
            let change = await events.nextLinkState(.connected)
            #expect(change?.isResumed == true && change?.unrestoredChannels == [])
        }
    }

    @Test(arguments: [0, 1, 32])
    func `P-46: a login stays below the size that every server accepts, whatever states it has`(
        states: Int
    ) {
        let names = (0..<1_000).map { "\($0)".padded(to: 64) }
        let brought = Dictionary(
            uniqueKeysWithValues: (0..<states).map { ("\($0)", String(repeating: "ä", count: 100)) })
        let restorations = names.map {
            SubscriptionTable.Restoration(
                channel: .message($0), features: .all,
                after: StreamPosition(epoch: UInt64.max >> 11, offset: UInt64.max >> 11), states: brought)
        }
        for token in ["", String(repeating: "t", count: Limits.tokenBytesMax)] {
            var id: UInt64 = 1 << 40
            let offer = LoginOffer(channels: restorations, users: restorations, tokenBytes: token.utf8.count)
            {
                id += 1
                return id
            }
            var login = Rtm_Client_Login()
            login.token = token
            login.appID = String(repeating: "a", count: 64)
            login.userID = String(repeating: "u", count: 64)
            offer.add(to: &login)
            let bytes: [UInt8] = (try? login.serializedBytes()) ?? []
            #expect(bytes.count < 40_000 && offer.channels.count >= (states == 0 ? 50 : 4 / states))
            #expect(offer.channels.count + offer.users.count <= LoginOffer.countMax)
        }
    }

    @Test
    func `M-21: one's own message behind a return is no event, and one to oneself is`()
        async throws
    {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "a")
            var own = FakeEdge.publication("a", offset: 1, text: "mine")
            own.publication.publisher = "alice"
            var note = FakeEdge.publication("alice", offset: 1, text: "note", type: .user)
            note.publication.publisher = "alice"
            edge.push([own, FakeEdge.publication("a", offset: 2, text: "theirs"), note])
            #expect(await events.nextMessage()?.payload == .text("theirs"))
            #expect(await events.nextMessage()?.payload == .text("note"))
        }
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: "x", count: count - utf8.count)
    }
}
