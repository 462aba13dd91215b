import ArgumentParser
import Foundation
import RTMCredentials

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make API keys, with which backends call over HTTP, and see them.",
        subcommands: [KeyCreateCommand.self, KeyShowCommand.self, KeyListCommand.self])
}

struct KeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make an API key, and the entry that lets it in at a gateway.",
        discussion: """
            It works without a server. The key is shown only now: the entry, which belongs into the \
            configuration of the gateways, has a hash of it.

            GRANT is APP/SCOPES, such as dev/read+publish. APP may be *, for all apps; the scopes are \
            read, publish, moderate and admin.
            """)

    @Argument(help: .init("The app, and what the key may do there.", valueName: "grant"))
    var grant: String

    @Option(help: .init("The key is only for channels whose names begin so.", valueName: "prefix"))
    var channels: String?

    @Option(help: .init("The key is refused from that day on (UTC).", valueName: "yyyy-mm-dd"))
    var expires: String?

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false

    func run() async throws {
        let made = try make(.random())
        try await Output(format: json ? .json : .human, transcript: Transcript())
            .result(made.text, "result", made.json)
    }

    /// What is printed for a key.
    func make(_ key: APIKey) throws(ValidationError) -> (text: String, json: JSON) {
        let words = grant.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 2, !words[0].isEmpty, let scopes = APIScope.set(String(words[1])) else {
            let all = APIScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                "'\(grant)' is not APP/SCOPES, with scopes of \(all), such as dev/read+publish")
        }
        let day = try expires.map { text throws(ValidationError) in
            guard let date = APIKeyEntry.date(text) else {
                throw ValidationError("'\(text)' is not a day such as 2027-01-31")
            }
            return date
        }
        guard channels != "" else {
            throw ValidationError(
                "--channels needs the beginning of names; leave it out for a key for all channels and users")
        }
        let entry = APIKeyEntry(
            of: key, app: String(words[0]), scopes: scopes, channels: channels, expires: day)
        let text = """
            The key, which is shown only now:
                \(key.text)

            The entry of the configuration:
                gateway:
                  keys:
                    - \(entry.yaml)
            or a line of the file that RTM_GATEWAY_KEYS_FILE names:
                \(entry.line)
            """
        return (text, ["result": "ok", "key": .string(key.text), "line": .string(entry.line)])
    }
}

struct KeyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what the API key may do that commands use.")

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("key show") { client, output in
            let key = try await client.get(.global("keys", "self"))
            try await output.row(Self.columns(of: key), "key", key)
        }
    }

    static func columns(of key: JSON) -> [String?] {
        [
            key["id"]?.text, key["app"]?.text.map { $0 == "*" ? "for all apps" : "for the app \($0)" },
            key["scopes"]?.array?.compactMap(\.text).joined(separator: "+"),
            key["channels"]?.text.map { "channels that begin with '\($0)'" },
            key["expires"]?.text.map { "until \($0.prefix { $0 != "T" })" },
        ]
    }
}

struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys of an app, and when each was used last.",
        discussion: """
            The last use is what the gateway knows that answers. The keys are those of the app that the used \
            key is for, whatever --app-id says. It needs the scope admin.
            """)

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("key list") { client, output in
            for key in try await client.get(.global("keys"))["keys"]?.array ?? [] {
                let use = key["lastUse"]?.text.map { "used \($0)" } ?? "not used"
                try await output.row(KeyShowCommand.columns(of: key) + [use], "key", key)
            }
        }
    }
}
