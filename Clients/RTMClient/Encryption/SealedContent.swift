import Foundation

/// The bytes of a sealed content.
enum SealedContent {
    private static let tagBytes = 16
    /// What a content grows by.
    static let overhead = SealHeader.byteCount + tagBytes

    static func ciphertext(of sealed: Data) -> Data {
        sealed.dropFirst(SealHeader.byteCount).dropLast(tagBytes)
    }

    static func tag(of sealed: Data) -> Data { sealed.suffix(tagBytes) }
}
