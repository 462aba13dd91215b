import Foundation
import HTTPTypes
import RTMCryptography
import RTMServiceKit

/// Signs requests to a receiver, as Standard Webhooks has it and as the public interface has it, so that a
/// receiver of either needs no other code.
struct WebhookSignature: Sendable {
    /// The secret that signs, and while it is being replaced the one before: a receiver that knows either is
    /// content. The headers of the public interface have room for one.
    let secrets: [WebhookSecret]

    /// - Parameters:
    ///   - id: the same whenever the same body is sent again, so that a receiver can pass over it.
    ///   - seconds: since 1970. Receivers refuse an old one, so that nobody can send an old request again.
    func headers(id: String, seconds: UInt64, body: [UInt8]) -> HTTPFields {
        var fields = HTTPFields()
        fields[.webhookID] = id
        fields[.webhookTimestamp] = "\(seconds)"
        let signed = Array("\(id).\(seconds).".utf8) + body
        fields[.webhookSignature] = secrets.map { secret in
            let code = MessageCode.make(over: signed, key: secret.key)
            return "v1,\(Data(code).base64EncodedString())"
        }.joined(separator: " ")
        if let secret = secrets.first {
            let key = Array(secret.text.utf8)
            fields[.agoraSignature] = Self.hexadecimal(MessageCode.make(over: body, key: key, .sha1))
            fields[.agoraSignature2] = Self.hexadecimal(MessageCode.make(over: body, key: key))
        }
        return fields
    }

    /// The id of a body: whoever sends the same body again sends the same id.
    static func id(of body: [UInt8]) -> String {
        "msg_" + hexadecimal(MessageCode.make(over: body, key: Array("webhook-id".utf8)).prefix(16))
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// `whsec_` and Base64 of 24 to 64 random bytes.
struct WebhookSecret: Sendable, Hashable {
    private static let prefix = "whsec_"

    /// As both sides write it down; it signs `Agora-Signature-V2`.
    let text: String
    /// What Standard Webhooks signs with.
    let key: [UInt8]

    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(6))),
            (24...64).contains(key.count)
        else { return nil }
        (self.text, self.key) = (text, Array(key))
    }

    /// A secret of 256 bits of the system's randomness.
    static func random() -> String {
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        return prefix + key.base64EncodedString()
    }

    static let command = ProgramCommand(
        "webhook-secret", "Makes a secret for a webhook, which the receiver has to know, too."
    ) { _ in .init(random() + "\n") }
}

extension HTTPField.Name {
    static let webhookID = Self("webhook-id")!
    static let webhookTimestamp = Self("webhook-timestamp")!
    static let webhookSignature = Self("webhook-signature")!
    static let agoraSignature = Self("Agora-Signature")!
    static let agoraSignature2 = Self("Agora-Signature-V2")!
}
