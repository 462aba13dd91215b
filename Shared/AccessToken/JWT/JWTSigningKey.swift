import Foundation
import RTMCryptography

/// A key that signs JWTs: for tests, and to try JWTs out. Otherwise an identity provider does that.
package struct JWTSigningKey: Sendable {
    private enum Material: Sendable {
        case secret([UInt8])
        case key(PrivateKey)
    }

    package let algorithm: JWTAlgorithm
    /// The name that its tokens bear (`kid`).
    private let id: String?
    private let material: Material

    private static let labels: Set<String> = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]

    /// Reads a private key in PEM, or a shared secret as JWK or in a JWKS document.
    ///
    /// - Parameter id: the name of the key. Without one it is that of the JWK.
    package init(_ text: String, id: String?) throws(JWTKeyProblem) {
        switch KeyText(text) {
        case .json:
            let jwks: [JWK] =
                switch try JWK.Content(text) {
                case .key(let jwk): [jwk]
                case .document(let entries): entries.compactMap { try? $0.get() }
                }
            let secrets = jwks.filter { jwk in
                jwk.algorithm == .hs256 && (id == nil || jwk.kid == id)
            }
            guard secrets.count == 1, let jwk = secrets.first else {
                throw JWTKeyProblem(
                    "it has \(secrets.count) secrets to sign with, and has to have one. "
                        + "A key of RSA or P-256 is read in PEM")
            }
            let secret = try jwk.bytes(\.k, "k")
            try JWTKeySize.check(secret: secret, of: jwk.title)
            self.id = jwk.kid
            (algorithm, material) = (.hs256, .secret(secret))
        case .pem:
            self.id = id
            guard let pem = PEM(text), Self.labels.contains(pem.label), let key = PrivateKey(pem.bytes) else {
                throw JWTKeyProblem("it holds no private key of RSA or on the curve P-256")
            }
            try JWTKeySize.check(key.kind, of: "the key")
            (algorithm, material) = (.init(key.kind), .key(key))
        case nil: throw JWTKeyProblem("it is neither a private key in PEM nor a secret as JWK")
        }
    }

    func signature(over bytes: [UInt8]) throws -> [UInt8] {
        switch material {
        case .secret(let secret): MessageCode.make(over: bytes, key: secret)
        case .key(let key): try key.signature(over: bytes)
        }
    }

    private struct Header: Encodable {
        let alg: String
        let kid: String?
        let typ = "JWT"
    }

    fileprivate func signed(_ claims: JWTClaims) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = try encoder.encode(Header(alg: algorithm.rawValue, kid: id))
        let content = try Base64URL.text(of: header) + "." + Base64URL.text(of: encoder.encode(claims))
        return try content + "." + Base64URL.text(of: signature(over: Array(content.utf8)))
    }
}

extension JWTClaims {
    /// The text of a token.
    package func signed(with key: JWTSigningKey) throws -> String { try key.signed(self) }
}
