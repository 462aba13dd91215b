import Foundation
import RTMCryptography
import Testing

@testable import RTMCredentials

@Suite("The signatures of a webhook")
struct WebhookSignatureTests {
    private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func headers(_ secrets: [String], body: String, id: String = "id", seconds: UInt64 = 1)
        -> [String: String]
    {
        let headers = WebhookSignature(secrets: secrets.compactMap(WebhookSecret.init)).headers(
            id: id, seconds: seconds, body: Array(body.utf8))
        return Dictionary(uniqueKeysWithValues: headers.map { ($0.name, $0.value) })
    }

    @Test("the known answer of the specification's libraries")
    func known() {
        let headers = headers(
            [secret], body: #"{"test": 2432232314}"#, id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            seconds: 1_614_265_330)
        #expect(headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect(headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(headers["webhook-timestamp"] == "1614265330")
    }

    @Test("while a secret is replaced both sign, the new one first")
    func rotating() {
        let other = WebhookSecret.random()
        let alone = headers([other], body: "{}")
        let both = headers([other, secret], body: "{}")
        let signatures = both["webhook-signature"]?.split(separator: " ").map(String.init)
        #expect(
            signatures == [alone, headers([secret], body: "{}")].compactMap { $0["webhook-signature"] })
        #expect(both["Agora-Signature-V2"] == alone["Agora-Signature-V2"])
    }

    /// Made with Python's hmac.
    @Test("the headers of the public interface: HMAC-SHA-1 and HMAC-SHA-256 of the body, in hexadecimal")
    func hexadecimal() {
        let headers = headers([secret], body: #"{"events":[]}"#)
        #expect(headers["Agora-Signature"] == "10fd9c772f00a96a64908513e41a05151b2ccd73")
        #expect(
            headers["Agora-Signature-V2"]
                == "04d69d6b7c38d72cc6256e12db328f116be8e028f18143a29b922e21ebe6576a")
    }

    @Test("the same body has the same id, another one another")
    func ids() {
        #expect(WebhookSignature.id(of: Array("a".utf8)) == WebhookSignature.id(of: Array("a".utf8)))
        #expect(WebhookSignature.id(of: Array("a".utf8)) != WebhookSignature.id(of: Array("b".utf8)))
        #expect(WebhookSignature.id(of: []).count == 36)
    }

    @Test(
        "a secret is whsec_ and Base64 of 24 to 64 bytes",
        arguments: [
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false),
            ("whsec_", false), ("whsec_MfKQ9r8GKYqr", false), ("whsec_????", false),
        ])
    func secrets(text: String, isSecret: Bool) {
        #expect((WebhookSecret(text) != nil) == isSecret)
        #expect(WebhookSecret(WebhookSecret.random())?.key.count == 32)
    }

    @Test("the receiver in Swift of docs/http/webhooks.md takes what is signed, and nothing else")
    func swiftReceiver() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let page = try String(
            contentsOf: folder.appending(path: "../../../docs/http/webhooks.md"), encoding: .utf8)
        let code = try String(contentsOf: folder.appending(path: "SwiftReceiver.swift"), encoding: .utf8)
        #expect(page.contains("```swift\nimport Crypto\n\(code)```"))
        let headers = headers([WebhookSecret.random(), secret], body: "{}", seconds: 1_000)
        func isAccepted(_ headers: [String: String], _ body: String = "{}", at seconds: Double = 1_000)
            -> Bool
        {
            verify(headers, Data(body.utf8), secret: secret, now: Date(timeIntervalSince1970: seconds))
        }
        #expect(isAccepted(headers) && isAccepted(headers, at: 1_299))
        #expect(!isAccepted(headers, "{} ") && !isAccepted(headers, at: 1_301) && !isAccepted(headers, at: 1))
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            #expect(!isAccepted(headers.merging([name: "1100"]) { $1 }), "\(name)")
            #expect(!isAccepted(headers.filter { $0.key != name }), "\(name)")
        }
    }
}

// What the receiver of docs/http/webhooks.md uses of swift-crypto, which this repository doesn't depend on.

enum SHA256 {}

struct SymmetricKey {
    let data: Data
}

enum HMAC<Hash> {
    static func isValidAuthenticationCode(
        _ code: Data, authenticating data: Data, using key: SymmetricKey
    ) -> Bool {
        MessageCode.areEqual(Array(code), MessageCode.make(over: Array(data), key: Array(key.data)))
    }
}
