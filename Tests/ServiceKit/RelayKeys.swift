import RTMConfigurationFile

@testable import RTMServiceKit

/// The keys of an imaginary service, one of each kind.
struct RelayKeys: ServiceKeys {
    static let table = Self()

    enum Mode: String, CaseIterable, Sendable {
        case fast, safe
    }

    let name = ConfigurationKey.string("relay.name", default: "one", "How it is called.")
    let directory = ConfigurationKey.optionalString("relay.directory", "Where it writes.")
    let depth = ConfigurationKey.int("relay.depth", default: 8, in: 1...64, "How much it keeps.")
    let eager = ConfigurationKey.bool("relay.eager", default: false, "Whether it hurries.")
    let handshakeDeadline = ConfigurationKey.duration(
        "relay.handshakeDeadline", default: .seconds(5), in: .milliseconds(100) ... .seconds(120),
        "How long it waits.")
    let queueBytes = ConfigurationKey.byteSize(
        "relay.queue.bytesMax", default: 64 * 1024, in: 1024...(4 << 20), "How much it queues.")
    let listen = ConfigurationKey.address(
        "relay.listen", default: HostPort(host: "127.0.0.1", port: 7790), "Where it listens.")
    let upstream = ConfigurationKey.optionalAddress("relay.upstream", "Whom it asks.")
    let peers = ConfigurationKey.list("relay.peers", countMax: 3, "Whom it knows.")
    let mode = ConfigurationKey<Mode>.choice("relay.mode", default: .safe, "How it works.")
    let password = ConfigurationKey.secret("relay.redis.password", "What it says at the door.")

    static let all = declarations + CommonKeys.apps.declarations

    static let schema = ConfigurationSchema(all, section: "relay")

    static func load(
        _ arguments: [String] = [], _ environment: [String: String] = [:], files: [String: String] = [:],
        rules: [ConfigurationRule] = []
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationLoader(schema: schema, rules: rules, parse: FileNode.yaml) { path in
            guard let text = files[path] else {
                throw TextFile.Failure(description: "No such file or directory")
            }
            return text
        }.load(arguments: arguments, environment: environment)
    }

    /// The problems of a load that must fail, one text each.
    static func problems(
        _ arguments: [String] = [], _ environment: [String: String] = [:], files: [String: String] = [:],
        rules: [ConfigurationRule] = []
    ) -> [String] {
        do {
            _ = try load(arguments, environment, files: files, rules: rules)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }
}
