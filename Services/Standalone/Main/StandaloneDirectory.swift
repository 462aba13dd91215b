import RTMServiceKit

/// The one directory of a standalone system. Nothing but a lock is in it until storage keeps something.
enum StandaloneDirectory {
    private static let data = ConfigurationKey<String>.string(
        "standalone.data", default: "data",
        "Directory for everything that is kept; one process at a time may use it.")

    static let definition = ServiceDefinition(
        name: "standalone", summary: "The data directory.", keys: [data.declaration]
    ) { context in
        Assembly([DataDirectory(path: context.configuration[data])])
    }
}
