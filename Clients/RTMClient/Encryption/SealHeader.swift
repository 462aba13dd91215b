import Foundation

/// What stands in the clear in front of each ciphertext: which key, which sender, and which of its nonces.
///
/// | bytes | content |
/// |---|---|
/// | 1 | 248 and the version, which is 1. No text in UTF-8 has such a byte |
/// | 1 | the mode, and 16 more for a binary message |
/// | 8 | the id of the key |
/// | 16 | the id of the sender |
/// | 4 | the counter |
///
/// Numbers have their most significant byte first. The whole header is authenticated. Pure.
struct SealHeader: Sendable, Hashable {
    static let byteCount = 30
    private static let mark: UInt8 = 0xF8
    private static let version: UInt8 = 1
    private static let binary: UInt8 = 0x10

    var mode: EncryptionKey.Mode
    var isText: Bool
    var keyID: EncryptionKey.ID
    var sender: SenderID
    var counter: UInt32

    func append(to bytes: inout [UInt8]) {
        bytes.append(Self.mark | Self.version)
        bytes.append(mode.rawValue | (isText ? 0 : Self.binary))
        Self.append(keyID.rawValue, to: &bytes)
        Self.append(sender.high, to: &bytes)
        Self.append(sender.low, to: &bytes)
        Self.append(counter, to: &bytes)
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension SealHeader {
    init(
        mode: EncryptionKey.Mode, of payload: MessagePayload, keyID: EncryptionKey.ID, sender: SenderID,
        counter: UInt32
    ) {
        let isText = if case .text = payload { true } else { false }
        self.init(mode: mode, isText: isText, keyID: keyID, sender: sender, counter: counter)
    }

    /// - Throws: `notEncrypted` for bytes that no client has sealed, `newerVersion` for those of a client
    ///   that is newer than this one.
    init(decoding sealed: Data) throws(DecryptionFailure) {
        guard sealed.count >= SealedContent.overhead, let first = sealed.first,
            first & Self.mark == Self.mark
        else { throw DecryptionFailure(.notEncrypted) }
        guard first == Self.mark | Self.version else { throw DecryptionFailure(.newerVersion) }
        let header: SealHeader? = sealed.withUnsafeBytes { bytes in
            guard let mode = EncryptionKey.Mode(rawValue: bytes[1] & ~Self.binary) else { return nil }
            return SealHeader(
                mode: mode, isText: bytes[1] & Self.binary == 0,
                keyID: EncryptionKey.ID(rawValue: Self.number(bytes, at: 2)),
                sender: SenderID(high: Self.number(bytes, at: 10), low: Self.number(bytes, at: 18)),
                counter: Self.number(bytes, at: 26))
        }
        guard let header else { throw DecryptionFailure(.newerVersion) }
        self = header
    }

    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> Number {
        Number(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
