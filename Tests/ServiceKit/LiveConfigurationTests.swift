import Foundation
import RTMConfigurationFile
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMServiceKit

@Suite("A running program takes over a new configuration, as a whole or not at all")
struct LiveConfigurationTests {
    private let journal = ProgramLog()

    private func live(_ arguments: String...) throws -> LiveConfiguration {
        let live = LiveConfiguration(try RelayKeys.load(arguments))
        live.onChange(of: [RelayKeys.depth.declaration]) { [journal] next in
            { journal.note("depth \(next[RelayKeys.depth])") }
        }
        return live
    }

    @Test("keys that a part follows are taken, all others wait for a restart and keep their values")
    func takenAndPostponed() throws {
        let live = try live("--depth", "3", "--name", "one")
        let change = try live.change(to: try RelayKeys.load(["--depth", "4", "--name", "two"]))
        #expect(change == .init(taken: ["relay.depth"], postponed: ["relay.name"]))
        #expect(journal.all == ["depth 4"])
        #expect(live.present[RelayKeys.depth] == 4)
        #expect(live.present[RelayKeys.name] == "one")
    }

    @Test("a part that can't use it leaves everything as it was")
    func refused() throws {
        let live = try live("--depth", "3")
        live.onChange(of: [RelayKeys.name.declaration]) { _ in throw ServiceFailure.configuration("no") }
        #expect(throws: ServiceFailure.self) { try live.change(to: try RelayKeys.load(["--depth", "4"])) }
        #expect(journal.all.isEmpty)
        #expect(live.present[RelayKeys.depth] == 3)
    }

