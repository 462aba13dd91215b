import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// What the pages of the protocol say of odd frames and rare moments, against a real edge loop
/// and a real messaging node.
@Suite("What the protocol's document promises")
struct ProtocolPromiseTests {
    private typealias Body = Rtm_Client_ClientFrame.OneOf_Body

    private let fixture = EdgeFixture()

    private static func subscribe(
        _ features: UInt32 = 4, after: (epoch: UInt64, offset: UInt64)? = nil
    ) -> Body {
        .subscribe(
            .with {
                ($0.channel, $0.features) = ("lobby", features)
                if let after { $0.after = .with { ($0.epoch, $0.offset) = after } }
            })
    }

    private func subscribed(
        _ client: EdgeClient, _ id: UInt64, _ body: Body
    ) throws -> Rtm_Client_Subscribed {
        client.send(id, body)
        fixture.presence.answerJoin()
        fixture.pass()
        let answer = try #require(client.take().first { $0.requestID == id })
        guard case .subscribed(let subscribed) = answer.body else {
            throw RTMError(.invalidParameter, "\(answer)")
        }
        return subscribed
    }

    private func code(_ client: EdgeClient, _ id: UInt64, _ body: Body) throws -> Rtm_Client_ErrorCode? {
        client.send(id, body)
        let answer = try #require(client.take().first { $0.requestID == id })
        if case .error(let error) = answer.body { return error.code }
        return nil
    }

    // MARK: Frames

    @Test("frames: a known field with another wire type ends the connection, an unknown one is skipped")
    func wireTypes() throws {
        defer { fixture.end() }
        let frames: [[UInt8]] = [
            // Subscribe, Publish, Heartbeat and WhoNow as numbers; a request id as bytes.
            [0x08, 7, 0x30, 1], [0x08, 7, 0x40, 1], [0x08, 7, 0x28, 1], [0x08, 7, 0xA0, 0x01, 1],
            [0x0A, 1, 7, 0x2A, 0],
        ]
        for frame in frames {
            let client = fixture.client("anna")
            client.send(frame: frame)
            let last = try #require(client.take().last)
            #expect(last.disconnect.code == .disconnectProtocolError, "\(frame)")
        }
        let client = fixture.client("anna")
        // Field 200 of the frame in each wire type, beside a heartbeat.
        let unknown: [UInt8] = [0xC0, 0x0C, 1, 0xC2, 0x0C, 1, 9, 0xC5, 0x0C, 1, 2, 3, 4]
        client.send(frame: [0x08, 7] + unknown + [0x2A, 0])
        #expect(client.take().first?.heartbeatAck != nil)
        #expect(client.isOpen)
    }

    @Test("frames: the last of several bodies counts, and one answer comes")
    func severalBodies() throws {
        defer { fixture.end() }
        let client = fixture.client("anna")
        let publish: [UInt8] = try Rtm_Client_ClientFrame.with {
            $0.publish = .with { ($0.channelType, $0.channel) = (.message, "lobby") }
        }.serializedBytes()
        let heartbeat: [UInt8] = [0x2A, 0]
        client.send(frame: [0x08, 7] + publish + heartbeat)
        client.send(frame: [0x08, 8] + heartbeat + publish)
        let answers = client.take()
        #expect(answers.map(\.requestID) == [7, 8])
        #expect(answers.first?.body.map { if case .heartbeatAck = $0 { true } else { false } } == true)
        #expect(answers.last?.published.offset == 1)
    }

    @Test("frames: a text that isn't UTF-8 is refused like any other bad value of its field")
    func malformedText() throws {
        defer { fixture.end() }
        let cases: [(body: [UInt8], code: Rtm_Client_ErrorCode)] = [
            // Subscribe, Unsubscribe and Publish with the channel C3 28, then a custom type.
            ([0x32, 4, 0x0A, 2, 0xC3, 0x28], .errorInvalidChannelName),
            ([0x3A, 4, 0x0A, 2, 0xC3, 0x28], .errorInvalidChannelName),
            ([0x42, 6, 0x08, 1, 0x12, 2, 0xC3, 0x28], .errorInvalidChannelName),
            ([0x42, 6, 0x08, 3, 0x12, 2, 0xC3, 0x28], .errorInvalidUserID),
            ([0x42, 9, 0x08, 1, 0x12, 1, 0x61, 0x2A, 2, 0xC3, 0x28], .errorChannelInvalidCustomType),
            // RenewToken.
            ([0x82, 0x01, 4, 0x0A, 2, 0xC3, 0x28], .errorInvalidToken),
        ]
        let client = fixture.client("anna")
        for (number, (body, code)) in cases.enumerated() {
            client.send(frame: [0x08, UInt8(number + 7)] + body)
            let answer = try #require(client.take().first)
            #expect(answer.requestID == UInt64(number + 7) && answer.error.code == code, "\(body)")
        }
        #expect(client.isOpen)
    }

