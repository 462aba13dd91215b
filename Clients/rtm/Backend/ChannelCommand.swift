import ArgumentParser

struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "List the channels of an app, and see one, as a backend does.",
        subcommands: [ChannelListCommand.self, ChannelShowCommand.self])
}

struct ChannelListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List channels that have subscribers, or had an entry lately.",
        discussion: "They are in the order of their names. The key needs the scope read.")

    @Option(help: .init("Only channels whose names begin so.", valueName: "prefix"))
    var prefix: String?

    @Flag(help: "List stream channels.")
    var stream = false

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("channel list") { client, output in
            let channels = GatewayList(
                path: client.app("channels"), rows: "channels",
                query: ["prefix": prefix, "type": stream ? "stream" : nil], kind: "channel",
                columns: { row, transcript in Self.columns(of: row, transcript) },
                nothing: "there are no channels")
            try await channels.show(client, output, limit: list.limit)
        }
    }

    static func columns(of channel: JSON, _ transcript: Transcript) -> [String?] {
        [
            channel["channel"]?.text, channel.count("subscribers", "subscriber"),
            channel["offset"]?.int.map { $0 == 0 ? "no message" : "newest message \($0)" },
            channel["active"]?.time.map { "active \(transcript.time($0))" },
        ]
    }
}

struct ChannelShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show how many are in a channel, and its newest message's position.",
        discussion: "The key needs the scope read.")

    @Argument(help: "Name of the channel.")
    var channel: String

    @Flag(help: "The channel is a stream channel.")
    var stream = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("channel show", naming: [.channel(channel)]) { client, output in
            let row = try await client.get(
                client.app("channels", channel), ["type": stream ? "stream" : nil])
            try await output.row(
                ChannelListCommand.columns(of: row, output.transcript) + [row.count("members", "user")],
                "channel", row)
            output.noticeMissing(row["edges"])
        }
    }
}
