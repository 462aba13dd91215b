import RTMModel

/// The kind of a channel: `message`, `stream`, or `user` (whose channel name is a user id).
public enum AgoraRtmChannelType: Int, Sendable, Hashable, CaseIterable {
    /// The type is unknown.
    case none = 0
    /// Everybody who has subscribed receives what is published.
    case message = 1
    /// A channel with topics, which users join.
    case stream = 2
    /// One user's inbox; the channel name is the user id.
    case user = 3
}

extension AgoraRtmChannelType {
    init(_ type: ChannelType) { self = AgoraRtmChannelType(rawValue: type.rawValue) ?? .none }

    /// The same kind for the client below.
    var kind: ChannelType { ChannelType(rawValue: rawValue) ?? .none }
}
