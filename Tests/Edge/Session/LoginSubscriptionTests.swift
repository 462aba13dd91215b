import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMTokenTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// Protocol, "Subscriptions within the login": one request brings back all that a client had.
@Suite("Subscriptions within the login")
struct LoginSubscriptionTests {
    /// One call at once, one a second; one subscribe of a channel.
    private let fixture = EdgeFixture(
        rates: ApplicationRates(
            publish: 0, calls: 1, subscribesMax: 1, login: 0, subscriptionsMax: 0, userMetadata: 1))

    private func logIn(
        _ user: String, instance: UInt64 = 0, on other: EdgeFixture? = nil,
        _ fill: (inout Rtm_Client_Login) -> Void
    ) -> EdgeClient {
        let client = EdgeClient(other ?? fixture)
        client.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
        _ = client.take()
        client.send(
            2,
            .login(
                .with {
                    ($0.appID, $0.userID, $0.instance) = ("app", user, instance)
                    $0.heartbeatIntervalS = 1_800
                    fill(&$0)
                }))
        return client
    }

    private static func subscribe(
        _ id: UInt64, _ channel: String, features: UInt32 = 4, after: Rtm_Client_StreamPosition? = nil,
        ownMessages: Bool = false
    ) -> Rtm_Client_Subscribe {
        .with {
            ($0.requestID, $0.channel, $0.features) = (id, channel, features)
            $0.ownMessages = ownMessages
            if let after { $0.after = after }
        }
    }

    private func answerJoins() {
        while fixture.presence.answerJoin() { fixture.pass() }
        fixture.pass()
    }

