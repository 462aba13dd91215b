import ArgumentParser
import RTMClient

struct PresenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "presence",
        abstract: "See who is in a channel and where a user is, and set states of this user.",
        discussion: """
            States are temporary: they are seen as long as their user is in the channel. So set and remove \
            subscribe the channel; set stays until it is interrupted.
            """,
        subcommands: [
            PresenceWhoCommand.self, PresenceWhereCommand.self, PresenceGetCommand.self,
            PresenceSetCommand.self, PresenceRemoveCommand.self, PresenceWatchCommand.self,
        ])
}

struct PresenceWhoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "who", abstract: "List the users of a channel.",
        discussion: "Quiet users are not listed. With --json: an object for each user, then one for all.")

    @Argument(help: "Name of the channel.")
    var channel: String

    @Flag(help: "The channel is a stream channel.")
    var stream = false

    @Flag(help: "List the states of each user, too.")
    var states = false

    @Flag(help: "Print only the number of users.")
    var count = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if count, states { throw ValidationError("give either --count or --states") }
    }

    func run() async throws {
        try await common.run {
            try await common.withClient(common.settings(), naming: [.channel(channel)]) { client in
                let total = try await count ? counted(client) : listed(client)
                if total == 0, !count { common.output.notice("nobody is in \(channel)") }
                try await common.output.result(
                    count ? "\(total)" : nil, "result", ["totalOccupancy": .number(total)])
            }
        }
    }

    private func counted(_ client: RTMClient) async throws -> Int {
        try await client.whoNow(in: channel, type: stream ? .stream : .message, includingUsers: false).total
    }

    private func listed(_ client: RTMClient) async throws -> Int {
        var total = 0
        let type: ChannelType = stream ? .stream : .message
        for try await user in client.onlineUsers(in: channel, type: type, includingStates: states) {
            total += 1
            let text = states ? "\(user.userID)\t\(user.states.text)" : user.userID
            try await common.output.result(text.visible, "user", user.json)
        }
        return total
    }
}

struct PresenceWhereCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "where", abstract: "List the channels that a user is in.")

    @Argument(help: "User id.")
    var userID: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run {
            try await common.withClient(common.settings(), naming: [.user(userID)]) { client in
                let channels = try await client.whereNow(userID)
                for channel in channels {
                    let mark = channel.type == .message ? "" : "\t(\(channel.type))"
                    try await common.output.result(
                        (channel.name + mark).visible, "channel", channel.json)
                }
                if channels.isEmpty { common.output.notice("\(userID) is in no channel") }
                try await common.output.result(nil, "result", ["totalChannel": .number(channels.count)])
            }
        }
    }
}

struct PresenceGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show the states of a user in a channel.")

    @Argument(help: "Name of the message channel.")
    var channel: String

    @Argument(help: "User id.")
    var userID: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run {
            try await common.withClient(common.settings(), naming: [.channel(channel), .user(userID)]) {
                client in
                let states = try await client.state(of: userID, in: channel)
                let user = UserState(userID: userID, states: states)
                if states.isEmpty { common.output.notice("\(userID) has no states in \(channel)") }
                try await common.output.result(
                    states.isEmpty ? nil : states.text.visible, "user", user.json)
            }
        }
    }
}
