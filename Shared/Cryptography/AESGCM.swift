/// AES-GCM: encrypts, and finds what was changed. One key may never see the same nonce twice.
package enum AESGCM {
    package static let nonceBytes = 12
    package static let tagBytes = 16

    /// - Parameters:
    ///   - key: 16 or 32 bytes.
    ///   - context: what isn't encrypted, and has to be the same when it is opened.
    /// - Returns: the ciphertext, and behind it the tag.
    package static func seal(
        _ plain: some Collection<UInt8>, with key: SecretKey, nonce: [UInt8], context: [UInt8] = []
    ) -> [UInt8] {
        check(key)
        precondition(nonce.count == nonceBytes, "a nonce of AES-GCM has \(nonceBytes) bytes")
        return plain.withBytes { Primitives.seal($0, with: key, nonce: nonce, context: context) }
    }

    /// - Parameter sealed: the ciphertext, and behind it the tag.
    /// - Returns: `nil` if this isn't what somebody has sealed with the same key, nonce and context.
    package static func open(
        _ sealed: some Collection<UInt8>, with key: SecretKey, nonce: [UInt8], context: [UInt8] = []
    ) -> [UInt8]? {
        check(key)
        guard nonce.count == nonceBytes, sealed.count >= tagBytes else { return nil }
        return sealed.withBytes { Primitives.open($0, with: key, nonce: nonce, context: context) }
    }

    private static func check(_ key: SecretKey) {
        precondition(key.byteCount == 16 || key.byteCount == 32, "a key of AES-GCM has 16 or 32 bytes here")
    }
}
