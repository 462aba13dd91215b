import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

/// The content of a decoded envelope, as copies instead of views.
private enum Decoded: Equatable {
    case hello(ServiceLinkHello)
    case challenge(ServiceLinkChallenge)
    case proof(ServiceLinkProof)
    case welcome(ServiceLinkWelcome)
    case request(UInt64, UInt32, UInt32, [UInt8])
    case response(UInt64, [UInt8])
    case failure(UInt64, RTMError)
    case push(UInt32, [UInt8])
    case trace(ServiceLinkTrace)
    case heartbeat, heartbeatAck, unknown
    case goAway(ServiceLinkGoAway)

    init(_ frame: [UInt8]) throws {
        self = try frame.withUnsafeBytes { bytes in
            switch try ServiceLinkEnvelope(decoding: bytes) {
            case .hello(let hello): .hello(hello)
            case .challenge(let challenge): .challenge(challenge)
            case .proof(let proof): .proof(proof)
            case .welcome(let welcome): .welcome(welcome)
            case .request(let id, let method, let timeout, let body):
                .request(id, method, timeout, Array(body))
            case .response(let id, let body): .response(id, Array(body))
            case .failure(let id, let error): .failure(id, error)
            case .push(let method, let body): .push(method, Array(body))
            case .trace(let trace): .trace(trace)
            case .heartbeat: .heartbeat
            case .heartbeatAck: .heartbeatAck
            case .unknown: .unknown
            case .goAway(let goAway): .goAway(goAway)
            }
        }
    }
}

@Suite struct ServiceLinkEnvelopeTests {
    private let body = Bytes("payload")
    private let error = RTMError(
        .storageOutdatedRevision, "too old", retryAfter: .milliseconds(1500),
        limit: .init(name: "revisions", value: 7))

    private func generated(_ body: Rtm_Service_ServiceLinkFrame.OneOf_Body) throws -> [UInt8] {
        var frame = Rtm_Service_ServiceLinkFrame()
        frame.body = body
        return [UInt8](try frame.serializedData())
    }

    private var samples: [(Rtm_Service_ServiceLinkFrame.OneOf_Body, Decoded, (inout ByteBuffer) -> Void)] {
        [
            (
                .hello(
                    .with {
                        $0.version = 1
                        $0.service = "messaging"
                        $0.node = "edge-ü"
                        $0.nonce = Data([1, 2])
                    }),
                .hello(ServiceLinkHello(version: 1, service: "messaging", node: "edge-ü", nonce: [1, 2])),
                {
                    let hello = ServiceLinkHello(
                        version: 1, service: "messaging", node: "edge-ü", nonce: [1, 2])
                    ServiceLinkFrame.write(hello, into: &$0)
                }
            ),
            (
                .challenge(.with { $0.nonce = Data([3, 4]) }),
                .challenge(ServiceLinkChallenge(nonce: [3, 4])),
                { ServiceLinkFrame.write(ServiceLinkChallenge(nonce: [3, 4]), into: &$0) }
            ),
            (
                .proof(.with { $0.proof = Data([5, 6]) }),
                .proof(ServiceLinkProof(proof: [5, 6])),
                { ServiceLinkFrame.write(ServiceLinkProof(proof: [5, 6]), into: &$0) }
            ),
            (
                .welcome(
                    .with {
                        $0.version = 1
                        $0.service = "x"
                        $0.incarnation = .max
                        $0.proof = Data([7])
                    }),
                .welcome(ServiceLinkWelcome(version: 1, service: "x", incarnation: .max, proof: [7])),
                {
                    ServiceLinkFrame.write(
                        ServiceLinkWelcome(version: 1, service: "x", incarnation: .max, proof: [7]), into: &$0
                    )
                }
            ),
            (
                .request(
                    .with {
                        $0.id = 1 << 40
                        $0.method = 3
                        $0.timeoutMs = .max
                        $0.body = Data(body.bytes)
                    }),
                .request(1 << 40, 3, .max, body.bytes),
                {
                    ServiceLinkFrame.writeRequest(
                        id: 1 << 40, method: 3, timeoutMilliseconds: .max, body: body, bodyLength: 7,
                        into: &$0)
                }
            ),
            (
                .response(
                    .with {
                        $0.id = 9
                        $0.body = Data(body.bytes)
                    }),
                .response(9, body.bytes),
                { ServiceLinkFrame.writeResponse(id: 9, body: body, bodyLength: 7, into: &$0) }
            ),
            (
                .response(
                    .with {
                        $0.id = 9
                        $0.error = .with {
                            $0.code = .errorStorageOutdatedRevision
                            $0.reason = "too old"
                            $0.retryAfterMs = 1500
                            $0.limit = .with {
                                $0.name = "revisions"
                                $0.value = 7
                            }
                        }
                    }),
                .failure(9, error),
                { ServiceLinkFrame.writeFailure(id: 9, error: error, into: &$0) }
            ),
            (
                .push(
                    .with {
                        $0.method = 5
                        $0.body = Data(body.bytes)
                    }),
                .push(5, body.bytes),
                { ServiceLinkFrame.writePush(method: 5, body: body, bodyLength: 7, into: &$0) }
            ),
            (
                .push(.init()), .push(0, []),
                {
                    ServiceLinkFrame.writePush(method: 0, body: Bytes([]), bodyLength: 0, into: &$0)
                }
            ),
            (
                .trace(
                    .with {
                        $0.traceHigh = .max
                        $0.traceLow = 1 << 63
                        $0.span = 7
                    }),
                .trace(ServiceLinkTrace(traceHigh: .max, traceLow: 1 << 63, span: 7)),
                {
                    let trace = ServiceLinkTrace(traceHigh: .max, traceLow: 1 << 63, span: 7)
                    ServiceLinkFrame.write(trace, into: &$0)
                }
            ),
            (.heartbeat(.init()), .heartbeat, { ServiceLinkFrame.writeHeartbeat(into: &$0) }),
            (.heartbeatAck(.init()), .heartbeatAck, { ServiceLinkFrame.writeHeartbeatAck(into: &$0) }),
            (
                .goAway(
                    .with {
                        $0.reason = .serviceLinkGoAwayOverflow
                        $0.text = "slow"
                    }),
                .goAway(ServiceLinkGoAway(.overflow, "slow")),
                { ServiceLinkFrame.write(ServiceLinkGoAway(.overflow, "slow"), into: &$0) }
            ),
        ]
    }

