import Foundation

/// A key as a JSON object (RFC 7517). Numbers and bytes are base64url.
struct JWK: Decodable {
    let kty: String?
    let alg: String?
    let kid: String?
    let use: String?
    let operations: [String]?
    /// Modulus and exponent of a key of RSA.
    let n: String?
    let e: String?
    /// The curve and the point on it.
    let crv: String?
    let x: String?
    let y: String?
    /// A shared secret.
    let k: String?
    /// The private part of a key of RSA or of a curve.
    let d: String?

    private enum CodingKeys: String, CodingKey {
        case kty, alg, kid, use, n, e, crv, x, y, k, d
        case operations = "key_ops"
    }

    /// The keys of a JWKS document, or the one key that the text is.
    static func all(in text: String) throws(JWTKeyProblem) -> [JWK] {
        do {
            let decoder = JSONDecoder()
            if let document = try? decoder.decode(Document.self, from: Data(text.utf8)) {
                return document.keys
            }
            return [try decoder.decode(JWK.self, from: Data(text.utf8))]
        } catch {
            throw JWTKeyProblem("it is JSON, but not a JWKS document with keys")
        }
    }

    private struct Document: Decodable { let keys: [JWK] }

    /// Which of the algorithms the key is for. Nil for a key that is for something else.
    ///
    /// A key that doesn't say it is for the one algorithm of its kind that we have, so that no token can
    /// choose.
    var algorithm: JWTAlgorithm? {
        guard use ?? "sig" == "sig",
            operations.map({ $0.contains { ["verify", "sign"].contains($0) } }) ?? true
        else { return nil }
        let algorithm: JWTAlgorithm? =
            switch (kty, crv) {
            case ("oct", _): .hs256
            case ("RSA", _): .rs256
            case ("EC", "P-256"): .es256
            default: nil
            }
        return alg ?? algorithm?.rawValue == algorithm?.rawValue ? algorithm : nil
    }

    func bytes(_ path: KeyPath<JWK, String?>, _ name: String) throws(JWTKeyProblem) -> [UInt8] {
        guard let text = self[keyPath: path], let bytes = Base64URL.bytes(of: text) else {
            throw JWTKeyProblem("\(title) has no \"\(name)\" in base64url")
        }
        return bytes
    }

    /// Names the key in a sentence.
    var title: String { "the key \(kid?.quoted ?? "without a name")" }
}
