#if !canImport(CryptoKit)
    import CCrypto

    /// What OpenSSL computes, where there is no CryptoKit. Whoever calls has checked the sizes, so a call
    /// fails only for want of memory.
    enum Primitives {
        static func digest(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: MessageDigest.bytesCount)
            check(EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha256(), nil))
            return digest
        }

        /// - Parameter output: as many bytes as the hash has.
        static func code(
            over bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ hash: MessageCode.Hash,
            into output: UnsafeMutableRawBufferPointer
        ) {
            let made = HMAC(
                hash == .sha1 ? EVP_sha1() : EVP_sha256(), key.baseAddress, Int32(key.count),
                bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count,
                output.bindMemory(to: UInt8.self).baseAddress, nil)
            check(made == nil ? 0 : 1)
        }

        /// Compares as many bytes as both have.
        static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
            CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }

        /// Overwrites, which no compiler may leave out.
        static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
            OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        }

        /// A thread has one list of errors, which whoever else uses OpenSSL there reads, too.
        static func leavingNoErrors<Result>(_ body: () -> Result) -> Result {
            ERR_set_mark()
            defer { ERR_pop_to_mark() }
            return body()
        }

        private static func check(_ result: Int32) {
            precondition(result == 1, "this is in every OpenSSL, and fails only for want of memory")
        }
    }

    // MARK: AES-GCM

    extension Primitives {
        static func seal(
            _ plain: UnsafeBufferPointer<UInt8>, with key: SecretKey, nonce: [UInt8], context: [UInt8]
        ) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: plain.count + AESGCM.tagBytes) { output, count in
                withCipher(key, nonce, context, isSealing: true) { cipher in
                    update(cipher, output.baseAddress, plain)
                    var rest: Int32 = 0
                    let tag = output.baseAddress.map { $0 + plain.count }
                    check(EVP_EncryptFinal_ex(cipher, tag, &rest))
                    check(
                        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(AESGCM.tagBytes), tag))
                }
                count = plain.count + AESGCM.tagBytes
            }
        }

        static func open(
            _ sealed: UnsafeBufferPointer<UInt8>, with key: SecretKey, nonce: [UInt8], context: [UInt8]
        ) -> [UInt8]? {
            let ciphertext = UnsafeBufferPointer(rebasing: sealed.dropLast(AESGCM.tagBytes))
            var tag = Array(sealed.suffix(AESGCM.tagBytes))
            var isAuthentic = false
            let plain = [UInt8](unsafeUninitializedCapacity: ciphertext.count) { output, count in
                withCipher(key, nonce, context, isSealing: false) { cipher in
                    update(cipher, output.baseAddress, ciphertext)
                    check(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag))
                    var rest: Int32 = 0
                    var nothing: UInt8 = 0
                    isAuthentic = leavingNoErrors { EVP_DecryptFinal_ex(cipher, &nothing, &rest) == 1 }
                }
                // What isn't authentic is nobody's to see.
                if !isAuthentic { wipe(UnsafeMutableRawBufferPointer(output)) }
                count = isAuthentic ? ciphertext.count : 0
            }
            return isAuthentic ? plain : nil
        }

        private static func withCipher(
            _ key: SecretKey, _ nonce: [UInt8], _ context: [UInt8], isSealing: Bool,
            _ body: (OpaquePointer?) -> Void
        ) {
            let cipher = EVP_CIPHER_CTX_new()
            defer { EVP_CIPHER_CTX_free(cipher) }
            let algorithm = key.byteCount == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm()
            key.withUnsafeBytes { bytes in
                let bytes = bytes.bindMemory(to: UInt8.self).baseAddress
                check(EVP_CipherInit_ex(cipher, algorithm, nil, bytes, nonce, isSealing ? 1 : 0))
            }
            context.withUnsafeBufferPointer { update(cipher, nil, $0) }
            body(cipher)
        }

        /// Without an output the input is authenticated, and not encrypted.
        private static func update(
            _ cipher: OpaquePointer?, _ output: UnsafeMutablePointer<UInt8>?,
            _ input: UnsafeBufferPointer<UInt8>
        ) {
            guard !input.isEmpty else { return }
            var count: Int32 = 0
            check(EVP_CipherUpdate(cipher, output, &count, input.baseAddress, Int32(input.count)))
        }
    }
#endif
