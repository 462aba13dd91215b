import ArgumentParser

struct MetadataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata",
        abstract: "Read, write and watch the metadata of channels and users.",
        discussion: """
            A channel or a user has one set of items. Each item has a revision and the set a major revision, \
            which grow with every write: --revision and --major-revision write only if nobody wrote meanwhile.
            """,
        subcommands: [
            MetadataGetCommand.self, MetadataSetCommand.self, MetadataUpdateCommand.self,
            MetadataRemoveCommand.self, MetadataWatchCommand.self,
        ])
}
