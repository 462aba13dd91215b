#if canImport(CryptoKit)
    import CryptoKit
    import Foundation
    import Security

    /// A key of CryptoKit, or of Security, which has RSA.
    ///
    /// Safety: none of them changes once it is made, and all may be used on several threads at a time.
    final class SignatureKey: @unchecked Sendable {
        private enum Key {
            case rsa(SecKey)
            case p256Public(P256.Signing.PublicKey)
            case p256Private(P256.Signing.PrivateKey)
        }

        private let key: Key

        private init?(_ made: Key?) {
            guard let made else { return nil }
            key = made
        }

        convenience init?(rsaPublic pkcs1: [UInt8]) { self.init(Self.rsa(pkcs1, kSecAttrKeyClassPublic)) }

        /// Refuses what is no point of the curve.
        convenience init?(p256Public point: [UInt8]) {
            self.init((try? P256.Signing.PublicKey(rawRepresentation: point)).map(Key.p256Public))
        }

        convenience init?(rsaPrivate pkcs1: [UInt8]) { self.init(Self.rsa(pkcs1, kSecAttrKeyClassPrivate)) }

        convenience init?(p256Private bytes: [UInt8]) {
            self.init((try? P256.Signing.PrivateKey(derRepresentation: bytes)).map(Key.p256Private))
        }

        func isValid(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
            switch key {
            case .rsa(let key):
                SecKeyVerifySignature(
                    key, .rsaSignatureMessagePKCS1v15SHA256, Self.data(bytes), Self.data(signature), nil)
            case .p256Public(let key):
                (try? P256.Signing.ECDSASignature(rawRepresentation: signature))
                    .map { key.isValidSignature($0, for: bytes) } ?? false
            case .p256Private: false
            }
        }

        func signature(over bytes: [UInt8]) -> [UInt8]? {
            switch key {
            case .rsa(let key):
                SecKeyCreateSignature(key, .rsaSignatureMessagePKCS1v15SHA256, Self.data(bytes), nil)
                    .map { Array(Data(referencing: $0 as NSData)) }
            case .p256Private(let key): (try? key.signature(for: bytes)).map { Array($0.rawRepresentation) }
            case .p256Public: nil
            }
        }

        private static func rsa(_ pkcs1: [UInt8], _ part: CFString) -> Key? {
            let attributes: NSDictionary = [
                kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: part,
            ]
            return SecKeyCreateWithData(data(pkcs1), attributes as CFDictionary, nil).map(Key.rsa)
        }

        private static func data(_ bytes: [UInt8]) -> CFData { NSData(data: Data(bytes)) as CFData }
    }
#endif
