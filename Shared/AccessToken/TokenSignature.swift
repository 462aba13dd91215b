import CCrypto

/// The signature over a token's bytes.
enum TokenSignature {
    static let bytesCount = 32

    /// Issue time and salt are the *keys* with which the certificate is hashed, as little-endian bytes; they
    /// are not the data.
    static func make(
        over signed: some Sequence<UInt8>, issuedAt: UInt32, salt: UInt32, certificate: String
    ) -> [UInt8] {
        let byTime = hmac(key: littleEndian(issuedAt), Array(certificate.utf8))
        return hmac(key: hmac(key: littleEndian(salt), byTime), Array(signed))
    }

    /// Compares in the same time wherever the two differ, so that nobody can find out a signature byte by
    /// byte.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func hmac(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: bytesCount)
        let made = HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, nil)
        precondition(made != nil, "HMAC-SHA256 is in every OpenSSL and fails only for want of memory")
        return code
    }
}
