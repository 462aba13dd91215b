import RTMCryptography

/// An API key as its holder has it: `rtmk_ID_SECRET`. The prefix lets scanners of source code find keys that
/// were committed by mistake.
package struct APIKey: Sendable, Hashable {
    private static let prefix = "rtmk"
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    private static let (idLength, secretLength) = (8, 43)

    package let id: String
    private let secret: String

    /// Nil if the text is no key.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual(Self.prefix.utf8), parts[1].count == Self.idLength,
            parts[2].count == Self.secretLength
        else { return nil }
        id = String(decoding: parts[1], as: UTF8.self)
        secret = String(decoding: parts[2], as: UTF8.self)
    }

    /// A key whose secret has 256 bits of the system's randomness.
    package static func random() -> APIKey {
        var random = SystemRandomNumberGenerator()
        func word(_ length: Int) -> String {
            String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "0" })
        }
        return APIKey(id: word(idLength), secret: word(secretLength))
    }

    private init(id: String, secret: String) { (self.id, self.secret) = (id, secret) }

    /// Whether it is the same key. How long the answer takes says nothing about the secret.
    package func isEqual(to other: APIKey) -> Bool {
        id == other.id && MessageCode.areEqual(Array(secret.utf8), Array(other.secret.utf8))
    }

    package var text: String { "\(Self.prefix)_\(id)_\(secret)" }

    /// What is stored of the secret. A slow hash, as for passwords, would protect nothing more: nobody
    /// guesses 256 random bits.
    package var hash: String {
        let code = MessageCode.make(over: Array(secret.utf8), key: Array("heliograph api key \(id)".utf8))
        let digits = code.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
        return String(decoding: digits, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
