/// Why a content could not be decrypted.
public struct DecryptionFailure: Error, Sendable, Hashable {
    /// Why a content can't be decrypted.
    public enum Reason: Sendable, Hashable, CaseIterable {
        /// The content is not encrypted. A client with keys doesn't accept it: everybody who reaches the
        /// server could have sent it.
        case notEncrypted
        /// A newer client encrypted it in a manner that this one doesn't know.
        case newerVersion
        /// It was encrypted with a key that this client doesn't have.
        case unknownKey
        /// It was changed on its way, or comes from another app, channel, publisher or item.
        case notAuthentic
        /// The message was delivered before.
        case replayed
    }

    /// Why it can't be decrypted.
    public var reason: Reason
    /// The key that the content names. `nil` if it names none.
    public var keyID: EncryptionKey.ID?

    /// Makes the value, as tests of apps do.
    public init(_ reason: Reason, _ keyID: EncryptionKey.ID? = nil) {
        self.reason = reason
        self.keyID = keyID
    }
}
