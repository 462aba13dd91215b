import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMWire

/// The edge's decoder against the codec that the client library writes with.
@Suite("Requests of a client")
struct ClientRequestTests {
    @Test("every request that SwiftProtobuf writes is read field by field")
    func fields() throws {
        let arena = DecodeArena(capacity: 4096)
        let row = try #require(SchemaMessage.all.first { $0.swift == Rtm_Client_ClientFrame.self })
        for seed in 0..<3000 as Range<UInt64> {
            let generator = SeededGenerator(seed: seed)
            var sample = SchemaSample(
                generator: generator, filling: seed < 100 ? .full(choice: Int(seed)) : .random)
            let frame = try Rtm_Client_ClientFrame(serializedBytes: sample.bytes(row.descriptor()))
            let bytes: [UInt8] = try frame.serializedBytes()
            try bytes.withUnsafeBytes {
                let request = try ClientRequest($0, in: arena)
                #expect(request.id == frame.requestID)
                #expect(Self.fields(request.body) == Self.fields(frame.body), "seed \(seed)")
            }
        }
    }

    @Test("a request is copied in place, which the compiler does for values of up to 128 bytes")
    func isSmall() { #expect(MemoryLayout<ClientRequest>.size <= 128) }

    @Test("a request of a newer protocol is known as such")
    func newerRequest() throws {
        var writer = FieldWriter()
        writer.field(1, 77)
        writer.field(900, Array("a new request".utf8))
        let arena = DecodeArena()
        try writer.bytes.withUnsafeBytes {
            let request = try ClientRequest($0, in: arena)
            #expect(request.id == 77)
            #expect(Self.fields(request.body) == ["unknown"])
        }
    }

    @Test("of two bodies in one frame the last one counts")
    func twoBodies() throws {
        let first = Rtm_Client_ClientFrame.with { $0.unsubscribe.channel = "a" }
        let second = Rtm_Client_ClientFrame.with { $0.logout = .init() }
        let bytes: [UInt8] = try first.serializedBytes() + second.serializedBytes()
        let arena = DecodeArena()
        try bytes.withUnsafeBytes {
            let request = try ClientRequest($0, in: arena)
            #expect(Self.fields(request.body) == ["logout"])
        }
    }

    @Test("a call is passed on as it came, with the key of its field; what is newer beside it is skipped")
    func call() throws {
        let body: [UInt8] = [0x08, 1, 0x12, 5] + Array("lobby".utf8) + [0x1A, 1, 0x61]
        let field: [UInt8] = [0xD2, 2, UInt8(body.count)] + body
        let arena = DecodeArena()
        // These are a number and a text in fields that this version doesn't know.
        let newer: [UInt8] = [0xA0, 0x06, 5, 0xAA, 0x06, 1, 0]
        for frame in [
            [0x08, 7] + field, field + [0x08, 7], newer + [0x08, 7] + field, [0x08, 7] + field + newer,
        ] {
            try frame.withUnsafeBytes {
                let request = try ClientRequest($0, in: arena)
                guard case .call(let call) = request.body else {
                    Issue.record("no call")
                    return
                }
                #expect(request.id == 7 && call.kind == .acquireLock && call.channelType == .message)
                #expect(call.target.string == "lobby" && call.request.copied == field)
            }
        }
        // If there are two bodies, neither is passed on.
        try ([0x08, 7] + field + [0x22, 0]).withUnsafeBytes {
            let request = try ClientRequest($0, in: arena)
            #expect(Self.fields(request.body) == ["logout"])
        }
        let withNul = [0x08, 7] + field.map { $0 == 0x61 ? 0 : $0 }
        withNul.withUnsafeBytes { bytes in
            _ = #expect(throws: WireError.textWithNul) { _ = try ClientRequest(bytes, in: arena) }
        }
    }

    @Test(
        "what is not a request is refused",
        arguments: [
            [0x0A], [0x12, 5, 1], [0x08], [0x0B], [0x42, 2, 0x22, 9], [0x10, 1], [0x0C], [0xFF, 0xFF],
        ]
            as [[UInt8]])
    func refused(_ bytes: [UInt8]) {
        let arena = DecodeArena()
        _ = bytes.withUnsafeBytes { bytes in
            #expect(throws: WireError.undecodable) { _ = try ClientRequest(bytes, in: arena) }
        }
    }

    @Test("a frame without a byte is a request without an id")
    func empty() throws {
        let arena = DecodeArena()
        let request = try ClientRequest(UnsafeRawBufferPointer(start: nil, count: 0), in: arena)
        #expect(request.id == 0)
        #expect(Self.fields(request.body) == ["unknown"])
    }

    // MARK: - Both as texts, so that a difference shows the field

    private static func fields(_ body: ClientRequest.Body) -> [String] {
        switch body {
        case .hello(let hello):
            ["hello", "\(hello.versionMin)", "\(hello.versionMax)", hello.client.string]
        case .login(let login):
            [
                "login", login.appID.string, login.userID.string, login.token.string,
                "\(login.heartbeatIntervalSeconds)", "\(login.presenceTimeoutSeconds)", "\(login.instance)",
                "\(login.attempt) \(login.isAsked)",
            ] + login.subscriptions.flatMap { fields(.subscribe($0)) }
                + login.followedUsers.flatMap { fields(.subscribeUserMetadata($0)) }
        case .renewToken(let renewal): ["renewToken", renewal.token.string, renewal.channel.string]
        case .logout: ["logout"]
        case .heartbeat: ["heartbeat"]
        case .subscribe(let subscribe):
            [
                "subscribe", subscribe.channel.string, "\(subscribe.features.rawValue)",
                subscribe.after.map { "\($0.epoch) \($0.offset)" } ?? "from now", "\(subscribe.requestID)",
                subscribe.channelType.map { "\($0.rawValue)" } ?? "no type", subscribe.token.string,
            ] + subscribe.publishers.map(\.string)
        case .unsubscribe(let unsubscribe):
            [
                "unsubscribe", unsubscribe.channelType.map { "\($0.rawValue)" } ?? "no type",
                unsubscribe.channel.string,
            ]
        case .publish(let publish):
            [
                "publish", publish.channelType.map { "\($0.rawValue)" } ?? "no type",
                publish.channel.string, publish.message.type.map { "\($0.rawValue)" } ?? "no type",
                "\(publish.message.payload.copied)", publish.message.customType.string,
                "\(publish.storeInHistory)", "\(publish.origin) \(publish.sequence)",
                publish.againAfter.map { "again after \($0) \(publish.epoch)" } ?? "first \(publish.epoch)",
            ]
        case .call(let call):
            [
                "call", "\(call.kind.rawValue)", call.channelType.map { "\($0.rawValue)" } ?? "no type",
                call.target.string, "\(call.request.bytes.count)",
            ]
        case .subscribeUserMetadata(let subscribe):
            [
                "subscribe user", subscribe.userID.string,
                subscribe.after.map { "\($0.epoch) \($0.offset)" } ?? "from now", "\(subscribe.requestID)",
            ]
        case .unsubscribeUserMetadata(let userID): ["unsubscribe user", userID.string]
        case .unknown: ["unknown"]
        }
    }

    /// What an edge looks at of a call, and the length of its field with key and length.
    private static func call(
        _ kind: UInt32, _ type: Rtm_Client_ChannelType, _ target: String, _ body: some Message
    ) -> [String] {
        let bytes: [UInt8] = (try? body.serializedBytes()) ?? []
        let length = bytes.count < 128 ? 1 : bytes.count < 16_384 ? 2 : 3
        return [
            "call", "\(kind)", type.isOurs ? "\(type.rawValue)" : "no type", target,
            "\(2 + length + bytes.count)",
        ]
    }

    /// Whoever names no type means a message channel.
    private static func subscribed(_ type: Rtm_Client_ChannelType) -> String {
        type.isOurs ? "\(type == .none ? 1 : type.rawValue)" : "no type"
    }

    private static func fields(_ body: Rtm_Client_ClientFrame.OneOf_Body?) -> [String] {
        switch body {
        case .hello(let hello):
            ["hello", "\(hello.versionMin)", "\(hello.versionMax)", hello.client]
        case .login(let login):
            [
                "login", login.appID, login.userID, login.token, "\(login.heartbeatIntervalS)",
                "\(login.presenceTimeoutS)", "\(login.instance)", "\(login.attempt) \(login.asked)",
            ] + login.subscriptions.flatMap { fields(.subscribe($0)) }
                + login.followedUsers.flatMap { fields(.subscribeUserMetadata($0)) }
        case .renewToken(let renewal): ["renewToken", renewal.token, renewal.channel]
        case .logout: ["logout"]
        case .heartbeat: ["heartbeat"]
        case .subscribe(let subscribe):
            [
                "subscribe", subscribe.channel, "\(subscribe.features)",
                subscribe.hasAfter ? "\(subscribe.after.epoch) \(subscribe.after.offset)" : "from now",
                "\(subscribe.requestID)", subscribed(subscribe.channelType), subscribe.token,
            ] + subscribe.publishers
        case .unsubscribe(let unsubscribe):
            ["unsubscribe", subscribed(unsubscribe.channelType), unsubscribe.channel]
        case .publish(let publish):
            [
                "publish", publish.channelType.isOurs ? "\(publish.channelType.rawValue)" : "no type",
                publish.channel, publish.messageType.isOurs ? "\(publish.messageType.rawValue)" : "no type",
                "\(Array(publish.payload))", publish.customType, "\(publish.storeInHistory)",
                "\(publish.origin) \(publish.sequence)",
                publish.again ? "again after \(publish.ageMs) \(publish.epoch)" : "first \(publish.epoch)",
            ]
        case .whereNow(let call): Self.call(21, .none, call.userID, call)
        case .whoNow(let call): Self.call(20, call.channelType, call.channel, call)
        case .setState(let call): Self.call(22, call.channelType, call.channel, call)
        case .getState(let call): Self.call(23, call.channelType, call.channel, call)
        case .removeState(let call): Self.call(24, call.channelType, call.channel, call)
        case .writeMetadata(let call): Self.call(30, call.channelType, call.target, call)
        case .getMetadata(let call): Self.call(31, call.channelType, call.target, call)
        case .setLock(let call): Self.call(40, call.channelType, call.channel, call)
        case .removeLock(let call): Self.call(41, call.channelType, call.channel, call)
        case .acquireLock(let call): Self.call(42, call.channelType, call.channel, call)
        case .releaseLock(let call): Self.call(43, call.channelType, call.channel, call)
        case .revokeLock(let call): Self.call(44, call.channelType, call.channel, call)
        case .getLocks(let call): Self.call(45, call.channelType, call.channel, call)
        case .getHistory(let call): Self.call(50, call.channelType, call.channel, call)
        case .subscribeUserMetadata(let subscribe):
            [
                "subscribe user", subscribe.userID,
                subscribe.hasAfter ? "\(subscribe.after.epoch) \(subscribe.after.offset)" : "from now",
                "\(subscribe.requestID)",
            ]
        case .unsubscribeUserMetadata(let unsubscribe): ["unsubscribe user", unsubscribe.userID]
        default: ["unknown"]
        }
    }
}

extension CaseIterable where Self: Equatable {
    /// The number is one of the schema's constants, and not one of a newer schema.
    fileprivate var isOurs: Bool { Self.allCases.contains(self) }
}
