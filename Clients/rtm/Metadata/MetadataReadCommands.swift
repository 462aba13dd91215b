import ArgumentParser
import RTMClient

struct MetadataGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show the items of a channel or a user, one per line.")

    @OptionGroup var target: MetadataTargetArguments

    @Argument(help: .init("Show only these keys.", valueName: "key"))
    var keys: [String] = []

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run {
            try await common.withClient(common.settings(), naming: target.names) { client in
                var metadata = try await target.joined(client) {
                    try await client.metadata(of: target.target)
                }
                if !keys.isEmpty { metadata.items.removeAll { !keys.contains($0.key) } }
                try await show(metadata, common.output)
            }
        }
    }

    private func show(_ metadata: RTMMetadata, _ output: Output) async throws {
        switch output.format {
        case .json: try await output.result(nil, "metadata", metadata.json)
        case .human:
            output.notice("major revision \(metadata.majorRevision)")
            for item in metadata.items { try await output.result(item.sentence) }
        }
    }
}

struct MetadataWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the metadata of a channel or a user, and again after each write.",
        discussion: "It runs until it is interrupted (exit status 0), or until --count sets have been shown.")

    @OptionGroup var target: MetadataTargetArguments

    @Option(help: .init("End after this many sets.", valueName: "n"))
    var count: Int?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
        if target.stream { throw ValidationError("stream channels can't be watched") }
    }

    func run() async throws {
        try await common.run(whenInterrupted: .success) {
            try await common.withClient(common.settings(), naming: target.names) { client in
                let events = client.events()
                switch target.kind {
                case .channel: try await client.subscribe(to: target.name, features: [.metadata, .quiet])
                case .user: try await client.subscribeUserMetadata(target.name)
                }
                try await common.output.show(events, until: count) { event in
                    if case .metadata = event { true } else { false }
                }
            }
        }
    }
}

extension MetadataItem {
    /// `key=value`, and what else is known about the item.
    var sentence: String {
        var notes = ["revision \(revision)"]
        if let author { notes.append("by \(author)") }
        return "\(key)=\(value)".visible + "  (\(notes.joined(separator: ", ").visible))"
    }

    fileprivate var json: JSON {
        [
            "key": .string(key), "value": .string(value), "revision": .number(revision),
            "updateTs": .number(updatedAtMilliseconds ?? 0), "authorUserId": .string(author ?? ""),
        ]
    }
}

extension RTMMetadata {
    var json: JSON {
        ["majorRevision": .number(majorRevision), "items": .array(items.map(\.json))]
    }
}
