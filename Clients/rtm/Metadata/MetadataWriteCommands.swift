import ArgumentParser
import RTMClient

struct MetadataSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Create items or overwrite them; others stay as they are.",
        discussion: "A value that begins with '-' stands behind '--'.")

    @OptionGroup var target: MetadataTargetArguments

    @Argument(
        help: .init("Items to write.", valueName: "key=value"),
        transform: { try ItemArgument(argument: $0) })
    var items: [ItemArgument]

    @OptionGroup var write: MetadataWriteArguments
    @OptionGroup var common: CommonOptions

    func validate() throws { _ = try items.changes(write) }

    func run() async throws {
        let changes = try items.changes(write)
        try await common.write(to: target) { client in
            try await client.setMetadata(changes, of: target.target, options: write.options)
        }
    }
}

struct MetadataUpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Overwrite items that exist.",
        discussion:
            "If one doesn't exist, nothing is written. A value that begins with '-' stands behind '--'.")

    @OptionGroup var target: MetadataTargetArguments

    @Argument(
        help: .init("Items to write.", valueName: "key=value"),
        transform: { try ItemArgument(argument: $0) })
    var items: [ItemArgument]

    @OptionGroup var write: MetadataWriteArguments
    @OptionGroup var common: CommonOptions

    func validate() throws { _ = try items.changes(write) }

    func run() async throws {
        let changes = try items.changes(write)
        try await common.write(to: target) { client in
            try await client.updateMetadata(changes, of: target.target, options: write.options)
        }
    }
}

struct MetadataRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove items that exist, or the whole set.",
        discussion: "If one doesn't exist, nothing is removed.")

    @OptionGroup var target: MetadataTargetArguments

    @Argument(help: .init("Keys of the items to remove.", valueName: "key"))
    var keys: [String] = []

    @Flag(help: "Remove the whole set.")
    var all = false

    @OptionGroup var write: MetadataWriteArguments
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if keys.isEmpty != all { throw ValidationError("give either the keys to remove, or --all") }
        _ = try write.revisions(of: keys)
    }

    func run() async throws {
        let revisions = try write.revisions(of: keys)
        try await common.write(to: target) { client in
            guard !all else {
                return try await client.removeAllMetadata(of: target.target, options: write.options)
            }
            let keys = keys.map { MetadataKey($0, revision: revisions[$0]) }
            return try await client.removeMetadata(keys, of: target.target, options: write.options)
        }
    }
}

extension [ItemArgument] {
    fileprivate func changes(_ write: MetadataWriteArguments) throws -> [MetadataChange] {
        let revisions = try write.revisions(of: map(\.key))
        return map { MetadataChange($0.key, $0.value, revision: revisions[$0.key]) }
    }
}

extension CommonOptions {
    fileprivate func write(
        to target: MetadataTargetArguments,
        _ work: @escaping @Sendable (RTMClient) async throws -> Int64
    ) async throws {
        try await run {
            try await withClient(settings(), naming: target.names) { client in
                let revision = try await target.joined(client) { try await work(client) }
                try await output.result(
                    "ok, major revision \(revision)", "result",
                    ["result": "ok", "majorRevision": .number(revision)])
            }
        }
    }
}
