import ArgumentParser

struct NodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "See how the nodes of the installation are, as its operator does.",
        discussion: "The key has to be one for all apps with the scope admin.",
        subcommands: [NodeListCommand.self, NodeIncidentsCommand.self, NodeConfigurationCommand.self])
}

struct NodeListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all nodes with their state, load and refusals.",
        discussion: """
            Counts are since the process began. The gateway asks the nodes that gateway.nodes names. \
            --json shows all that they report.
            """)

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("node list") { client, output in
            let nodes = GatewayList(
                path: .global("nodes"), rows: "nodes", takesLimit: false, kind: "node",
                columns: { row, transcript in Self.columns(of: row, transcript) },
                nothing: "there are no nodes")
            try await nodes.show(client, output, limit: nil)
        }
    }

    static func columns(of node: JSON, _ transcript: Transcript) -> [String?] {
        if let reason = node["unreachable"]?.text {
            return [node["node"]?.text, "can't be asked: \(reason)"]
        }
        let causes = (node["notReady"]?.array ?? []).compactMap(\.text).joined(separator: "; ")
        return [
            node["node"]?.text, "\(node["program"]?.text ?? "") \(node["version"]?.text ?? "")",
            node["ready"]?.isTrue == true ? "ready" : "not ready", causes.isEmpty ? nil : causes,
            node["since"]?.time.map { "since \(transcript.time($0))" },
            node["memoryBytes"]?.int.map { "\($0 >> 20) MiB" }, node.count("sessions", "session"),
            node["messagesIn"]?.int.map { "\($0) in" }, node["messagesOut"]?.int.map { "\($0) out" },
            node["gaps"]?.int.flatMap { $0 > 0 ? $0.counted("gap") : nil },
            node["refusals"]?.array?.first.flatMap { refusal in
                refusal["limit"]?.text.map { "refused \($0): \(refusal["count"]?.int ?? 0)" }
            },
        ]
    }
}

struct NodeIncidentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "incidents", abstract: "List the newest warnings and errors of all nodes.",
        discussion: "The newest come first. A node keeps its last 100.")

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("node incidents") { client, output in
            let incidents = GatewayList(
                path: .global("incidents"), rows: "incidents", kind: "incident",
                columns: { row, _ in
                    [row["time"]?.text ?? "now", row["node"]?.text, row["level"]?.text, row["message"]?.text]
                        + [row["subject"]?.text, row["cause"]?.text]
                }, nothing: "nothing went wrong lately")
            try await incidents.show(client, output, limit: list.limit)
        }
    }
}

struct NodeConfigurationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configuration", abstract: "List what is configured, where it came from, and for whom.",
        discussion: "Nodes with different values of a key make several lines. Secrets are masked.")

    @Option(help: .init("Only keys that begin so.", valueName: "prefix"))
    var prefix: String?

    @Flag(help: "Only values that are not the built-in ones.")
    var changed = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("node configuration") { client, output in
            let settings = GatewayList(
                path: .global("configuration"), rows: "settings", takesLimit: false,
                query: ["prefix": prefix, "changed": changed ? "true" : nil], kind: "setting",
                columns: { row, _ in
                    [
                        row["key"]?.text, row["value"]?.text ?? "not set", row["source"]?.text,
                        (row["nodes"]?.array ?? []).compactMap(\.text).joined(separator: ", "),
                    ]
                }, nothing: "everything is as it is built in")
            try await settings.show(client, output, limit: nil)
        }
    }
}
