public import RTMModel

/// Something arrived that this client can't decrypt (E-4). A message is left out. A state or a metadata item
/// is shown with an empty value.
///
/// What of one frame fails for the same reason is one event.
public struct UndecryptableEvent: Sendable, Hashable {
    /// What it was that can't be decrypted.
    public enum Content: Sendable, Hashable, CaseIterable {
        /// A message.
        case message
        /// A temporary state of a user.
        case state
        /// A value of metadata.
        case metadata
    }

    /// What it was.
    public var content: Content
    /// Why it can't be decrypted, and which key it would take.
    public var failure: DecryptionFailure
    /// How many messages or values.
    public var count: Int
    /// The type of the channel that it came from.
    public var channelType: ChannelType
    /// The channel's name. For a message to a user and for a user's metadata, the user's id.
    public var channelName: String
    /// The user whom the server names as the sender. `nil` for several users, and for metadata.
    public var publisher: String?

    /// Makes the value, as tests of apps do.
    public init(
        content: Content, failure: DecryptionFailure, count: Int = 1, channelType: ChannelType,
        channelName: String, publisher: String?
    ) {
        self.content = content
        self.failure = failure
        self.count = count
        self.channelType = channelType
        self.channelName = channelName
        self.publisher = publisher
    }
}

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
