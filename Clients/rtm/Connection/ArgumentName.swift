import RTMClient

/// A name on the command line. It is checked before a connection is made, so a person who mistypes one needs
/// no server to learn of it.
enum ArgumentName: Sendable, Hashable {
    case channel(String)
    case user(String)
    case lock(String)

    /// - Throws: `.invalidChannelName` (-10008), `.invalidUserId` (-10006) or `.lockInvalidName` (-14005)
    ///   with the character or the length that isn't allowed.
    func check() throws(RTMError) {
        switch self {
        case .channel(let name): try NameRule.channel.check(name.utf8)
        case .user(let id): try NameRule.user.check(id.utf8)
        case .lock(let name): try NameRule.lock.check(name.utf8)
        }
    }
}

extension MessageDestination {
    var argument: ArgumentName {
        switch self {
        case .channel(let name): .channel(name)
        case .user(let id): .user(id)
        case .topic(_, let channel): .channel(channel)
        }
    }
}