    @Test("S-19, L-24: as many channels as a session may have are subscribed, whatever the rate of calls is")
    func all() throws {
        defer { fixture.end() }
        let client = logIn("anna") { login in
            login.subscriptions = (0..<60).map { Self.subscribe(100 + $0, "channel \($0)") }
        }
        answerJoins()
        let answers = client.take()
        #expect(answers.first?.requestID == 2 && answers.first?.loggedIn.subscriptions == 50)
        #expect(answers.dropFirst().map(\.requestID).sorted() == Array(100..<150))
        #expect(
            answers.dropFirst().allSatisfy {
                if case .subscribed = $0.body { true } else { false }
            })
        // What the edge didn't take up gets its own refusal, and the rate was not touched so far.
        client.subscribe(3, "channel 50", .message)
        let refusal = try #require(client.take().first?.error)
        #expect(refusal.code == .errorChannelSubscribeFailed && refusal.limit.value == 50)
        client.subscribe(4, "channel 51", .message)
        #expect(client.take().first?.error.code == .errorOperationRateExceedLimitation)
    }

    @Test("M-43: own messages are asked for within a login, and a bit of the features is no way to do it")
    func ownMessages() throws {
        defer { fixture.end() }
        let client = logIn("anna", instance: 1) { login in
            login.subscriptions = [
                Self.subscribe(3, "a", ownMessages: true), Self.subscribe(4, "b"),
                Self.subscribe(5, "c", features: 4 + 32),
            ]
        }
        answerJoins()
        let refusal = try #require(client.take().first { $0.requestID == 5 })
        #expect(refusal.error.code == .errorInvalidParameter)
        for channel in ["a", "b"] {
            client.send(
                7,
                .publish(
                    .with {
                        ($0.channelType, $0.channel) = (.message, channel)
                        $0.payload = .init(channel.utf8)
                    }))
        }
        let texts = client.take().map { String(decoding: $0.publication.message.payload, as: UTF8.self) }
        #expect(texts.filter { !$0.isEmpty } == ["a"])
    }

    @Test("S-20: each continues behind its position, and a gap is said of the one that has it")
    func continued() throws {
        defer { fixture.end() }
        let bert = fixture.client("bert")
        func publish(_ text: String) {
            bert.send(
                7,
                .publish(
                    .with {
                        ($0.channelType, $0.channel) = (.message, "a")
                        $0.payload = .init(text.utf8)
                    }))
        }
        let first = logIn("anna", instance: 1) { $0.subscriptions = [Self.subscribe(3, "a")] }
        answerJoins()
        publish("1")
        let position = try #require(first.take().first { $0.requestID == 3 }).subscribed.position
        first.vanish()
        publish("2")
        let back = logIn("anna", instance: 1) {
            $0.inboxAfter = .with { ($0.epoch, $0.offset) = (1, 0) }
            let lost = Rtm_Client_StreamPosition.with { ($0.epoch, $0.offset) = (99, 9) }
            let ahead = Rtm_Client_StreamPosition.with {
                ($0.epoch, $0.offset) = (position.epoch, UInt64.max >> 11)
            }
            $0.subscriptions = [
                Self.subscribe(3, "a", after: position), Self.subscribe(4, "b", after: lost),
                Self.subscribe(5, "c", after: ahead),
            ]
        }
        answerJoins()
        let frames = back.take()
        let texts = frames.map { String(decoding: $0.publication.message.payload, as: UTF8.self) }
        #expect(texts.filter { !$0.isEmpty } == ["1", "2"])
        #expect(try #require(frames.first { $0.requestID == 3 }).subscribed.gap == false)
        #expect(try #require(frames.first { $0.requestID == 4 }).subscribed.gap)
        #expect(try #require(frames.first { $0.requestID == 5 }).subscribed.gap)
    }

    @Test("each is checked and answered like a request of its own")
    func refused() throws {
        defer { fixture.end() }
        let client = logIn("anna") { login in
            login.subscriptions = [
                Self.subscribe(3, "a/b"), Self.subscribe(4, "good"), Self.subscribe(5, "good"),
                Self.subscribe(6, "other", features: 64),
            ]
            login.followedUsers = [.with { ($0.requestID, $0.userID) = (7, "b*b") }]
        }
        answerJoins()
        let answers = client.take()
        #expect(answers.first?.loggedIn.subscriptions == 4 && answers.first?.loggedIn.followedUsers == 1)
        func code(_ id: UInt64) -> Rtm_Client_ErrorCode? { answers.first { $0.requestID == id }?.error.code }
        #expect(code(3) == .errorInvalidChannelName)
        #expect(code(4) == .errorOk && code(5) == .errorDuplicateOperation)
        #expect(code(6) == .errorInvalidParameter && code(7) == .errorInvalidUserID)
        #expect(answers.count == 6 && client.isOpen)
    }

    @Test("S-19, D-46: users are followed again, and their metadata come as a snapshot")
    func users() throws {
        defer { fixture.end() }
        let client = logIn("anna") { login in
            login.followedUsers = (0..<120 as Range<UInt64>).map { number in
                .with { ($0.requestID, $0.userID) = (100 + number, "user \(number)") }
            }
        }
        #expect(client.take().map(\.loggedIn.followedUsers) == [100])
        #expect(fixture.storage.snapshots.count == 100)
        #expect(fixture.storage.snapshots.first?.channel.name == "user 0")
    }

    @Test("an entry without an id ends the connection, and a refused login answers for none")
    func none() throws {
        defer { fixture.end() }
        let nameless = logIn("anna") { $0.subscriptions = [Self.subscribe(0, "a")] }
        #expect(nameless.take().last?.disconnect.code == .disconnectProtocolError)
        let refused = logIn("an/na") { $0.subscriptions = [Self.subscribe(3, "a")] }
        let answers = refused.take()
        #expect(answers.map(\.requestID) == [2, 0])
        #expect(answers.first?.error.code == .errorInvalidUserID)
    }

    @Test("R-1: what a return carries is part of what it may take up beside the rates")
    func countedOnce() throws {
        let fixture = EdgeFixture(
            rates: ApplicationRates(publish: 0, calls: 1, subscribesMax: 0, login: 0, subscriptionsMax: 50))
        defer { fixture.end() }
        let client = logIn("anna", instance: 1, on: fixture) { login in
            login.inboxAfter = .with { ($0.epoch, $0.offset) = (1, 0) }
            login.subscriptions = (0..<49).map { Self.subscribe(100 + $0, "channel \($0)") }
        }
        _ = client.take()
        // One more may be taken up, one is within the rate, and the third is too much.
        for id in 3...5 as ClosedRange<UInt64> { client.subscribe(id, "channel 0", .message) }
        let codes = client.take().filter { 3...5 ~= $0.requestID }.map(\.error.code)
        #expect(codes.count == 3 && codes.last == .errorOperationRateExceedLimitation)
        #expect(codes.filter { $0 == .errorOperationRateExceedLimitation }.count == 1)
    }

    @Test("a login that is too big to be read ends its connection, and one with two ids alike doesn't")
    func crowds() throws {
        defer { fixture.end() }
        for count in [4_000, 10_000] as [UInt64] {
            let crowd = logIn("anna") { login in
                login.subscriptions = (1...count).map { Self.subscribe($0, "\($0)") }
            }
            let last = try #require(crowd.take().last)
            #expect(
                last.disconnect.code == .disconnectProtocolError
                    || last.disconnect.code == .disconnectFrameTooLarge)
            #expect(!crowd.isOpen)
        }
        #expect(fixture.edge.sessions.isEmpty)
        let alike = logIn("anna") {
            $0.subscriptions = [Self.subscribe(2, "a"), Self.subscribe(3, "b"), Self.subscribe(3, "c")]
        }
        answerJoins()
        #expect(alike.take().map(\.requestID).sorted() == [2, 2, 3, 3] && alike.isOpen)
    }

    @Test("S-51: a token that ends while the inbox is attached leaves no subscription behind")
    func expires() throws {
        var utc: UInt64 = 1_800_000_000_000
        let fixture = EdgeFixture(needsTokens: true, wallClock: { utc })
        defer { fixture.end() }
        fixture.messaging.willReceive = { method in
            if method == MessagingMethod.attach.number { utc += 60_000 }
        }
        let token = try SampleApp.token(for: "anna", endsAt: utc / 1_000 + 30)
        let client = logIn("anna", on: fixture) { login in
            (login.appID, login.token) = (SampleApp.id, token)
            login.subscriptions = [Self.subscribe(100, "lobby", features: 5)]
            login.followedUsers = [.with { ($0.requestID, $0.userID) = (101, "bert") }]
        }
        let bodies = client.bodies()
        #expect(bodies.contains { if case .loggedIn = $0 { true } else { false } })
        #expect(
            bodies.contains { body in
                guard case .disconnect(let reason) = body else { return false }
                return reason.code == .disconnectTokenExpired
            })
        fixture.pass(.seconds(1))
        #expect(fixture.edge.sessions.isEmpty && fixture.edge.subscribing.channelCount == 0)
        #expect(fixture.presence.joins.isEmpty && fixture.storage.snapshots.isEmpty)
    }
}
