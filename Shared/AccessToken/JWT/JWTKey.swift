import RTMCryptography

/// How JWTs are signed.
package enum JWTAlgorithm: String, Sendable {
    /// HMAC with SHA-256: issuer and server share a secret.
    case hs256 = "HS256"
    /// RSA with PKCS #1 v1.5 and SHA-256.
    case rs256 = "RS256"
    /// ECDSA on the curve P-256 with SHA-256.
    case es256 = "ES256"

    /// The one that is used with a kind of keys.
    init(_ kind: KeyKind) {
        self =
            switch kind {
            case .rsa: .rs256
            case .p256: .es256
            }
    }
}

/// The limits of keys.
enum JWTKeySize {
    /// Limit: the bits of a key of RSA.
    static let rsaBitsMin = 2048
    /// Limit: the bytes of a shared secret, which are those of the hash (RFC 7518).
    static let secretBytesMin = 32

    static func check(_ kind: KeyKind, of title: String) throws(JWTKeyProblem) {
        if case .rsa(let bits) = kind, bits < rsaBitsMin {
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
        case key(PublicKey)
    }

    /// The name that a token chooses it by (`kid`); nil for a key in PEM.
    let id: String?
    let algorithm: JWTAlgorithm
    private let material: Material

    func isValid(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
        switch material {
        case .secret(let secret): MessageCode.areEqual(MessageCode.make(over: bytes, key: secret), signature)
        case .key(let key): key.isValid(signature, over: bytes)
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
        case .rs256:
            guard let key = PublicKey(modulus: try jwk.bytes(\.n, "n"), exponent: try jwk.bytes(\.e, "e"))
            else { throw JWTKeyProblem("\(jwk.title) is no key of RSA") }
            try JWTKeySize.check(key.kind, of: jwk.title)
            material = .key(key)
        case .es256:
            guard let key = PublicKey(x: try jwk.bytes(\.x, "x"), y: try jwk.bytes(\.y, "y")) else {
                throw JWTKeyProblem("\(jwk.title) has a point (x, y) that is not on its curve")
            }
            material = .key(key)
        }
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
        let key: PublicKey? = PEM(pem).flatMap { pem in
            switch pem.label {
            case "PUBLIC KEY": PublicKey(info: pem.bytes)
            case "RSA PUBLIC KEY": PublicKey(pkcs1: pem.bytes)
            default: nil
            }
        }
        guard let key else {
            throw JWTKeyProblem("it holds a key that is neither RSA nor on the curve P-256")
        }
        try JWTKeySize.check(key.kind, of: "the key")
        (algorithm, material) = (.init(key.kind), .key(key))
    }
}
