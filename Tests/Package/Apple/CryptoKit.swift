// What RTMCryptography uses of Apple's CryptoKit, as its documents declare it, so that the branches for
// Apple's platforms can be type-checked where the framework is missing. Nothing here does anything.

public import Foundation

public struct SymmetricKey: ContiguousBytes, Sendable {
    public init(data: some ContiguousBytes) {}
    public func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result { try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
}

public protocol Digest: Hashable, ContiguousBytes, Sequence<UInt8>, Sendable {}

public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

public struct SHA256: HashFunction {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
}

public struct SHA256Digest: Digest {
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
    public func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result { try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
}

public enum Insecure {
    public struct SHA1: HashFunction {
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
        public func finalize() -> SHA256Digest { SHA256Digest() }
    }
}

public struct HashedAuthenticationCode<H: HashFunction>: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
}

public struct HMAC<H: HashFunction>: Sendable {
    public static func authenticationCode(
        for data: some DataProtocol, using key: SymmetricKey
    ) -> HashedAuthenticationCode<H> { HashedAuthenticationCode() }
}

public enum AES {
    public enum GCM {
        public struct Nonce: Sendable {
            public init(data: some DataProtocol) throws {}
        }

        public struct SealedBox: Sendable {
            public init(nonce: Nonce, ciphertext: some DataProtocol, tag: some DataProtocol) throws {}
            public var ciphertext: Data { Data() }
            public var tag: Data { Data() }
        }

        public static func seal(
            _ message: some DataProtocol, using key: SymmetricKey, nonce: Nonce? = nil,
            authenticating authenticatedData: some DataProtocol
        ) throws -> SealedBox { try SealedBox(nonce: Nonce(data: Data()), ciphertext: Data(), tag: Data()) }

        public static func open(
            _ sealedBox: SealedBox, using key: SymmetricKey,
            authenticating authenticatedData: some DataProtocol
        ) throws -> Data { Data() }
    }
}

public enum P256: Sendable {
    public enum Signing: Sendable {
        public struct ECDSASignature: Sendable {
            public init(rawRepresentation: some DataProtocol) throws {}
            public var rawRepresentation: Data { Data() }
        }

        public struct PublicKey: Sendable {
            public init(rawRepresentation: some ContiguousBytes) throws {}
            public func isValidSignature(_ signature: ECDSASignature, for data: some DataProtocol) -> Bool {
                false
            }
        }

        public struct PrivateKey: Sendable {
            public init(derRepresentation: some RandomAccessCollection<UInt8>) throws {}
            public func signature(for data: some DataProtocol) throws -> ECDSASignature {
                try ECDSASignature(rawRepresentation: Data())
            }
        }
    }
}

// MARK: Of the C library, which Foundation brings with it there

// swift-format-ignore: AlwaysUseLowerCamelCase
public func timingsafe_bcmp(
    _ left: UnsafeRawPointer?, _ right: UnsafeRawPointer?, _ count: Int
) -> Int32 { 0 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@discardableResult
public func memset_s(
    _ bytes: UnsafeMutableRawPointer, _ size: Int, _ value: Int32, _ count: Int
) -> Int32 { 0 }
