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
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.prefix, parts[1].count == Self.idLength,
            parts[2].count == Self.secretLength
        else { return nil }
        (id, secret) = (String(parts[1]), String(parts[2]))
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

    package var text: String { "\(Self.prefix)_\(id)_\(secret)" }

    /// What is stored of the secret. A slow hash, as for passwords, would protect nothing more: nobody
    /// guesses 256 random bits.
    package var hash: String {
        MessageCode.make(over: Array(secret.utf8), key: Array("heliograph api key \(id)".utf8))
            .map { byte in
                let text = String(byte, radix: 16)
                return byte < 16 ? "0" + text : text
            }.joined()
    }
}
