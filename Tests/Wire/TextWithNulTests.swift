import Foundation
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMWire

/// A name with a NUL would end at the NUL in the C codec, which is another name than was sent.
@Suite("Texts with a NUL")
struct TextWithNulTests {
    private typealias Frame = Rtm_Client_ClientFrame

    @Test("a NUL in any text of a request is refused, wherever in the text it is")
    func refused() throws {
        for text in ["\0", "\0a", "a\0", "a\0b", "ä\0"] {
            let frames: [Frame] = [
                .with { $0.hello.client = text },
                .with { $0.login.appID = text },
                .with { $0.login.userID = text },
                .with { $0.login.token = text },
                .with { $0.subscribe.channel = text },
                .with { $0.unsubscribe.channel = text },
                .with { $0.publish.channel = text },
                .with { $0.publish.customType = text },
            ]
            for frame in frames { #expect(try !Self.isAccepted(frame.serializedBytes()), "\(frame)") }
        }
    }

    @Test("zero bytes elsewhere are no reason to refuse")
    func accepted() throws {
        let frames: [Frame] = [
            .with { $0.publish = .with { ($0.channel, $0.payload) = ("a", Data([0, 1, 0])) } },
            .with { $0.subscribe = .with { ($0.channel, $0.after.offset) = ("a", 1 << 56) } },
        ]
        for frame in frames { #expect(try Self.isAccepted(frame.serializedBytes())) }
        var zeros = FieldWriter()
        zeros.field(1, 0)
        zeros.field(1000, [0, 0])
        zeros.key(1001, 1)
        zeros.bytes += [0, 0, 0, 0, 0, 0, 0, 0]
        #expect(Self.isAccepted(zeros.bytes))
    }

    @Test("a NUL in a text that a later field replaces is refused too")
    func replaced() throws {
        let first = Frame.with { $0.unsubscribe.channel = "a\0" }
        let second = Frame.with { $0.unsubscribe.channel = "b" }
        #expect(try !Self.isAccepted(first.serializedBytes() + second.serializedBytes()))
    }

    /// protobuf-c reads keys more generously than protobuf allows. What it skips must not end the search for
    /// a NUL.
    @Test(
        "a NUL behind a key that only the C codec understands is refused",
        arguments: [
            [0x00, 0x00],  // field number 0
            [0x80, 0x00, 0x00],  // field number 0, as a longer varint
            [0x02, 0x01, 0x00],  // field number 0 with a length
            [0xF8, 0xFF, 0xFF, 0xFF, 0x7F, 0x00],  // a number beyond 29 bits
        ] as [[UInt8]])
    func oddKeys(_ odd: [UInt8]) throws {
        let bytes: [UInt8] = try Frame.with { $0.unsubscribe.channel = "a\0b" }.serializedBytes()
        #expect(!Self.isAccepted(odd + bytes))
        var nested = FieldWriter()
        nested.field(7, try odd + Rtm_Client_Unsubscribe.with { $0.channel = "a\0b" }.serializedBytes())
        #expect(!Self.isAccepted(nested.bytes))
    }

    @Test("random requests with a NUL somewhere: what is accepted has the texts that were sent")
    func random() throws {
        let row = try #require(SchemaMessage.all.first { $0.swift == Frame.self })
        var accepted = 0
        for seed in 0..<2000 as Range<UInt64> {
            var sample = SchemaSample(
                generator: SeededGenerator(seed: seed), filling: .full(choice: Int(seed)))
            var bytes = try sample.bytes(row.descriptor())
            let index = Int.random(in: 0..<bytes.count, using: &sample.generator)
            bytes[index] = 0
            guard Self.isAccepted(bytes), let frame = try? Frame(serializedBytes: bytes) else { continue }
            accepted += 1
            #expect(!Self.texts(of: frame).contains { $0.utf8.contains(0) }, "seed \(seed)")
        }
        #expect(accepted > 100)
    }

    private static func isAccepted(_ bytes: [UInt8]) -> Bool {
        let arena = DecodeArena(capacity: 4096)
        return bytes.withUnsafeBytes { (try? ClientRequest($0, in: arena)) != nil }
    }

    private static func texts(of frame: Frame) -> [String] {
        switch frame.body {
        case .hello(let hello): [hello.client]
        case .login(let login): [login.appID, login.userID, login.token]
        case .subscribe(let subscribe): [subscribe.channel, subscribe.token] + subscribe.publishers
        case .unsubscribe(let unsubscribe): [unsubscribe.channel]
        case .publish(let publish): [publish.channel, publish.customType]
        default: []
        }
    }
}
