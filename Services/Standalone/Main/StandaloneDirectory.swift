import RTMServiceKit

/// The one directory of a standalone system; storage's database lies in it.
enum StandaloneDirectory {
    static let data = ConfigurationKey<String>.string(
        "standalone.data", default: "data",
        "Directory for all persistent data; only one process at a time may use it.")

    static let definition = ServiceDefinition(
        name: "standalone", summary: "The data directory.", keys: [data.declaration],
        check: problem
    ) { context in
        Assembly([DataDirectory(data, context.configuration)])
    }

    @Sendable private static func problem(
        _ configuration: Configuration, _: (String) throws -> String
    ) -> ConfigurationProblem? {
        DataDirectory.problem(data, configuration)
    }
}
