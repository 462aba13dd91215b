import Foundation
import RTMCryptography
package import RTMModel

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

/// The bytes of a sealed content.
enum SealedContent {
    /// What a content grows by.
    static let overhead = SealHeader.byteCount + AESGCM.tagBytes

    /// The ciphertext and the tag.
    static func body(of sealed: Data) -> Data { sealed.dropFirst(SealHeader.byteCount) }
}

/// Where a content belongs. All of it is authenticated, so that a ciphertext that is moved to another context
/// can't be opened there. Pure.
package struct ContentContext: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        case message = 1
        case state = 2
        case metadata = 3
    }

    package var kind: Kind
    package var channelType: ChannelType
    /// For a message to a user and for a user's metadata, the user's id.
    package var channelName: String
    /// The user id of the one who encrypted.
    package var publisher: String
    /// The key of a state or of a metadata item, and the custom type of a message.
    package var item: String

    package init(
        _ kind: Kind, _ channelType: ChannelType, _ channelName: String, publisher: String, item: String
    ) {
        self.kind = kind
        self.channelType = channelType
        self.channelName = channelName
        self.publisher = publisher
        self.item = item
    }

    /// The bytes that are authenticated beside the ciphertext. Each name follows its length, so that no two
    /// contexts have the same bytes.
    func additionalData(after header: SealHeader, appID: String) -> [UInt8] {
        var bytes: [UInt8] = []
        let names = appID.utf8.count + channelName.utf8.count + publisher.utf8.count + item.utf8.count
        bytes.reserveCapacity(SealHeader.byteCount + 10 + names)
        header.append(to: &bytes)
        bytes.append(kind.rawValue)
        bytes.append(UInt8(truncatingIfNeeded: channelType.rawValue))
        Self.append(appID, to: &bytes)
        Self.append(channelName, to: &bytes)
        Self.append(publisher, to: &bytes)
        Self.append(item, to: &bytes)
        return bytes
    }

    private static func append(_ name: String, to bytes: inout [UInt8]) {
        let count = UInt16(clamping: name.utf8.count)
        bytes.append(UInt8(count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: count))
        bytes.append(contentsOf: name.utf8)
    }
}

/// How many bytes a content may have, so that it is within the limits of the server once it is encrypted.
/// Pure.
///
/// The server measures what travels, because it can measure nothing else. So with encryption the app has a
/// little less (L-20, L-14, L-36).
struct ContentSize: Sendable {
    var isSealed = false

    /// What a refusal says beside the numbers.
    var remark: String { isSealed ? " with encryption" : "" }

    /// The most bytes that a message may have.
    func messageMax(within limit: Int) -> Int { isSealed ? limit - SealedContent.overhead : limit }

    /// The most bytes that a text may have.
    ///
    /// - Parameter author: whose name travels beside a metadata item.
    func textMax(within limit: Int, author: String? = nil) -> Int {
        isSealed ? limit / 4 * 3 - Self.overhead(author) : limit
    }

    /// The bytes of a text on the wire.
    func text(_ byteCount: Int, author: String? = nil) -> Int {
        isSealed ? (byteCount + Self.overhead(author) + 2) / 3 * 4 : byteCount
    }

    private static func overhead(_ author: String?) -> Int {
        SealedContent.overhead + (author.map { 1 + $0.utf8.count } ?? 0)
    }
}
