import ArgumentParser

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List what holders of API keys and operators have changed, or tried to change.",
        discussion: """
            The newest come first: when, the key, the address that it called from, what, whom, and the outcome. \
            The key needs the scope admin for all channels.
            """)

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("audit") { client, output in
            let audit = GatewayList(
                path: client.app("audit"), rows: "audit", next: ("nextAfter", "after"), kind: "audit",
                columns: { row, transcript in
                    [
                        row["time"]?.time.map(transcript.time), row["by"]?.text, row["address"]?.text,
                        row["what"]?.text, row["whom"]?.text, row["outcome"]?.text,
                        row["omitted"]?.int.map { "\($0) more of these were left out" },
                    ]
                }, nothing: "nothing has been changed")
            try await audit.show(client, output, limit: list.limit)
        }
    }
}
