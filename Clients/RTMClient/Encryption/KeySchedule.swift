// Which key a content is encrypted with, and why no nonce comes twice (E-6).
//
//     secret, salt, mode ──HKDF──▶ master ──HKDF──▶ key id (8 bytes, travels with each ciphertext)
//                                     │
//                  sender id, channel └──HKDF──▶ key and nonce salt of one sender in one channel
//
// A sender is one client object, with 16 random bytes for its name. It counts what it encrypts, and the
// counter is the nonce. So two ciphertexts share key and nonce only if two clients drew the same 128 bits. A
// client that is started again has another name, and needs to remember nothing.
//
// The model is SFrame (RFC 9605). docs/encryption.md has the bytes, and protocol/encryption known answers.

import Foundation
import RTMCryptography
import RTMModel

/// The derivation of keys. Pure.
enum KeySchedule {
    private static let label = "heliograph/1 "
    private static let masterBytes = 32
    private static let idBytes = 8

    static func master(of secret: String, salt: Data, _ mode: EncryptionKey.Mode) -> SecretKey {
        KeyDerivation.derive(
            from: SecretKey(secret.utf8), salt: Array(salt), info: Array((label + mode.name).utf8),
            byteCount: masterBytes)
    }

    static func id(of master: SecretKey) -> EncryptionKey.ID {
        let id = KeyDerivation.expand(master, info: Array((label + "key id").utf8), byteCount: idBytes)
        return id.withUnsafeBytes { bytes in
            EncryptionKey.ID(rawValue: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        }
    }

    static func senderKey(
        of key: EncryptionKey, _ sender: SenderID, _ type: ChannelType, _ channel: String
    ) -> SenderKey {
        let info = Array((label + "sender").utf8) + [UInt8(truncatingIfNeeded: type.rawValue)] + channel.utf8
        let material = KeyDerivation.derive(
            from: key.master, salt: sender.bytes, info: info,
            byteCount: key.mode.keyBytes + AESGCM.nonceBytes)
        return material.withUnsafeBytes { bytes in
            SenderKey(
                key: SecretKey(bytes.prefix(key.mode.keyBytes)),
                nonceSalt: Array(bytes.suffix(AESGCM.nonceBytes)))
        }
    }
}

extension EncryptionKey.Mode {
    fileprivate var name: String {
        switch self {
        case .aes128GCM: "AES-128-GCM"
        case .aes256GCM: "AES-256-GCM"
        }
    }

    fileprivate var keyBytes: Int {
        switch self {
        case .aes128GCM: 16
        case .aes256GCM: 32
        }
    }
}

/// The random name of one sender.
struct SenderID: Sendable, Hashable {
    var high: UInt64
    var low: UInt64

    static func random(using random: inout some RandomNumberGenerator) -> SenderID {
        SenderID(high: random.next(), low: random.next())
    }

    var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
}

/// One sender in one channel, under one key.
struct SenderChannel: Sendable, Hashable {
    let keyID: EncryptionKey.ID
    let sender: SenderID
    let channelType: UInt8
    let channelName: String

    init(_ header: SealHeader, _ context: ContentContext) {
        keyID = header.keyID
        sender = header.sender
        channelType = UInt8(truncatingIfNeeded: context.channelType.rawValue)
        channelName = context.channelName
    }
}

/// What one sender encrypts with in one channel.
struct SenderKey: Sendable {
    let key: SecretKey
    let nonceSalt: [UInt8]

    /// The counter in the last four bytes, mixed with bytes that only those who have the key know.
    func nonce(_ counter: UInt32) -> [UInt8] {
        var nonce = nonceSalt
        for byte in 0..<4 {
            nonce[AESGCM.nonceBytes - 1 - byte] ^= UInt8(truncatingIfNeeded: counter >> UInt32(8 * byte))
        }
        return nonce
    }
}
