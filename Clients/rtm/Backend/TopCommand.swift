import ArgumentParser

struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Show what is slow and loud in an app, as its operator does.",
        discussion: """
            The largest queues, the busiest channels, the sessions that publish most, and the users of whom \
            most was refused lately. Edges look for it while the command waits. The key needs the scope \
            admin for all channels.
            """)

    @Option(help: .init("Rows of each list, 1 to 100.", valueName: "n"))
    var limit: Int?

    @Option(
        name: .customLong("for"),
        help: .init("How long to watch channels and publishers, 100ms to 1s.", valueName: "duration"))
    var time: String?

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("top") { [limit, time] client, output in
            let top = try await client.get(
                client.app("top"), ["limit": limit.map(String.init), "for": time])
            try await output.result(Self.text(of: top, output.transcript), "top", top)
            output.noticeMissing(top["edges"])
        }
    }

    /// A line for each row, which begins with the name of its list.
    static func text(of top: JSON, _ transcript: Transcript) -> String {
        func lines(_ list: String, _ word: String, _ columns: (JSON) -> [String?]) -> [String] {
            (top[list]?.array ?? []).map { row in
                ([word] + columns(row)).compactMap(\.self).joined(separator: "\t")
            }
        }
        let queues = lines("queues", "queue") { row in
            [
                row["user"]?.text?.visible, row["queuedBytes"]?.int.map { "\($0) bytes wait" },
                row["address"]?.text?.visible,
            ]
        }
        let channels = lines("channels", "channel") { row in
            [
                row["channel"]?.text?.visible, row["type"]?.text, row.count("subscribers", "subscriber"),
                row.rate("entriesPerSecond", "entries"), row.rate("deliveriesPerSecond", "deliveries"),
            ]
        }
        let publishers = lines("publishers", "publisher") { row in
            [
                row["user"]?.text?.visible, row.rate("messagesPerSecond", "messages"),
                row.rate("bytesPerSecond", "bytes"), row["address"]?.text?.visible,
            ]
        }
        let refused = lines("refused", "refused") { row in
            let request = row["request"]?.text ?? "request"
            return [
                row["user"]?.text?.visible,
                row.count("count", request, request == "publish" ? "publishes" : nil),
                row["last"]?.time.map { "last \(transcript.time($0))" }, row["reason"]?.text?.visible,
            ]
        }
        let rows = queues + channels + publishers + refused
        return rows.isEmpty ? "nothing waits, is published or was refused" : rows.joined(separator: "\n")
    }
}

extension JSON {
    /// "12.5 messages/s"; nil if the field is no number.
    fileprivate func rate(_ field: String, _ what: String) -> String? {
        self[field]?.double.map { "\($0) \(what)/s" }
    }
}
