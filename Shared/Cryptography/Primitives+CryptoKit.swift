#if canImport(CryptoKit)
    import CryptoKit
    import Foundation

    /// What CryptoKit computes, on Apple's platforms.
    enum Primitives {
        static func digest(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
            var hash = SHA256()
            hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
            return Array(hash.finalize())
        }

        /// - Parameter output: as many bytes as the hash has.
        static func code(
            over bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ hash: MessageCode.Hash,
            into output: UnsafeMutableRawBufferPointer
        ) {
            let (bytes, key) = (Data(bytes), SymmetricKey(data: key))
            let code =
                switch hash {
                case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
                case .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
                }
            output.copyBytes(from: code)
        }

        /// Compares as many bytes as both have.
        static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
            timingsafe_bcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }

        /// Overwrites, which no compiler may leave out.
        static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
            guard let start = bytes.baseAddress else { return }
            memset_s(start, bytes.count, 0, bytes.count)
        }

        static func seal(
            _ plain: UnsafeBufferPointer<UInt8>, with key: SecretKey, nonce: [UInt8], context: [UInt8]
        ) -> [UInt8] {
            do {
                let box = try AES.GCM.seal(
                    Data(plain), using: SymmetricKey(key), nonce: AES.GCM.Nonce(data: nonce),
                    authenticating: context)
                return Array(box.ciphertext + box.tag)
            } catch {
                preconditionFailure("AES-GCM takes every content with a key and a nonce of the right sizes")
            }
        }

        static func open(
            _ sealed: UnsafeBufferPointer<UInt8>, with key: SecretKey, nonce: [UInt8], context: [UInt8]
        ) -> [UInt8]? {
            let plain = try? AES.GCM.open(
                AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: nonce), ciphertext: Data(sealed.dropLast(AESGCM.tagBytes)),
                    tag: Data(sealed.suffix(AESGCM.tagBytes))),
                using: SymmetricKey(key), authenticating: context)
            return plain.map { Array($0) }
        }
    }

    extension SymmetricKey {
        fileprivate init(_ key: SecretKey) {
            self = key.withUnsafeBytes { SymmetricKey(data: $0) }
        }
    }
#endif
