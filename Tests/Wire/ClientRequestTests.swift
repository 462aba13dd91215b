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
            ]
        case .renewToken(let token): ["renewToken", token.string]
        case .logout: ["logout"]
        case .heartbeat: ["heartbeat"]
        case .subscribe(let subscribe):
            [
                "subscribe", subscribe.channel.string, "\(subscribe.features.rawValue)",
                subscribe.after.map { "\($0.epoch) \($0.offset)" } ?? "from now",
            ]
        case .unsubscribe(let channel): ["unsubscribe", channel.string]
        case .publish(let publish):
            [
                "publish", publish.channelType.map { "\($0.rawValue)" } ?? "no type",
                publish.channel.string, publish.message.type.map { "\($0.rawValue)" } ?? "no type",
                "\(publish.message.payload.copied)", publish.message.customType.string,
                "\(publish.storeInHistory)", "\(publish.sequence)",
                publish.againAfter.map { "again after \($0)" } ?? "first",
            ]
        case .unknown: ["unknown"]
        }
    }

    private static func fields(_ body: Rtm_Client_ClientFrame.OneOf_Body?) -> [String] {
        switch body {
        case .hello(let hello):
            ["hello", "\(hello.versionMin)", "\(hello.versionMax)", hello.client]
        case .login(let login):
            [
                "login", login.appID, login.userID, login.token, "\(login.heartbeatIntervalS)",
                "\(login.presenceTimeoutS)", "\(login.instance)",
            ]
        case .renewToken(let renewToken): ["renewToken", renewToken.token]
        case .logout: ["logout"]
        case .heartbeat: ["heartbeat"]
        case .subscribe(let subscribe):
            [
                "subscribe", subscribe.channel, "\(subscribe.features)",
                subscribe.hasAfter ? "\(subscribe.after.epoch) \(subscribe.after.offset)" : "from now",
            ]
        case .unsubscribe(let unsubscribe): ["unsubscribe", unsubscribe.channel]
        case .publish(let publish):
            [
                "publish", publish.channelType.isOurs ? "\(publish.channelType.rawValue)" : "no type",
                publish.channel, publish.messageType.isOurs ? "\(publish.messageType.rawValue)" : "no type",
                "\(Array(publish.payload))", publish.customType, "\(publish.storeInHistory)",
                "\(publish.sequence)", publish.again ? "again after \(publish.ageMs)" : "first",
            ]
        default: ["unknown"]
        }
    }
}

extension CaseIterable where Self: Equatable {
    /// One of the schema's constants, not a number of a newer one.
    fileprivate var isOurs: Bool { Self.allCases.contains(self) }
}
