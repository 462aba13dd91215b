import ArgumentParser
import RTMAccessToken
import RTMModel

/// What the user of a new token may read and write.
struct PermissionOptions: ParsableArguments {
    @Option(help: .init("Message channel that the user may read; repeat it for others.", valueName: "name"))
    var readChannel: [String] = []

    @Option(help: .init("Message channel that the user may write; repeat it for others.", valueName: "name"))
    var writeChannel: [String] = []

    @Option(
        help: .init(
            "User whose metadata and channels the user may read; repeat it for others.", valueName: "id"))
    var readUser: [String] = []

    @Option(
        help: .init(
            "User whom the user may send messages, and whose metadata it may write; repeat it for others.",
            valueName: "id"))
    var writeUser: [String] = []
}

extension PermissionOptions {
    /// - Throws: `.invalidChannelName` (-10008) or `.invalidUserId` (-10006), because a name that no channel
    ///   and no user can have would permit nothing.
    func checkNames() throws(RTMError) {
        for channel in readChannel + writeChannel { try NameRule.channel.check(channel.utf8) }
        for user in readUser + writeUser { try NameRule.user.check(user.utf8) }
    }

    /// What the options list; nil if they list nothing, so that nothing is restricted.
    var lists: TokenPermissions? {
        let lists: [(TokenPermissions.Resource, [TokenPermissions.Access: [String]])] = [
            (.messageChannels, [.read: readChannel, .write: writeChannel]),
            (.users, [.read: readUser, .write: writeUser]),
        ]
        var permissions = TokenPermissions()
        for (resource, names) in lists {
            for (access, names) in names where !names.isEmpty {
                permissions.lists[resource.rawValue, default: [:]][access.rawValue] = names
            }
        }
        return permissions.lists.isEmpty ? nil : permissions
    }

    /// The service that lets the user log in. Only an RTM2 service has permissions, and it forbids what it
    /// doesn't list.
    func loginService(of userID: String) -> TokenService.Content {
        lists.map { .rtm2(user: userID, permissions: $0) } ?? .rtm(user: userID)
    }
}
