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

import Crypto
import Foundation
import RTMModel

/// The derivation of keys. Pure.
enum KeySchedule {
    private static let label = "heliograph/1 "
    private static let masterBytes = 32
    private static let idBytes = 8

    static func master(of secret: String, salt: Data, _ mode: EncryptionKey.Mode) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), salt: salt,
            info: Data((label + mode.name).utf8), outputByteCount: masterBytes)
    }

    static func id(of master: SymmetricKey) -> EncryptionKey.ID {
        let id = HKDF<SHA256>.expand(
            pseudoRandomKey: master, info: Data((label + "key id").utf8), outputByteCount: idBytes)
        return id.withUnsafeBytes { bytes in
            EncryptionKey.ID(rawValue: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        }
    }

    static func senderKey(
        of key: EncryptionKey, _ sender: SenderID, _ type: ChannelType, _ channel: String
    ) -> SenderKey {
        let info =
            Data((label + "sender").utf8) + [UInt8(truncatingIfNeeded: type.rawValue)] + Data(channel.utf8)
        let material = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.master, salt: sender.bytes, info: info,
            outputByteCount: key.mode.keyBytes + SenderKey.nonceBytes)
        return material.withUnsafeBytes { bytes in
            SenderKey(
                key: SymmetricKey(data: bytes.prefix(key.mode.keyBytes)),
                nonceSalt: Data(bytes.suffix(SenderKey.nonceBytes)))
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

    var bytes: Data {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) }
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
    static let nonceBytes = 12

    let key: SymmetricKey
    let nonceSalt: Data

    /// The counter in the last four bytes, mixed with bytes that only those who have the key know.
    func nonce(_ counter: UInt32) throws -> AES.GCM.Nonce {
        var nonce = nonceSalt
        for byte in 0..<4 {
            nonce[Self.nonceBytes - 1 - byte] ^= UInt8(truncatingIfNeeded: counter >> UInt32(8 * byte))
        }
        return try AES.GCM.Nonce(data: nonce)
    }
}