    @Test("values that would break a rule together are refused, old ones among them")
    func rules() throws {
        let rule = ConfigurationRule(RelayKeys.name) { name, configuration in
            configuration[RelayKeys.depth] == 4 && name != "two" ? "isn't two, and relay.depth is 4" : nil
        }
        let live = LiveConfiguration(try RelayKeys.load(["--depth", "3", "--name", "one"]), rules: [rule])
        live.onChange(of: [RelayKeys.depth.declaration]) { [journal] _ in { journal.note("taken") } }
        // The new name needs a restart, so the new depth would go with the old name.
        let error = #expect(throws: ConfigurationError.self) {
            try live.change(to: try RelayKeys.load(["--depth", "4", "--name", "two"]))
        }
        #expect(error?.description.contains("a restart takes over all") == true)
        #expect(journal.all.isEmpty)
        #expect(live.present[RelayKeys.depth] == 3)
    }

    @Test("files are the configuration file, those of secrets, and those that keys of files name")
    func files() throws {
        let certificate = ConfigurationKey.optionalFile("relay.certificate", "Its proof.")
        let schema = ConfigurationSchema(RelayKeys.all + [certificate.declaration], section: "relay")
        let configuration = try ConfigurationLoader(schema: schema, parse: FileNode.yaml) { path in
            path == "a.yaml" ? "relay: {certificate: cert.pem}" : "secret"
        }.load(
            arguments: ["--config", "a.yaml"], environment: ["RTM_RELAY_REDIS_PASSWORD_FILE": "/run/password"]
        )
        #expect(configuration.files == ["a.yaml", "/run/password", "cert.pem"])
    }

    @Test("a changed file counts once two looks have found the same, and counts once")
    func watch() {
        var watch = FileWatch(["a": 1])
        let seen = [1, 2, 3, 3, 3].map { watch.look(["a": $0]) }
        #expect(seen == [false, false, false, true, false])
        let afterRemoval = [watch.look([:]), watch.look([:])]
        #expect(afterRemoval == [false, true])
    }

    @Test("a configuration that can't be read changes nothing, and the log names each problem")
    func unreadable() throws {
        let lines = ProgramLog()
        let live = try live("--depth", "3")
        let reloading = Reloading(live, logger: .writing(to: lines)) { () throws(ConfigurationError) in
            try RelayKeys.load(["--depth", "0", "--name", ""])
        }
        reloading.reload(because: "SIGHUP")
        #expect(lines.all.count == 2)
        #expect(lines.all.allSatisfy { $0.contains("\"configuration not reloaded\"") })
        #expect(live.present[RelayKeys.depth] == 3)
    }

    @Test("a reload names which keys were taken and which wait for a restart")
    func reported() throws {
        let lines = ProgramLog()
        let reloading = Reloading(try live("--depth", "3"), logger: .writing(to: lines)) {
            () throws(ConfigurationError) in try RelayKeys.load(["--depth", "9", "--name", "two"])
        }
        reloading.reload(because: "SIGHUP")
        let line = try #require(lines.all.first)
        #expect(line.contains("\"changed\":[\"relay.depth\"]"))
        #expect(line.contains("\"after restart\":[\"relay.name\"]"))
    }

    @Test(
        "a file with another content is a change of its key, and needs a restart where nobody follows the key"
    )
    func renewedFiles() throws {
        let certificate = ConfigurationKey.optionalFile("relay.certificate", "What it shows.")
        let other = ConfigurationKey.optionalFile("relay.other", "What it also reads.")
        let schema = ConfigurationSchema(
            [certificate.declaration, other.declaration, RelayKeys.depth.declaration], section: "relay")
        let configuration = try ConfigurationLoader(schema: schema) { _ in "" }
            .load(arguments: ["--certificate", "a.pem", "--other", "b.pem"], environment: [:])
        let live = LiveConfiguration(configuration)
        live.onChange(of: [certificate.declaration]) { _ in {} }
        #expect(try live.change(to: configuration) == .init())
        #expect(
            try live.change(to: configuration, renewedFiles: ["a.pem", "b.pem", "c.pem"])
                == .init(taken: ["relay.certificate"], postponed: ["relay.other"]))
    }

    @Test("a reload names the key whose file was renewed")
    func renewalReported() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "cert-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("old".utf8).write(to: file)
        let key = ConfigurationKey.optionalFile("relay.certificate", "What it shows.")
        let configuration = try ConfigurationLoader(
            schema: ConfigurationSchema([key.declaration], section: "relay")
        ) { _ in "" }.load(arguments: ["--certificate", file.path], environment: [:])
        let live = LiveConfiguration(configuration)
        live.onChange(of: [key.declaration]) { _ in {} }
        let lines = ProgramLog()
        let reloading = Reloading(live, logger: .writing(to: lines)) {
            () throws(ConfigurationError) in configuration
        }
        reloading.reload(because: "SIGHUP")
        try Data("renewed".utf8).write(to: file, options: .atomic)
        reloading.reload(because: "SIGHUP")
        reloading.reload(because: "SIGHUP")
        let changed = lines.all.map { $0.contains("\"changed\":[\"relay.certificate\"]") }
        #expect(changed == [false, true, false])
    }
}

@Suite("One file for services apart and together")
struct UnusedKeysTests {
    private let schema = ConfigurationSchema(
        [RelayKeys.depth.declaration],
        unused: [RelayKeys.listen.declaration, RelayKeys.password.declaration], section: "whole")

    private func load(_ yaml: String, _ environment: [String: String] = [:]) throws(ConfigurationError)
        -> Configuration
    {
        try ConfigurationLoader(schema: schema, parse: FileNode.yaml) { _ in yaml }
            .load(arguments: ["--config", "f"], environment: environment)
    }

    @Test("keys that only the service's own program needs are no mistake, and are remembered")
    func ignored() throws {
        let configuration = try load(
            "relay: {depth: 4, listen: \"0.0.0.0:1\", redis: {password: x}}", ["RTM_RELAY_LISTEN": "x:1"])
        #expect(configuration[RelayKeys.depth] == 4)
        #expect(
            Set(configuration.origins.ignored) == [
                "relay.listen", "relay.redis.password", "RTM_RELAY_LISTEN",
            ])
    }

    @Test("a misspelt key is a mistake all the same")
    func misspelt() {
        #expect(throws: ConfigurationError.self) { try load("relay: {lisen: \"0.0.0.0:1\"}") }
    }
}
