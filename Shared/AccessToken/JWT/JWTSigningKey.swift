import Crypto
import CryptoExtras
import Foundation
import RTMCryptography

/// A key that signs JWTs: for tests, and to try JWTs out. Otherwise an identity provider does that.
package struct JWTSigningKey: Sendable {
    private enum Material: Sendable {
        case secret([UInt8])
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    package let algorithm: JWTAlgorithm
    /// The name that its tokens bear (`kid`).
    private let id: String?
    private let material: Material

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
            if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) {
                (algorithm, material) = (.es256, .p256(key))
            } else if let key = try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: text) {
                try JWTKeySize.checkRSA(bits: key.keySizeInBits, of: "the key")
                (algorithm, material) = (.rs256, .rsa(key))
            } else {
                throw JWTKeyProblem("it holds no private key of RSA or on the curve P-256")
            }
        case nil: throw JWTKeyProblem("it is neither a private key in PEM nor a secret as JWK")
        }
    }

    func signature(over bytes: [UInt8]) throws -> [UInt8] {
        switch material {
        case .secret(let secret): return MessageCode.make(over: bytes, key: secret)
        case .rsa(let key):
            let signature = try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
            return Array(signature.rawRepresentation)
        case .p256(let key): return Array(try key.signature(for: SHA256.hash(data: bytes)).rawRepresentation)
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
