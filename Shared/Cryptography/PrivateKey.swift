/// A key that makes signatures. It may be used on several threads at a time.
package struct PrivateKey: Sendable {
    package let kind: KeyKind
    private let key: SignatureKey

    /// A key as PKCS #8, or in the own form of its kind (RFC 8017, RFC 5915). `nil` for another kind or form.
    package init?(_ bytes: [UInt8]) {
        var outer = DERReader(bytes)
        guard let content = outer.last(.sequence) else { return nil }
        var inner = DERReader(content)
        guard let version = inner.natural() else { return nil }
        guard version.isEmpty else {
            self.init(p256: bytes)
            return
        }
        guard let algorithm = inner.next(.sequence) else {
            self.init(pkcs1: bytes)
            return
        }
        guard let key = inner.next(.octetString), inner.isAtEnd || inner.last(.attributes) != nil else {
            return nil
        }
        if Array(algorithm) == DER.rsa {
            self.init(pkcs1: Array(key))
        } else {
            self.init(p256: bytes)
        }
    }

    private init?(pkcs1: [UInt8]) {
        guard let numbers = Self.numbers(of: pkcs1), let key = SignatureKey(rsaPrivate: pkcs1) else {
            return nil
        }
        kind = .rsa(bits: numbers.bits)
        self.key = key
    }

    private init?(p256 bytes: [UInt8]) {
        guard let key = SignatureKey(p256Private: bytes) else { return nil }
        kind = .p256
        self.key = key
    }

    /// - Returns: of ECDSA the numbers r and s, 32 bytes each (RFC 7518).
    /// - Throws: if the key can't be computed with.
    package func signature(over bytes: [UInt8]) throws(SignatureFailure) -> [UInt8] {
        guard let signature = key.signature(over: bytes) else { throw SignatureFailure() }
        return signature
    }

    private static func numbers(of pkcs1: [UInt8]) -> RSANumbers? {
        var outer = DERReader(pkcs1)
        guard let content = outer.last(.sequence) else { return nil }
        var inner = DERReader(content)
        guard inner.natural()?.isEmpty == true, let modulus = inner.natural(),
            let exponent = inner.natural()
        else { return nil }
        return RSANumbers(modulus: modulus, exponent: exponent)
    }
}

package struct SignatureFailure: Error, CustomStringConvertible {
    package var description: String { "the key can't sign: its numbers don't belong together" }
}
