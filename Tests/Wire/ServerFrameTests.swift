import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

/// Wire writes by hand, field by field, what edges send. SwiftProtobuf, with which the client library reads
/// it, is the judge of every field.
@Suite("Frames of the server")
struct ServerFrameTests {
    typealias Frame = Rtm_Client_ServerFrame

    private static let rounds = 300

    @Test("Welcome, LoggedIn, LoggedOut and HeartbeatAck follow the schema")
    func session() throws {
        try eachRound { random, id in
            let (version, time) = (UInt32(truncatingIfNeeded: random.number()), random.number())
            let (frameBytesMax, timeout) = (random.number() >> 32, random.number() >> 32)
            let server = random.text(upTo: 30)
            let welcome = Welcome(
                version: version, serverTimeMilliseconds: time, frameBytesMax: Int(frameBytesMax),
                server: server, handshakeTimeout: .milliseconds(Int64(timeout)))
            try check(welcome, id) {
                $0.welcome = .with {
                    $0.version = version
                    $0.serverTimeMs = time
                    $0.frameBytesMax = UInt32(frameBytesMax)
                    $0.server = server
                    $0.handshakeTimeoutMs = UInt32(timeout)
                }
            }
            let (interval, grace) = (UInt32(random.number() >> 32), UInt32(random.number() >> 32))
            let inbox = StreamPosition(epoch: time, offset: random.number())
            let loggedIn = LoggedIn(
                session: SessionID(rawValue: version.asUInt64), serverTimeMilliseconds: time,
                heartbeatIntervalSeconds: interval, heartbeatGraceSeconds: grace,
                inboxPosition: inbox, inboxGap: grace % 2 == 0, subscriptionCount: Int(interval),
                followedUserCount: Int(grace),
                publishRates: PublishRates(
                    targetMessages: Int(grace), sessionMessages: Int(interval), sessionBytes: Int(grace),
                    topicMessages: Int(interval)))
            try check(loggedIn, id) {
                $0.loggedIn = .with {
                    $0.sessionID = version.asUInt64
                    $0.serverTimeMs = time
                    $0.heartbeatIntervalS = interval
                    $0.heartbeatGraceS = grace
                    $0.inboxPosition = .with {
                        $0.epoch = inbox.epoch
                        $0.offset = inbox.offset
                    }
                    $0.inboxGap = grace % 2 == 0
                    $0.subscriptions = interval
                    $0.followedUsers = grace
                    $0.publishRates = .with {
                        ($0.targetMessages, $0.sessionMessages) = (grace, interval)
                        ($0.sessionBytes, $0.topicMessages) = (UInt64(grace), interval)
                    }
                }
            }
            try check(HeartbeatAck(serverTimeMilliseconds: time), id) {
                $0.heartbeatAck = .with { $0.serverTimeMs = time }
            }
            try check(LoggedOut(), id) { $0.loggedOut = .init() }
            try check(Unsubscribed(), id) { $0.unsubscribed = .init() }
        }
    }

    @Test("TokenRenewed and TokenWillExpire follow the schema")
    func tokens() throws {
        try eachRound { random, id in
            let remaining = random.number() >> 32
            try check(TokenWillExpire(remaining: .milliseconds(Int64(remaining))), id) {
                $0.tokenWillExpire = .with { $0.remainingMs = UInt32(remaining) }
            }
            try check(TokenRenewed(), id) { $0.tokenRenewed = .init() }
        }
    }

    @Test("Subscribed, Published and Gap follow the schema")
    func channels() throws {
        try eachRound { random, id in
            let position = StreamPosition(epoch: random.number(), offset: random.number())
            let features = UInt32(random.number() >> 32)
            let gap = random.chance(1, in: 2)
            let subscribed = Subscribed(
                position: position, unavailable: SubscriptionFeatures(rawValue: features), gap: gap)
            try check(subscribed, id) {
                $0.subscribed = .with {
                    $0.position = position.generated
                    $0.featuresUnavailable = features
                    $0.gap = gap
                }
            }
            try check(Published(offset: position.offset, timestampMilliseconds: position.epoch), id) {
                $0.published = .with { ($0.offset, $0.timestampMs) = (position.offset, position.epoch) }
            }
            let type = ChannelType.allCases.randomElement(using: &random) ?? .none
            let name = random.text(upTo: 30)
            try check(Gap(ChannelKey(appID: "", type: type, name: name), position), id) {
                $0.gap = .with {
                    $0.channelType = .init(rawValue: type.rawValue) ?? .none
                    $0.channel = name
                    $0.position = position.generated
                }
            }
        }
    }

    @Test("errors of every code, with and without a limit and a time to wait")
    func errors() throws {
        try eachRound { random, id in
            // Cancelled is what a client alone says.
            let code = ErrorCode.allCases.filter { $0 != .cancelled }.randomElement(using: &random) ?? .ok
            let reason = random.text(upTo: 60)
            let wait = random.chance(1, in: 2) ? random.number() >> 32 : nil
            let limit = random.chance(1, in: 2) ? (random.text(upTo: 20), random.number()) : nil
            let error = RTMError(
                code, reason, operation: "never sent",
                retryAfter: wait.map { .milliseconds(Int64($0)) },
                limit: limit.map { .init(name: $0.0, value: $0.1) })
            try check(error, id) {
                $0.error = .with {
                    $0.code = .init(rawValue: code.rawValue) ?? .errorOk
                    $0.reason = reason
                    $0.retryAfterMs = UInt32(wait ?? 0)
                    if let limit { $0.limit = .with { ($0.name, $0.value) = limit } }
                }
            }
            let decoded = try error.encoded.withUnsafeBytes { try RTMError(scanning: $0) }
            var expected = error
            expected.operation = ""
            if wait == 0 { expected.retryAfter = nil }
            #expect(decoded == expected)
        }
    }

