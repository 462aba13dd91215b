import ArgumentParser

struct ConnectionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection", abstract: "List the sessions of an app, as a backend does.",
        subcommands: [ConnectionListCommand.self])
}

struct ConnectionListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List sessions with their address, client and queue.",
        discussion: """
            They are in the order of their users. By queue, those for which the most waits come first, and one \
            whose queue changes meanwhile may be missing or be there twice. The key needs the scope moderate.
            """)

    @Option(help: .init("Only users whose ids begin so.", valueName: "prefix"))
    var prefix: String?

    @Option(help: .init("Only sessions of this user.", valueName: "user"))
    var user: String?

    @Option(help: .init("Only the session of this number.", valueName: "number"))
    var session: UInt64?

    @Flag(help: "Those for which the most waits first.")
    var byQueue = false

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let query = [
            "prefix": prefix, "user": user, "session": session.map(String.init),
            "order": byQueue ? "queued" : nil,
        ]
        try await gateway.run("connection list") { client, output in
            let connections = GatewayList(
                path: client.app("connections"), rows: "connections", query: query,
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
