import ArgumentParser

struct ConnectionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection", abstract: "List the sessions of an app, as a backend does.",
        subcommands: [ConnectionListCommand.self])
}

struct ConnectionListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List sessions with their address, client and queue.",
        discussion: "They are in the order of their users. The key needs the scope moderate.")

    @Option(help: .init("Only users whose ids begin so.", valueName: "prefix"))
    var prefix: String?

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("connection list") { client, output in
            let connections = GatewayList(
                path: client.app("connections"), rows: "connections", query: ["prefix": prefix],
                kind: "connection",
                columns: { row, transcript in [row["user"]?.text] + Self.columns(of: row, transcript) },
                nothing: "there are no connections")
            try await connections.show(client, output, limit: list.limit)
        }
    }

    /// Without the user.
    static func columns(of connection: JSON, _ transcript: Transcript) -> [String?] {
        [
            connection["address"]?.text, connection["client"]?.text,
            connection["since"]?.time.map { "since \(transcript.time($0))" },
            connection.count("channels", "channel"),
            connection["queuedBytes"]?.int.flatMap { $0 > 0 ? "\($0) bytes wait" : nil },
        ]
    }
}
