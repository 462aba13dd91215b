public import RTMModel

/// Whose metadata a call or an event is about: a channel's or a user's. Each has one set (D-1).
public enum MetadataTarget: Sendable, Hashable {
    /// `type` is `message` or `stream`. The same name with another type is another channel (L-6).
    case channel(String, type: ChannelType = .message)
    /// A user by id. An empty id means the client's own user (D-16).
    case user(String)

    /// The metadata of the client's own user.
    public static let ownUser = MetadataTarget.user("")
}

extension MetadataTarget {
    /// - Throws: `.invalidChannelType` (-10019) for a type that has no metadata (D-14), `.invalidChannelName`
    ///   (-10008) or `.invalidUserId` (-10006) for a bad name.
    func check() throws(RTMError) {
        switch self {
        case .channel(let name, let type):
            try type.checkHasStorage()
            try NameRule.channel.check(name.utf8)
        case .user(let id):
            if !id.isEmpty { try NameRule.user.check(id.utf8) }
        }
    }

    /// Names the client's own user by its id.
    func resolved(for ownUserID: String) -> MetadataTarget { self == .ownUser ? .user(ownUserID) : self }

    /// On the wire a user's metadata have the channel type none.
    var channelType: ChannelType {
        switch self {
        case .channel(_, let type): type
        case .user: .none
        }
    }

    var name: String {
        switch self {
        case .channel(let name, _): name
        case .user(let id): id
        }
    }

    /// Its key in the table of subscriptions.
    var id: ChannelID { ChannelID(type: channelType, name: name) }

    init(_ id: ChannelID) {
        self = id.type == .none ? .user(id.name) : .channel(id.name, type: id.type)
    }
}
