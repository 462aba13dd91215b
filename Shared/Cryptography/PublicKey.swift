// Signatures of RSA (PKCS #1 v1.5 with SHA-256) and of ECDSA on the curve P-256 with SHA-256. What a key may
// look like is decided here, alike on all platforms; OpenSSL or CryptoKit compute with it.

/// What a key of signatures is.
package enum KeyKind: Sendable, Hashable {
    case rsa(bits: Int)
    case p256
}

/// A key that checks signatures. It may be used on several threads at a time.
package struct PublicKey: Sendable {
    package let kind: KeyKind
    private let key: SignatureKey

    /// A key of RSA. `nil` for numbers that are none, or that make the checking of a signature slow.
    ///
    /// The numbers are big-endian.
    package init?(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) {
        guard let numbers = RSANumbers(modulus: modulus, exponent: exponent),
            let key = SignatureKey(rsaPublic: numbers.publicKey)
        else { return nil }
        self.kind = .rsa(bits: numbers.bits)
        self.key = key
    }

    /// A key on the curve P-256. `nil` for what is no point of it.
    package init?(x: [UInt8], y: [UInt8]) {
        guard x.count == P256Signature.numberBytes, y.count == P256Signature.numberBytes,
            let key = SignatureKey(p256Public: x + y)
        else { return nil }
        self.kind = .p256
        self.key = key
    }

    /// A key in the form of X.509 (`SubjectPublicKeyInfo`, in PEM "PUBLIC KEY").
    package init?(info: [UInt8]) {
        var outer = DERReader(info)
        guard let content = outer.last(.sequence) else { return nil }
        var inner = DERReader(content)
        guard let algorithm = inner.next(.sequence), let bits = inner.last(.bitString), bits.first == 0
        else { return nil }
        let key = Array(bits.dropFirst())
        switch Array(algorithm) {
        case DER.rsa: self.init(pkcs1: key)
        case DER.p256:
            // The point as it is, which begins with 4, and not compressed.
            guard key.first == 4, key.count == 1 + 2 * P256Signature.numberBytes else { return nil }
            self.init(x: Array(key[1...32]), y: Array(key[33...]))
        default: return nil
        }
    }

    /// A key of RSA in its own form (RFC 8017, in PEM "RSA PUBLIC KEY").
    package init?(pkcs1: [UInt8]) {
        var outer = DERReader(pkcs1)
        guard let content = outer.last(.sequence) else { return nil }
        var inner = DERReader(content)
        guard let modulus = inner.natural(), let exponent = inner.natural(), inner.isAtEnd else {
            return nil
        }
        self.init(modulus: modulus, exponent: exponent)
    }

    /// - Parameter signature: of ECDSA the numbers r and s, 32 bytes each (RFC 7518).
    package func isValid(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
        key.isValid(signature, over: bytes)
    }
}

/// The public numbers of a key of RSA.
struct RSANumbers {
    /// Limit: the bits of a modulus. The time of a check grows with their square.
    private static let bitsMax = 8192
    /// Limit: the bits of an exponent, with which the time of a check grows. Nearly all keys have 17.
    private static let exponentBitsMax = 33

    private let modulus: [UInt8]
    private let exponent: [UInt8]
    let bits: Int

    /// `nil` unless both are odd, the exponent is at least 3, and neither is too long.
    init?(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) {
        self.modulus = Array(modulus.drop { $0 == 0 })
        self.exponent = Array(exponent.drop { $0 == 0 })
        bits = Self.bits(of: self.modulus)
        guard let last = self.modulus.last, last & 1 == 1, bits <= Self.bitsMax,
            let end = self.exponent.last, end & 1 == 1,
            2...Self.exponentBitsMax ~= Self.bits(of: self.exponent)
        else { return nil }
    }

    /// In the form of RFC 8017.
    var publicKey: [UInt8] { DER.element(.sequence, DER.natural(modulus) + DER.natural(exponent)) }

    private static func bits(of number: [UInt8]) -> Int {
        number.count * 8 - (number.first?.leadingZeroBitCount ?? 0)
    }
}

/// A signature of ECDSA on the curve P-256: two numbers.
enum P256Signature {
    static let numberBytes = 32

    /// `nil` for another length than two numbers have.
    static func der(of raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 2 * numberBytes else { return nil }
        return DER.element(
            .sequence, DER.natural(raw.prefix(numberBytes)) + DER.natural(raw.suffix(numberBytes)))
    }

    static func raw(of der: [UInt8]) -> [UInt8]? {
        var outer = DERReader(der)
        guard let content = outer.last(.sequence) else { return nil }
        var inner = DERReader(content)
        guard let r = inner.natural(), let s = inner.natural(), inner.isAtEnd,
            r.count <= numberBytes, s.count <= numberBytes
        else { return nil }
        return [r, s].flatMap { [UInt8](repeating: 0, count: numberBytes - $0.count) + $0 }
    }
}
