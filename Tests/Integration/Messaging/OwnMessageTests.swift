import Foundation
import RTMProtocol
import RTMTestSupport
import Testing

/// Two users publish to a channel. One of them has asked for its own messages, and its connection is cut when
/// a publish has no answer yet.
@Suite struct OwnMessageTests {
    @Test(
        "M-43, M-25: own messages come once and in their places, over a cut and a repeated publish",
        arguments: Deployment.allCases)
    func cut(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            var bob = Talker("bob", try await RawConnection.open(system.address("edge")))
            try await bob.logIn()
            _ = try await bob.subscribe(asksForOwn: false)
            var alice = Talker("alice", try await RawConnection.open(system.address("edge")))
            let inbox = try await alice.logIn().inboxPosition
            let start = try await alice.subscribe(asksForOwn: true).position
            _ = try await alice.publish("a1", sequence: 1)
            _ = try await bob.publish("b1", sequence: 0)
            try await alice.until("b1")
            try await alice.send(9, .publish(Talker.message("a2", sequence: 2)))
            // Bob sees it, so it has its place; whether its publisher has the answer nobody knows.
            try await bob.until("a2")
            try await alice.connection.close()
            _ = try await bob.publish("b2", sequence: 0)

            var back = Talker("alice", try await RawConnection.open(system.address("edge")))
            try await back.logIn(inboxAfter: inbox, after: start)
            let repeated = try await back.publish("a2", sequence: 2, again: true, epoch: inbox.epoch)
            let last = try await back.publish("a3", sequence: 3)
            try await back.until("a3")
            try await bob.until("a3")
            #expect(alice.seen.prefix(2).map(\.text) == ["a1", "b1"])
            #expect(back.seen.map(\.text) == ["a1", "b1", "a2", "b2", "a3"])
            #expect(back.seen.map(\.offset) == back.seen.map(\.offset).sorted())
            #expect(back.seen[2].offset == repeated && back.seen[4].offset == last)
            #expect(bob.seen.map(\.text) == ["a1", "a2", "a3"])
            try await back.connection.close()
            try await bob.connection.close()
        }
    }
}

/// A user in the channel "lobby" who notes which messages come.
private struct Talker {
    let connection: RawConnection
    private(set) var seen: [(text: String, offset: UInt64)] = []
    private let user: String
    private var frames: AsyncStream<Rtm_Client_ServerFrame>.Iterator

    init(_ user: String, _ connection: RawConnection) {
        self.user = user
        self.connection = connection
        frames = connection.frames.makeAsyncIterator()
    }

    func send(_ id: UInt64, _ body: Rtm_Client_ClientFrame.OneOf_Body) async throws {
        try await connection.send(id, body)
    }

    /// - Parameter after: where the subscription continues that comes with the login; nil if none comes.
    @discardableResult
    mutating func logIn(
        inboxAfter: Rtm_Client_StreamPosition? = nil, after: Rtm_Client_StreamPosition? = nil
    ) async throws -> Rtm_Client_LoggedIn {
        try await connection.hello()
        var login = Rtm_Client_Login()
        (login.appID, login.userID, login.instance) = ("dev", user, 77)
        if let inboxAfter { login.inboxAfter = inboxAfter }
        if let after {
            var subscribe = Self.lobby(asksForOwn: true)
            (subscribe.after, subscribe.requestID) = (after, 3)
            login.subscriptions = [subscribe]
        }
        try await send(2, .login(login))
        let answer = try await answer(to: 2).loggedIn
        if after != nil { #expect(try await self.answer(to: 3).subscribed.gap == false) }
        return answer
    }

    mutating func subscribe(asksForOwn: Bool) async throws -> Rtm_Client_Subscribed {
        try await send(3, .subscribe(Self.lobby(asksForOwn: asksForOwn)))
        return try await answer(to: 3).subscribed
    }

    /// Returns the place of the message.
    mutating func publish(
        _ text: String, sequence: UInt64, again: Bool = false, epoch: UInt64 = 0
    ) async throws -> UInt64 {
        var publish = Self.message(text, sequence: sequence)
        (publish.again, publish.ageMs, publish.epoch) = (again, again ? 1 : 0, epoch)
        try await send(4, .publish(publish))
        let answer = try await answer(to: 4)
        guard case .published(let published) = answer.body else {
            throw Surprise(what: "\(text): \(answer)")
        }
        return published.offset
    }

    mutating func until(_ text: String) async throws {
        while !seen.contains(where: { $0.text == text }) { _ = try await next() }
    }

    private mutating func answer(to id: UInt64) async throws -> Rtm_Client_ServerFrame {
        while true {
            let frame = try await next()
            if frame.requestID == id { return frame }
        }
    }

    private mutating func next() async throws -> Rtm_Client_ServerFrame {
        guard let frame = await frames.next(isolation: #isolation) else {
            throw Surprise(what: "the connection has ended")
        }
        if case .publication(let publication) = frame.body {
            let text = String(decoding: publication.message.payload, as: UTF8.self)
            seen.append((text, publication.offset))
        }
        return frame
    }

    private static func lobby(asksForOwn: Bool) -> Rtm_Client_Subscribe {
        var subscribe = Rtm_Client_Subscribe()
        (subscribe.channel, subscribe.features, subscribe.ownMessages) = ("lobby", 4, asksForOwn)
        return subscribe
    }

    static func message(_ text: String, sequence: UInt64) -> Rtm_Client_Publish {
        var publish = Rtm_Client_Publish()
        (publish.channelType, publish.channel, publish.sequence) = (.message, "lobby", sequence)
        (publish.messageType, publish.payload) = (.text, .init(text.utf8))
        return publish
    }

    private struct Surprise: Error {
        let what: String
    }
}
