import NIOCore
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMWire

/// Bytes from anybody: a decoder answers with a message or with a `WireError`, and nothing else happens.
@Suite("Hostile bytes")
struct FuzzTests {
    private static let rounds = 12_500

    @Test("random bytes, in four series of 12,500", arguments: 1...4 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let decoders = Decoders()
        for _ in 0..<Self.rounds { decoders.tryAll(random.bytes(upTo: 60)) }
        #expect(decoders.errors > Self.rounds)
    }

    @Test("damaged messages of every kind, in four series of 12,500", arguments: 1...4 as ClosedRange<UInt64>)
    func damaged(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let decoders = Decoders()
        let samples = try Self.samples()
        for _ in 0..<Self.rounds {
            var bytes = samples.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) { random.damage(&bytes) }
            decoders.tryAll(bytes)
        }
        #expect(decoders.errors > 1000)
        #expect(decoders.messages > 1000)
    }

    @Test("damaged streams of frames: frames come out, or the stream is refused")
    func damagedStreams() throws {
        var random = SeededGenerator(seed: 3)
        let samples = try Self.samples()
        var refusals = 0
        for _ in 0..<5000 {
            var stream = (0..<3).flatMap { _ in frame(samples.randomElement(using: &random) ?? []) }
            random.damage(&stream)
            var reader = FrameReader(frameBytesMax: 4096)
            do {
                try reader.read(ByteBuffer(bytes: stream)) { frame in
                    #expect(frame.count <= 4096)
                    return true
                }
            } catch { refusals += 1 }
        }
        #expect(refusals > 100)
    }

    private static func samples() throws -> [[UInt8]] {
        try SchemaMessage.all.flatMap { message in
            try (0..<12 as Range<UInt64>).map { seed in
                var sample = SchemaSample(
                    generator: SeededGenerator(seed: seed), filling: .full(choice: Int(seed)))
                let descriptor = try message.descriptor()
                let bytes = sample.bytes(descriptor)
                return seed < 10 ? bytes : bytes.addingUnknownFields(descriptor)
            }
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func damage(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &self)
        let byte = UInt8.random(in: 0...255, using: &self)
        switch Int.random(in: 0..<6, using: &self) {
        case 0: bytes.removeLast(bytes.count - place)
        case 1: bytes.insert(byte, at: place)
        case 2: bytes.insert(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF], at: place)
        case 3 where place < bytes.count: bytes[place] = byte
        case 4 where place < bytes.count: bytes[place] ^= 1 << (byte & 7)
        case 5 where place < bytes.count: bytes.remove(at: place)
        default: bytes += bytes[..<place]
        }
    }
}

/// Every decoder, over one arena as on an event loop.
private final class Decoders {
    private let arena = DecodeArena(capacity: 512)
    private(set) var errors = 0
    private(set) var messages = 0

    func tryAll(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            attempt { () throws(WireError) in try ClientRequest(bytes, in: arena).touch() }
            attempt { () throws(WireError) in _ = try LinkEnvelope(decoding: bytes) }
            attempt { () throws(WireError) in _ = try RTMError(decoding: bytes) }
            attempt { () throws(WireError) in _ = try AttachRequest(bytes, in: arena) }
            attempt { () throws(WireError) in _ = try AttachResponse(bytes, in: arena) }
            attempt { () throws(WireError) in _ = try DetachPush(bytes, in: arena) }
            attempt { () throws(WireError) in _ = try SupersededPush(bytes, in: arena) }
            attempt { () throws(WireError) in
                for message in try PublishRequest(scanning: bytes).messages { message.touch() }
            }
            attempt { () throws(WireError) in _ = try PublishResponse(scanning: bytes) }
            attempt { () throws(WireError) in _ = try ReadRequest(bytes, in: arena) }
            attempt { () throws(WireError) in try ReadResponse(bytes, in: arena).frames.touch() }
            attempt { () throws(WireError) in try DeliveryPush(scanning: bytes).frames.touch() }
        }
    }

    private func attempt(_ decode: () throws(WireError) -> Void) {
        do throws(WireError) {
            try decode()
            messages += 1
        } catch {
            errors += 1
        }
    }
}

// Views into memory that isn't there would only be noticed when somebody reads them.

extension WireText {
    fileprivate func touch() { _ = bytes.reduce(0) { $0 &+ Int($1) } }
}

extension MessageView {
    fileprivate func touch() {
        payload.touch()
        customType.touch()
    }
}

extension ClientRequest {
    fileprivate func touch() {
        switch body {
        case .hello(let hello): hello.client.touch()
        case .login(let login): for text in [login.appID, login.userID, login.token] { text.touch() }
        case .subscribe(let subscribe): subscribe.channel.touch()
        case .unsubscribe(let channel): channel.touch()
        case .renewToken(let token): token.touch()
        case .publish(let publish):
            publish.channel.touch()
            publish.message.touch()
        case .call(let call):
            call.request.touch()
            call.target.touch()
        case .subscribeUserMetadata(let subscribe): subscribe.userID.touch()
        case .unsubscribeUserMetadata(let userID): userID.touch()
        case .logout, .heartbeat, .unknown: break
        }
    }
}
