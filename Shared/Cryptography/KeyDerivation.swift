/// HKDF with SHA-256 (RFC 5869): many keys of one secret, of which none says anything about another.
///
/// Written over HMAC, because OpenSSL's own bounds `info`, and each version in another way.
package enum KeyDerivation {
    /// Limit: how many bytes HKDF has to give.
    package static let bytesMax = 255 * MessageCode.bytesCount

    /// Extracts and expands, for a secret of any form.
    package static func derive(
        from secret: SecretKey, salt: [UInt8], info: [UInt8], byteCount: Int
    ) -> SecretKey {
        expand(code(over: secret, key: SecretKey(salt)), info: info, byteCount: byteCount)
    }

    /// Expands alone, for a key that is as good as random.
    package static func expand(_ key: SecretKey, info: [UInt8], byteCount: Int) -> SecretKey {
        precondition(1...bytesMax ~= byteCount, "HKDF gives 1 to \(bytesMax) bytes")
        return SecretKey(byteCount: byteCount) { output in
            var block = SecretKey([])
            for (number, start) in stride(from: 0, to: byteCount, by: MessageCode.bytesCount).enumerated() {
                block = code(over: block.followed(by: info + [UInt8(number + 1)]), key: key)
                block.withUnsafeBytes { bytes in
                    let part = bytes.prefix(byteCount - start)
                    output[start..<start + part.count].copyBytes(from: part)
                }
            }
        }
    }

    private static func code(over message: SecretKey, key: SecretKey) -> SecretKey {
        SecretKey(byteCount: MessageCode.bytesCount) { code in
            message.withUnsafeBytes { message in
                key.withUnsafeBytes { Primitives.code(over: message, key: $0, .sha256, into: code) }
            }
        }
    }
}

extension SecretKey {
    fileprivate func followed(by bytes: [UInt8]) -> SecretKey {
        withUnsafeBytes { own in
            SecretKey(byteCount: own.count + bytes.count) { both in
                both.copyBytes(from: own)
                both[own.count...].copyBytes(from: bytes)
            }
        }
    }
}
