public import Foundation
import RTMCryptography
public import RTMModel

/// A secret that users share, so that only they can read what they send each other through the server.
///
/// ```swift
/// var configuration = RTMClient.Configuration(appID: "demo", userID: "alice")
/// configuration.encryptionKeys = [try EncryptionKey("a long random text", salt: salt)]
/// ```
///
/// Everybody who is to read has to use the same secret, salt and mode. The secret never leaves the client,
/// and no description shows it. See docs/encryption.md.
public struct EncryptionKey: Sendable {
    /// The cipher, and how long its keys are.
    public enum Mode: UInt8, Sendable, CaseIterable {
        /// AES-GCM with a key of 128 bits.
        case aes128GCM = 1
        /// AES-GCM with a key of 256 bits.
        case aes256GCM = 2
    }

    /// The name of a key. It travels in each ciphertext, says nothing about the secret, and is the same for
    /// everybody who has the key.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }

        /// 16 hexadecimal digits.
        public var description: String {
            let digits = String(rawValue, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    /// Bytes of a salt (L-49).
    public static let saltBytes = 32
    /// Limit: keys that one client may have at a time.
    public static let keysMax = 16

    /// The name of the key, which travels with what it has encrypted.
    public let id: ID
    /// The cipher that the key is used with.
    public let mode: Mode
    /// What all other keys are derived from.
    let master: SecretKey

    /// - Parameters:
    ///   - secret: a text of any length but not empty. It should be random: 32 random bytes in base64 are
    ///     good. A word or a sentence can be guessed by whoever has one ciphertext.
    ///   - salt: 32 bytes, the same for everybody. They need not be secret.
    /// - Throws: `.invalidEncryptionParameter` (-10020) for an empty secret, or a salt of another length.
    public init(_ secret: String, salt: Data, mode: Mode = .aes256GCM) throws(RTMError) {
        guard !secret.isEmpty else { throw Self.invalid("the encryption key is empty") }
        guard salt.count == Self.saltBytes else {
            throw Self.invalid("the salt has \(salt.count) bytes, it must have \(Self.saltBytes)")
        }
        self.mode = mode
        master = KeySchedule.master(of: secret, salt: salt, mode)
        id = KeySchedule.id(of: master)
    }

    /// Checks the keys of a client.
    static func check(_ keys: [EncryptionKey], operation: String) throws(RTMError) {
        guard keys.count <= keysMax else {
            throw RTMError(
                .invalidEncryptionParameter,
                "there are \(keys.count) encryption keys, \(keysMax) are allowed",
                operation: operation, limit: .init(name: "encryption keys", value: UInt64(keysMax)))
        }
        guard Set(keys.map(\.id)).count == keys.count else {
            throw invalid("an encryption key occurs twice").with(operation: operation)
        }
    }

    private static func invalid(_ reason: String) -> RTMError {
        RTMError(.invalidEncryptionParameter, reason, operation: "init")
    }
}

extension EncryptionKey: Hashable {
    public static func == (one: EncryptionKey, other: EncryptionKey) -> Bool {
        one.id == other.id && one.master == other.master
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Whatever prints a configuration prints the name of a key, and not the key.
extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "EncryptionKey(\(id))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": id], displayStyle: .struct) }
}
