import CCrypto

/// SHA-256: a short name of bytes that everybody computes alike.
package enum MessageDigest {
    package static let bytesCount = 32

    package static func make(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: bytesCount)
        let isMade = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        precondition(isMade == 1, "SHA-256 is in every OpenSSL and fails only for want of memory")
        return digest
    }
}
