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

    /// What a text in JSON holds.
    enum Content {
        case key(JWK)
        /// A JWKS document. What isn't a key is in its place with the reason, so that it can be passed over.
        case document([Result<JWK, JWTKeyProblem>])

        init(_ text: String) throws(JWTKeyProblem) {
            do {
                self = try JSONDecoder().decode(Text.self, from: Data(text.utf8)).content
            } catch let problem as JWTKeyProblem {
                throw problem
            } catch {
                throw JWTKeyProblem("it is no JWKS document, because it is not JSON")
            }
        }
    }

    private struct Text: Decodable {
        let content: Content

        private enum CodingKeys: CodingKey { case keys }

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            guard object.contains(.keys) else {
                content = .key(try Entry(from: decoder).jwk.get())
                return
            }
            guard let entries = try? object.decode([Entry].self, forKey: .keys) else {
                throw JWTKeyProblem("it is no JWKS document, because its \"keys\" are no list")
            }
            content = .document(entries.map(\.jwk))
        }
    }

    private struct Entry: Decodable {
        let jwk: Result<JWK, JWTKeyProblem>

        init(from decoder: any Decoder) throws {
            let title = decoder.codingPath.last?.intValue.map { "the key number \($0 + 1)" } ?? "the key"
            do {
                jwk = .success(try JWK(from: decoder))
            } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
                let members = context.codingPath.dropFirst(decoder.codingPath.count)
                jwk = .failure(
                    JWTKeyProblem(
                        members.first.map {
                            "\(title) has a \"\($0.stringValue)\" of another type than RFC 7517 gives it"
                        } ?? "\(title) is no object"))
            }
        }
    }

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
