import CCrypto

/// HMAC-SHA-256: a code that only somebody who knows the key can make or check.
package enum MessageCode {
    package static let bytesCount = 32

    package static func make(over bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: bytesCount)
        let made = HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, nil)
        precondition(made != nil, "HMAC-SHA256 is in every OpenSSL and fails only for want of memory")
        return code
    }

    /// Compares in the same time wherever the two differ, so that nobody can find out a code byte by byte.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