    @Test("what the generated codec writes, the envelope reads")
    func readsGenerated() throws {
        for (message, expected, _) in samples {
            #expect(try Decoded(try generated(message)) == expected)
        }
    }

    @Test("what the envelope writes, the generated codec writes byte for byte the same")
    func writesTheSame() throws {
        for (message, _, encode) in samples {
            #expect(ByteBuffer.frame(encode) == (try generated(message)))
        }
    }

    @Test("a frame's length prefix counts the rest of it, and its overhead stays below the stated bound")
    func lengthPrefix() {
        for (_, _, encode) in samples {
            var buffer = ByteBuffer()
            encode(&buffer)
            let length = buffer.readInteger(as: UInt32.self)
            #expect(length == UInt32(buffer.readableBytes))
        }
        for length in [0, 1, 127, 128, 1 << 14, 1 << 21] {
            var buffer = ByteBuffer()
            ServiceLinkFrame.writeRequest(
                id: .max, method: .max, timeoutMilliseconds: .max,
                body: Bytes([UInt8](repeating: 1, count: length)),
                bodyLength: length, into: &buffer)
            #expect(buffer.readableBytes - length <= ServiceLinkFrame.overheadBytesMax)
        }
    }

    @Test("unknown fields are skipped, at both levels and of every wire type")
    func unknownFields() throws {
        let unknown: [UInt8] = [
            0xf8, 0x07, 0x96, 0x01, 0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 0xfa, 0x07, 2, 9, 9, 0xfd, 0x07, 1, 2,
            3, 4,
        ]
        let inner: [UInt8] = unknown + [0x08, 5] + unknown + [0x12, 1, 7]
        let frame = unknown + [0x2a, UInt8(inner.count)] + inner + unknown
        #expect(try Decoded(frame) == .push(5, [7]))
        #expect(try Decoded(unknown) == .unknown)
        #expect(try Decoded([]) == .unknown)
    }

    @Test("an error code of a newer version keeps its number in the reason")
    func unknownErrorCode() throws {
        let frame = try generated(
            .response(
                .with {
                    $0.id = 1
                    $0.error = .with {
                        $0.code = .UNRECOGNIZED(-99999)
                        $0.reason = "new"
                    }
                }))
        guard case .failure(1, let error) = try Decoded(frame) else {
            Issue.record("not a failure")
            return
        }
        #expect(error.code == .serviceNotSupport)
        #expect(error.reason.contains("-99999") && error.reason.contains("new"))
    }

    @Test(
        "malformed frames are refused",
        arguments: [
            [0x2a], [0x2a, 5, 0x08], [0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            [0x28, 1], [0x00], [0x02, 0], [0x2b, 0x2c], [0x2e], [0x2f, 1], [0xff], [0x2a, 2, 0x08, 0x80],
            [0x0a, 3, 0x12, 1, 0xff], [0x2a, 2, 0x10, 1], [0xf9, 0x07, 1, 2], [0xfd, 0x07, 1],
            [0x32, 1, 0x80],
        ] as [[UInt8]])
    func malformed(frame: [UInt8]) {
        #expect(throws: WireError.undecodable) { try Decoded(frame) }
    }

    @Test("random bytes and damaged frames never trap, and where both codecs read one they agree")
    func fuzz() throws {
        var random = SeededGenerator(seed: 20_261_121)
        let whole = try samples.map { try generated($0.0) }
        for round in 0..<60_000 {
            var frame: [UInt8]
            if round.isMultiple(of: 3) {
                frame = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    .random(in: 0...255, using: &random)
                }
            } else {
                frame = whole[round % whole.count]
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    frame[Int.random(in: 0..<frame.count, using: &random)] = .random(
                        in: 0...255, using: &random)
                }
                if round.isMultiple(of: 5) {
                    frame.removeLast(Int.random(in: 0...frame.count, using: &random))
                }
            }
            guard case .push(let method, let body) = try? Decoded(frame),
                let reference = try? Rtm_Service_ServiceLinkFrame(serializedBytes: frame),
                case .push(let push) = reference.body
            else { continue }
            #expect(push.method == method && [UInt8](push.body) == body, "\(frame)")
        }
    }
}
