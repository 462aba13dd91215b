import Crypto
import CryptoExtras
import RTMCryptography

/// How JWTs are signed.
package enum JWTAlgorithm: String, Sendable {
    /// HMAC with SHA-256: issuer and server share a secret.
    case hs256 = "HS256"
    /// RSA with PKCS #1 v1.5 and SHA-256.
    case rs256 = "RS256"
    /// ECDSA on the curve P-256 with SHA-256.
    case es256 = "ES256"
}

/// The limits of keys.
enum JWTKeySize {
    /// Limit: the bits of a key of RSA.
    static let rsaBitsMin = 2048
    /// Limit: the bytes of a shared secret, which are those of the hash (RFC 7518).
    static let secretBytesMin = 32

    static func checkRSA(bits: Int, of title: String) throws(JWTKeyProblem) {
        guard bits >= rsaBitsMin else {
            throw JWTKeyProblem("\(title) is RSA with \(bits) bits, and \(rsaBitsMin) are needed at least")
        }
    }

    static func check(secret: [UInt8], of title: String) throws(JWTKeyProblem) {
        guard secret.count >= secretBytesMin else {
            throw JWTKeyProblem(
                "\(title) is a secret of \(secret.count) bytes, and \(secretBytesMin) are needed at least")
        }
    }
}

/// A key that checks signatures. It knows one algorithm, whatever a token claims, so a public key is never
/// taken for a shared secret.
struct JWTKey: Sendable {
    private enum Material: Sendable {
        case secret([UInt8])
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    /// The name that a token chooses it by (`kid`); nil for a key in PEM.
    let id: String?
    let algorithm: JWTAlgorithm
    private let material: Material

    func isValid(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
        switch material {
        case .secret(let secret):
            return MessageCode.areEqual(MessageCode.make(over: bytes, key: secret), signature)
        case .rsa(let key):
            return key.isValidSignature(
                .init(rawRepresentation: signature), for: SHA256.hash(data: bytes),
                padding: .insecurePKCS1v1_5)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
                return false
            }
            return key.isValidSignature(signature, for: SHA256.hash(data: bytes))
        }
    }
}

extension JWTKey {
    init(_ jwk: JWK) throws(JWTKeyProblem) {
        guard let algorithm = jwk.algorithm else {
            throw JWTKeyProblem("\(jwk.title) is not for signatures with HS256, RS256 or ES256")
        }
        id = jwk.kid
        self.algorithm = algorithm
        guard jwk.d == nil else {
            throw JWTKeyProblem("\(jwk.title) is a private key (d); give the server the public part alone")
        }
        switch algorithm {
        case .hs256:
            let secret = try jwk.bytes(\.k, "k")
            try JWTKeySize.check(secret: secret, of: jwk.title)
            material = .secret(secret)
        case .rs256: material = .rsa(try Self.rsa(jwk))
        case .es256:
            let point = try jwk.bytes(\.x, "x") + jwk.bytes(\.y, "y")
            guard let key = try? P256.Signing.PublicKey(rawRepresentation: point) else {
                throw JWTKeyProblem("\(jwk.title) has a point (x, y) that is not on its curve")
            }
            material = .p256(key)
        }
    }

    private static func rsa(_ jwk: JWK) throws(JWTKeyProblem) -> _RSA.Signing.PublicKey {
        let modulus = try jwk.bytes(\.n, "n").drop { $0 == 0 }
        let exponent = try jwk.bytes(\.e, "e")
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        try JWTKeySize.checkRSA(bits: bits, of: jwk.title)
        guard let key = try? _RSA.Signing.PublicKey(n: Array(modulus), e: exponent) else {
            throw JWTKeyProblem("\(jwk.title) is no key of RSA")
        }
        return key
    }

    init(pem: String, _ label: Substring) throws(JWTKeyProblem) {
        id = nil
        guard label.hasSuffix("PUBLIC KEY") else {
            throw JWTKeyProblem("it holds a \(label) in PEM, and a PUBLIC KEY is needed")
        }
        guard pem.ranges(of: "-----BEGIN ").count == 1 else {
            throw JWTKeyProblem(
                "it holds several keys in PEM; put them into a JWKS document, with a kid each")
        }
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) {
            (algorithm, material) = (.es256, .p256(key))
        } else if let key = try? _RSA.Signing.PublicKey(unsafePEMRepresentation: pem) {
            try JWTKeySize.checkRSA(bits: key.keySizeInBits, of: "the key")
            (algorithm, material) = (.rs256, .rsa(key))
        } else {
            throw JWTKeyProblem("it holds a key that is neither RSA nor on the curve P-256")
        }
    }
}
