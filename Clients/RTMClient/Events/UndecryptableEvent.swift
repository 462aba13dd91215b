public import RTMModel

/// Something arrived that this client can't decrypt (E-4). A message is left out. A state or a metadata item
/// is shown with an empty value.
///
/// What of one frame fails for the same reason is one event.
public struct UndecryptableEvent: Sendable, Hashable {
    public enum Content: Sendable, Hashable, CaseIterable {
        case message, state, metadata
    }

    public var content: Content
    public var failure: DecryptionFailure
    /// How many messages or values.
    public var count: Int
    public var channelType: ChannelType
    /// The channel's name. For a message to a user and for a user's metadata, the user's id.
    public var channelName: String
    /// The user whom the server names as the sender. `nil` for several users, and for metadata.
    public var publisher: String?

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
