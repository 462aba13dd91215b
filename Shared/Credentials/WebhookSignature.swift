import Foundation
import RTMCryptography

/// Signs requests to a receiver, as Standard Webhooks has it and as the public interface has it, so that a
/// receiver of either needs no other code.
package struct WebhookSignature: Sendable {
    /// The names of the headers.
    package enum Header {
        package static let id = "webhook-id"
        package static let timestamp = "webhook-timestamp"
        package static let signature = "webhook-signature"
        package static let agora = "Agora-Signature"
        package static let agora2 = "Agora-Signature-V2"
    }

    /// The secret that signs, and while it is being replaced the one before: a receiver that knows either is
    /// content. The headers of the public interface have room for one.
    let secrets: [WebhookSecret]

    package init(secrets: [WebhookSecret]) { self.secrets = secrets }

    /// - Parameters:
    ///   - id: the same whenever the same body is sent again, so that a receiver can pass over it.
    ///   - seconds: since 1970. Receivers refuse an old one, so that nobody can send an old request again.
    package func headers(id: String, seconds: UInt64, body: [UInt8]) -> [(name: String, value: String)] {
        let timestamp = "\(seconds)"
        let signatures = secrets.map { $0.signature(id: id, timestamp: timestamp, body: body) }
        let standard = [
            (Header.id, id), (Header.timestamp, timestamp),
            (Header.signature, signatures.joined(separator: " ")),
        ]
        guard let secret = secrets.first else { return standard }
        return standard + [
            (Header.agora, secret.agoraSignature(of: body)),
            (Header.agora2, secret.agoraSignature2(of: body)),
        ]
    }

    /// The id of a body: whoever sends the same body again sends the same id.
    package static func id(of body: [UInt8]) -> String {
        "msg_" + hexadecimal(MessageCode.make(over: body, key: Array("webhook-id".utf8)).prefix(16))
    }

    fileprivate static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// `whsec_` and Base64 of 24 to 64 random bytes.
package struct WebhookSecret: Sendable, Hashable {
    private static let prefix = "whsec_"

    /// As both sides write it down; it signs `Agora-Signature-V2`.
    package let text: String
    /// What Standard Webhooks signs with.
    let key: [UInt8]

    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(6))),
            (24...64).contains(key.count)
        else { return nil }
        (self.text, self.key) = (text, Array(key))
    }

    /// A secret of 256 bits of the system's randomness.
    package static func random() -> String {
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        return prefix + key.base64EncodedString()
    }

    /// One of the signatures of `webhook-signature`.
    package func signature(id: String, timestamp: String, body: [UInt8]) -> String {
        let code = MessageCode.make(over: Array("\(id).\(timestamp).".utf8) + body, key: key)
        return "v1,\(Data(code).base64EncodedString())"
    }

    /// `Agora-Signature`.
    package func agoraSignature(of body: [UInt8]) -> String {
        WebhookSignature.hexadecimal(MessageCode.make(over: body, key: Array(text.utf8), .sha1))
    }

    /// `Agora-Signature-V2`.
    package func agoraSignature2(of body: [UInt8]) -> String {
        WebhookSignature.hexadecimal(MessageCode.make(over: body, key: Array(text.utf8)))
    }
}
