import RTMModel
import RTMProtocolC
import RTMWire

/// An envelope is scanned by hand, and protobuf-c must find the same in it.
enum FuzzedLink {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        _ = try? RTMError(scanning: bytes)
        _ = try? ServiceLinkHello(scanning: bytes)
        _ = try? ServiceLinkChallenge(scanning: bytes)
        _ = try? ServiceLinkProof(scanning: bytes)
        _ = try? ServiceLinkWelcome(scanning: bytes)
        _ = try? ServiceLinkTrace(scanning: bytes)
        _ = try? ServiceLinkGoAway(scanning: bytes)
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let envelope = try? ServiceLinkEnvelope(decoding: bytes) else { return }
        let facts = envelope.facts
        // protobuf-c merges a body that comes twice, the scan takes the last. Nobody writes two.
        guard (1...11).reduce(0, { $0 + Fields.count($1, in: bytes) }) == 1,
            let unpacked = rtm__service__service_link_frame__unpack(nil, bytes.count, start)
        else { return }
        defer { rtm__service__service_link_frame__free_unpacked(unpacked, nil) }
        let other = unpacked.pointee.facts
        try Disagreement.unless(facts == other, "scan: \(facts); protobuf-c: \(other)")
    }
}

extension ServiceLinkEnvelope {
    /// Texts end at their first NUL, as in C.
    fileprivate var facts: [String] {
        switch self {
        case .hello(let hello):
            [
                "hello", "\(hello.version)", hello.service.cText, hello.node.cText, hello.nonce.hex,
                "\(hello.shard)",
            ]
        case .challenge(let challenge): ["challenge", challenge.nonce.hex]
        case .proof(let proof): ["proof", proof.proof.hex]
        case .welcome(let welcome):
            [
                "welcome", "\(welcome.version)", welcome.service.cText, "\(welcome.incarnation)",
                welcome.proof.hex, "\(welcome.shards)",
            ]
        case .request(let id, let method, let timeout, let body):
            ["request", "\(id)", "\(method)", "\(timeout)", WireText(body).hex]
        case .response(let id, let body): ["response", "\(id)", WireText(body).hex]
        case .failure(let id, _): ["failure", "\(id)"]
        case .push(let method, let body): ["push", "\(method)", WireText(body).hex]
        case .trace(let trace): ["trace", "\(trace.traceHigh)", "\(trace.traceLow)", "\(trace.span)"]
        case .heartbeat: ["heartbeat"]
        case .heartbeatAck: ["heartbeatAck"]
        case .goAway(let goAway): ["goAway", "\(goAway.reason)", goAway.text.cText]
        case .unknown: ["unknown"]
        }
    }
}

extension Rtm__Service__ServiceLinkFrame {
    fileprivate var facts: [String] {
        switch body_case {
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_HELLO: hello.pointee.facts
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_WELCOME:
            [
                "welcome", "\(welcome.pointee.version)", String(cString: welcome.pointee.service),
                "\(welcome.pointee.incarnation)", WireText(welcome.pointee.proof.view).hex,
                "\(welcome.pointee.shards)",
            ]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_CHALLENGE:
            ["challenge", WireText(challenge.pointee.nonce.view).hex]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_PROOF:
            ["proof", WireText(proof.pointee.proof.view).hex]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_REQUEST:
            [
                "request", "\(request.pointee.id)", "\(request.pointee.method)",
                "\(request.pointee.timeout_ms)", WireText(request.pointee.body.view).hex,
            ]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_RESPONSE: response.pointee.facts
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_PUSH:
            ["push", "\(push.pointee.method)", WireText(push.pointee.body.view).hex]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_TRACE:
            [
                "trace", "\(trace.pointee.trace_high)", "\(trace.pointee.trace_low)",
                "\(trace.pointee.span)",
            ]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_HEARTBEAT: ["heartbeat"]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_HEARTBEAT_ACK: ["heartbeatAck"]
        case RTM__SERVICE__SERVICE_LINK_FRAME__BODY_GO_AWAY: go_away.pointee.facts
        default: ["unknown"]
        }
    }
}

extension Rtm__Service__ServiceLinkHello {
    fileprivate var facts: [String] {
        [
            "hello", "\(version)", String(cString: service), String(cString: node),
            WireText(nonce.view).hex, "\(shard)",
        ]
    }
}

extension Rtm__Service__ServiceLinkResponse {
    fileprivate var facts: [String] {
        error == nil ? ["response", "\(id)", WireText(body.view).hex] : ["failure", "\(id)"]
    }
}

extension Rtm__Service__ServiceLinkGoAway {
    fileprivate var facts: [String] {
        let known = ServiceLinkGoAway.Reason(rawValue: Int(Int32(truncatingIfNeeded: reason.rawValue)))
        return ["goAway", "\(known ?? .unspecified)", String(cString: text)]
    }
}

extension [UInt8] {
    fileprivate var hex: String { withUnsafeBytes { WireText($0).hex } }
}

extension String {
    fileprivate var cText: String { String(decoding: utf8.prefix { $0 != 0 }, as: UTF8.self) }
}