    @Test("publications carry any payload")
    func publications() throws {
        try eachRound { random, id in
            let type = ChannelType.allCases.randomElement(using: &random) ?? .none
            let (channel, publisher, custom) =
                (random.text(upTo: 64), random.text(upTo: 64), random.text(upTo: 32))
            let payload = random.bytes(upTo: random.chance(1, in: 20) ? 40_000 : 100)
            let isText = random.chance(1, in: 2)
            let (offset, time) = (random.number(), random.number())
            try withWireTexts([channel, publisher, custom].map { Array($0.utf8) } + [payload]) { texts in
                let publication = Publication(
                    channelType: type, channel: texts[0], offset: offset, timestampMilliseconds: time,
                    publisher: texts[1],
                    message: MessageView(
                        type: isText ? .text : .binary, payload: texts[3], customType: texts[2]))
                try check(publication, id) {
                    $0.publication = .with {
                        $0.channelType = .init(rawValue: type.rawValue) ?? .none
                        $0.channel = channel
                        $0.offset = offset
                        $0.timestampMs = time
                        $0.publisher = publisher
                        $0.message = .with {
                            $0.type = isText ? .text : .binary
                            $0.payload = .init(payload)
                            $0.customType = custom
                        }
                    }
                }
            }
        }
    }

    @Test("every disconnect carries its code, its reason and when to come back")
    func disconnects() throws {
        try eachRound { random, id in
            let code = Disconnect.Code.allCases.randomElement(using: &random) ?? .internal
            let (reason, wait) = (random.text(upTo: 60), random.number() >> 32)
            try check(Disconnect(code, reason, retryAfter: .milliseconds(Int64(wait))), id) {
                $0.disconnect = .with {
                    $0.code = .init(rawValue: Int(code.rawValue)) ?? .disconnectUnspecified
                    $0.reason = reason
                    $0.retryAfterMs = UInt32(wait)
                }
            }
        }
    }

    @Test("the disconnect codes are the schema's, but for the unspecified one")
    func disconnectCodes() {
        let ours = Set(Disconnect.Code.allCases.map { Int($0.rawValue) })
        let schema = Set(Rtm_Client_DisconnectCode.allCases.map(\.rawValue)).subtracting([0])
        #expect(ours == schema)
        for code in ours { #expect((3000..<4000).contains(code), "the bands of the protocol's document") }
    }

    @Test("the bytes of a publication, as they are committed to")
    func golden() throws {
        let bytes = withWireTexts(["lobby", "anna", "chat", "hi"].map { Array($0.utf8) }) { texts in
            ServerFrame(
                Publication(
                    channelType: .message, channel: texts[0], offset: 300,
                    timestampMilliseconds: 1_700_000_000_000,
                    publisher: texts[1],
                    message: MessageView(type: .text, payload: texts[3], customType: texts[2]))
            ).framed
        }
        let expected: [UInt8] =
            [0, 0, 0, 41]  // length of the frame
            + [0x52, 39]  // field 10, publication
            + [0x08, 1]  // channel type
            + [0x12, 5] + Array("lobby".utf8)
            + [0x18, 0xAC, 0x02]  // offset
            + [0x20, 0x80, 0xD0, 0x95, 0xFF, 0xBC, 0x31]  // timestamp
            + [0x2A, 4] + Array("anna".utf8)
            + [0x32, 12] + [0x08, 1] + [0x12, 2] + Array("hi".utf8) + [0x1A, 4] + Array("chat".utf8)
        #expect(bytes == expected)
    }

    @Test("a duration is rounded up to milliseconds, and never below zero")
    func durations() {
        let samples: [(Duration, UInt64)] = [
            (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(3), 3000), (.seconds(-3), 0), (.nanoseconds(-1), 0),
        ]
        for (duration, milliseconds) in samples { #expect(duration.milliseconds == milliseconds) }
    }

    // MARK: -

    private func eachRound(_ body: (inout SeededGenerator, UInt64) throws -> Void) rethrows {
        var random = SeededGenerator(seed: 1)
        for round in 0..<Self.rounds { try body(&random, round.isMultiple(of: 3) ? 0 : random.number()) }
    }

    private func check(
        _ body: some ServerFrameBody, _ requestID: UInt64, _ fill: (inout Frame) -> Void
    ) throws {
        var expected = Frame.with { $0.requestID = requestID }
        fill(&expected)
        let message = ServerFrame(body, answering: requestID)
        let bytes = message.encoded
        #expect(try Frame(serializedBytes: bytes) == expected)
        #expect(try bytes == expected.serializedBytes(), "fields in another order, or a default written")
        #expect(message.encodedLength == bytes.count)
        #expect(message.framed == frame(bytes))
    }
}

extension UInt32 {
    fileprivate var asUInt64: UInt64 { UInt64(self) }
}

extension StreamPosition {
    var generated: Rtm_Client_StreamPosition {
        .with { ($0.epoch, $0.offset) = (epoch, offset) }
    }
}