    // MARK: Return

    @Test("return: a client that comes back is let in when the other has logged out, and not before")
    func returnAfterLogout() throws {
        defer { fixture.end() }
        for isLoggedOut in [true, false] {
            let old = fixture.client("anna", instance: 1)
            old.vanish()
            let other = fixture.client("anna", instance: 2)
            if isLoggedOut { other.send(3, .logout(.init())) } else { other.vanish() }
            let back = EdgeClient(fixture)
            back.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
            back.send(
                2,
                .login(
                    .with {
                        ($0.appID, $0.userID, $0.instance) = ("app", "anna", 1)
                        $0.inboxAfter = .with { ($0.epoch, $0.offset) = (1, 0) }
                    }))
            let last = try #require(back.take().last)
            if isLoggedOut {
                #expect(last.loggedIn.sessionID != 0)
                back.vanish()
            } else {
                #expect(last.disconnect.code == .disconnectSuperseded)
            }
        }
    }

    // MARK: Requests

    @Test("requests: ids are not compared, so two requests with one id get two answers")
    func sameIDs() throws {
        defer { fixture.end() }
        let client = fixture.client("anna")
        client.send(7, Self.subscribe())
        client.send(7, .heartbeat(.init()))
        fixture.presence.answerJoin()
        fixture.pass()
        #expect(client.take().map(\.requestID) == [7, 7])
    }

    // MARK: Channels

    @Test("channels, M-5, M-8: subscribing again replaces the features, and `after` is ignored")
    func subscribingAgain() throws {
        defer { fixture.end() }
        let (anna, bert) = (fixture.client("anna"), fixture.client("bert"))
        let first = try subscribed(anna, 7, Self.subscribe(4))
        let publish = Body.publish(.with { ($0.channelType, $0.channel) = (.message, "lobby") })
        bert.send(7, publish)
        _ = anna.take()
        anna.send(8, Self.subscribe(16, after: (first.position.epoch, 0)))
        #expect(try code(anna, 9, Self.subscribe(4)) == .errorDuplicateOperation)
        fixture.presence.answerJoin()
        fixture.pass()
        let frames = anna.take()
        let again = try #require(frames.first { $0.requestID == 8 }).subscribed
        #expect(again.position.offset == 1 && !again.gap)
        #expect(frames.count == 1, "nothing comes twice: \(frames)")
        bert.send(8, publish)
        #expect(anna.take().isEmpty, "messages aren't selected any more")
    }

    @Test(
        "once: a publish above the rate comes again with a new sequence, and with its old one too late")
    func sequenceAfterRate() throws {
        let fixture = EdgeFixture(
            rates: ApplicationRates(publish: 1, calls: 0, subscribesMax: 0, login: 0, subscriptionsMax: 0))
        defer { fixture.end() }
        let client = fixture.client("anna", instance: 1)
        func publish(_ sequence: UInt64) throws -> Rtm_Client_ErrorCode? {
            client.send(
                sequence + 10,
                .publish(
                    .with { ($0.channelType, $0.channel, $0.sequence) = (.message, "lobby", sequence) }))
            let answer = try #require(client.take().first)
            if case .error(let error) = answer.body { return error.code }
            return nil
        }
        #expect(try publish(1) == nil)
        #expect(try publish(2) == .errorChannelPublishMessageTooFrequent)
        fixture.pass(.seconds(1))
        #expect(try publish(3) == nil)
        fixture.pass(.seconds(1))
        #expect(try publish(2) == .errorChannelPublishMessageFailed)
        fixture.pass(.seconds(1))
        #expect(try publish(4) == nil)
    }

    // MARK: Positions

    @Test("positions: a position in the future is a gap, in a channel and in the inbox")
    func future() throws {
        defer { fixture.end() }
        let client = fixture.client("anna")
        let first = try subscribed(client, 7, Self.subscribe())
        client.send(8, .unsubscribe(.with { $0.channel = "lobby" }))
        _ = client.take()
        let answer = try subscribed(client, 9, Self.subscribe(after: (first.position.epoch, 99)))
        #expect(answer.gap && answer.position == first.position)
        let other = EdgeClient(fixture)
        other.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
        other.send(
            2,
            .login(
                .with {
                    ($0.appID, $0.userID) = ("app", "bert")
                    $0.inboxAfter = .with { ($0.epoch, $0.offset) = (1, 99) }
                }))
        #expect(try #require(other.take().last).loggedIn.inboxGap)
    }
}
