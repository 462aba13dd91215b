import CCrypto

/// HMAC: a code that only somebody who knows the key can make or check.
package enum MessageCode {
    package enum Hash {
        /// Only for what others have defined with it.
        case sha1
        case sha256
    }

    package static let bytesCount = 32

    package static func make(over bytes: [UInt8], key: [UInt8], _ hash: Hash = .sha256) -> [UInt8] {
        let (function, count) = hash == .sha1 ? (EVP_sha1(), 20) : (EVP_sha256(), bytesCount)
        var code = [UInt8](repeating: 0, count: count)
        let made = HMAC(function, key, Int32(key.count), bytes, bytes.count, &code, nil)
        precondition(made != nil, "HMAC is in every OpenSSL and fails only for want of memory")
        return code
    }

    /// Compares in the same time wherever the two differ, so that nobody can find out a code byte by byte.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
