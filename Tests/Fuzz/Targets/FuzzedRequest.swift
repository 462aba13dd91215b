import RTMModel
import RTMWire

/// A publish is scanned by hand, every other request is unpacked by protobuf-c. A field that nobody knows,
/// put in front, sends a publish through protobuf-c, too: both must read the same.
///
/// They may refuse differently: protobuf-c takes keys that are no protobuf and no length of more than five
/// bytes.
enum FuzzedRequest {
    /// Field 100, a varint.
    private static let unknownField: [UInt8] = [0xA0, 0x06, 0x00]

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        let whole = unknownField + bytes
        let direct = facts(bytes)
        let unpacked = whole.withUnsafeBytes { facts($0) }
        if let direct, let unpacked {
            try Disagreement.unless(direct == unpacked, "scan: \(direct); protobuf-c: \(unpacked)")
        }
        try FuzzedCall.passedOn(bytes)
    }

    /// Copies of everything in the request, so that every view is read; nil when it is refused.
    private static func facts(_ bytes: UnsafeRawBufferPointer) -> [String]? {
        let arena = DecodeArena(capacity: 512)
        guard let request = try? ClientRequest(bytes, in: arena) else { return nil }
        return ["\(request.id)"] + request.body.facts
    }
}

extension ClientRequest.Body {
    fileprivate var facts: [String] {
        switch self {
        case .hello(let hello): ["hello", "\(hello.versionMin)...\(hello.versionMax)", hello.client.hex]
        case .login(let login):
            [
                "login", login.appID.hex, login.userID.hex, login.token.hex,
                "\(login.heartbeatIntervalSeconds) \(login.presenceTimeoutSeconds)",
                "\(String(describing: login.inboxAfter)) \(login.instance) \(login.attempt) \(login.isAsked)",
            ]
        case .logout: ["logout"]
        case .heartbeat: ["heartbeat"]
        case .subscribe(let subscribe):
            [
                "subscribe", subscribe.channel.hex, "\(subscribe.features.rawValue)",
                "\(String(describing: subscribe.after)) \(String(describing: subscribe.channelType))",
                subscribe.token.hex,
            ] + subscribe.publishers.map(\.hex)
        case .unsubscribe(let unsubscribe):
            [
                "unsubscribe", "\(String(describing: unsubscribe.channelType))", unsubscribe.channel.hex,
            ]
        case .publish(let publish):
            [
                "publish", "\(String(describing: publish.channelType))", publish.channel.hex,
                publish.message.facts, "\(publish.storeInHistory) \(publish.origin) \(publish.sequence)",
                "\(String(describing: publish.againAfter)) \(publish.epoch)",
            ]
        case .renewToken(let renewal): ["renew", renewal.token.hex, renewal.channel.hex]
        case .call(let call):
            [
                "\(call.kind)", "\(String(describing: call.channelType))", call.target.hex,
                call.request.hex,
            ]
        case .subscribeUserMetadata(let subscribe):
            ["subscribeUserMetadata", subscribe.userID.hex, "\(String(describing: subscribe.after))"]
        case .unsubscribeUserMetadata(let userID): ["unsubscribeUserMetadata", userID.hex]
        case .unknown: ["unknown"]
        }
    }
}

extension MessageView {
    var facts: String { "\(String(describing: type)) \(payload.hex) \(customType.hex)" }
}

extension WireText {
    /// Every byte of it, and a form that a person can compare.
    var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count * 2)
        for byte in bytes { digits += [byte >> 4, byte & 15].map { $0 < 10 ? 48 + $0 : 87 + $0 } }
        return String(decoding: digits, as: UTF8.self)
    }
}
