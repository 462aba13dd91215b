#if !canImport(CryptoKit)
    import CCrypto

    /// A key of OpenSSL.
    ///
    /// Safety: a key doesn't change once it is made. OpenSSL lets several threads compute with one, and
    /// guards what it remembers of it.
    final class SignatureKey: @unchecked Sendable {
        private let key: OpaquePointer
        /// OpenSSL has signatures of ECDSA in DER.
        private let isP256: Bool

        private init?(_ made: OpaquePointer?, isP256: Bool) {
            guard let made else { return nil }
            key = made
            self.isP256 = isP256
        }

        deinit { EVP_PKEY_free(key) }

        convenience init?(rsaPublic pkcs1: [UInt8]) {
            self.init(Self.read(DER.publicKey(DER.rsa, pkcs1), d2i_PUBKEY), isP256: false)
        }

        /// Refuses what is no point of the curve.
        convenience init?(p256Public point: [UInt8]) {
            self.init(Self.read(DER.publicKey(DER.p256, [4] + point), d2i_PUBKEY), isP256: true)
        }

        convenience init?(rsaPrivate pkcs1: [UInt8]) {
            self.init(Self.read(pkcs1) { d2i_PrivateKey(EVP_PKEY_RSA, $0, $1, $2) }, isP256: false)
        }

        convenience init?(p256Private bytes: [UInt8]) {
            self.init(Self.read(bytes, d2i_AutoPrivateKey), isP256: true)
            var name = [CChar](repeating: 0, count: 16)
            guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC,
                EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1,
                name.prefix(while: { $0 != 0 }).elementsEqual("prime256v1".utf8.map(CChar.init))
            else { return nil }
        }

        func isValid(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
            guard let signature = isP256 ? P256Signature.der(of: signature) : signature else { return false }
            return withContext { context in
                EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
                    && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
            }
        }

        func signature(over bytes: [UInt8]) -> [UInt8]? {
            var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
            var count = signature.count
            let isMade = withContext { context in
                EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1
                    && EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
            }
            guard isMade else { return nil }
            signature.removeLast(signature.count - count)
            return isP256 ? P256Signature.raw(of: signature) : signature
        }

        private func withContext(_ body: (OpaquePointer?) -> Bool) -> Bool {
            withExtendedLifetime(self) {
                let context = EVP_MD_CTX_new()
                defer { EVP_MD_CTX_free(context) }
                return Primitives.leavingNoErrors { body(context) }
            }
        }

        /// Reads a whole array.
        private static func read(
            _ bytes: [UInt8],
            _ read: (UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int)
                -> OpaquePointer?
        ) -> OpaquePointer? {
            Primitives.leavingNoErrors {
                bytes.withUnsafeBufferPointer { buffer in
                    var end = buffer.baseAddress
                    guard let key = read(nil, &end, buffer.count) else { return nil }
                    guard end == buffer.baseAddress.map({ $0 + buffer.count }) else {
                        EVP_PKEY_free(key)
                        return nil
                    }
                    return key
                }
            }
        }
    }
#endif
