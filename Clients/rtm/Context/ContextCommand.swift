import ArgumentParser
import Foundation
import RTMClient
import RTMModel

struct ContextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context", abstract: "Keep servers and users under names.",
        discussion: """
            The context in use stands in for options that a command isn't given. Every command takes another \
            one with --context NAME, or with RTM_CONTEXT. They are kept in rtm/contexts.json in \
            $XDG_CONFIG_HOME or ~/.config, which only its owner may read.
            """,
        subcommands: [
            ContextAddCommand.self, ContextUseCommand.self, ContextListCommand.self,
            ContextRemoveCommand.self,
        ])
}

/// The options of the commands about contexts, which talk to no server.
struct ContextOptions: ParsableArguments {
    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false

    var output: Output { Output(format: json ? .json : .human, transcript: Transcript()) }

    /// Changes the contexts in the file.
    func change(_ change: (inout ContextBook) throws(RTMError) -> String) async throws {
        try await output.reportingErrors {
            let file = ContextFile()
            var book = try file.read()
            let sentence = try change(&book)
            try file.write(book)
            try await output.result(sentence)
        }
    }
}

struct ContextAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a context, or replace it. The first one is in use at once.",
        discussion: """
            rtm context add prod --server rtm.example.com --app-id ID --token-file ~/rtm.token
            rtm context add backend --gateway https://rtm.example.com:7750 --app-id ID --api-key-file ~/rtm.key

            A token that can't be read, or is for another app or user, is refused. One that has expired is \
            kept, because its file is read again at each use.
            """)

    @Argument(help: "Name of the context.")
    var name: String

    @Option(help: .init("Server; repeat it to name others.", valueName: "host:port"))
    var server: [String] = []

    @Option(name: .customLong("app-id"), help: "App id.")
    var appID: String?

    @Option(help: "User id to log in with.")
    var user: String?

    @Option(help: "Token to log in with. It is kept in the file, so --token-file is better.")
    var token: String?

    @Option(
        help: .init("File that holds the token; it is read at each use.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Flag(inversion: .prefixedNo, help: "Whether to encrypt the connection.")
    var tls: Bool?

    @Option(help: .init("PEM file of the authorities to trust.", valueName: "file"))
    var ca: String?

    @Option(
        help: .init("Gateway for the commands that call over HTTP.", valueName: "url"),
        transform: { try GatewayURL(argument: $0) })
    var gateway: GatewayURL?

    @Option(
        help: .init(
            "File that holds the API key for the gateway; it is read at each use.", valueName: "file"),
        completion: .file())
    var apiKeyFile: String?

    @OptionGroup var options: ContextOptions

    func validate() throws {
        guard !name.isEmpty else { throw ValidationError("the name is empty") }
        // A key is sent to its own gateway alone, so that has to be known.
        guard apiKeyFile == nil || gateway != nil else {
            throw ValidationError("--api-key-file needs --gateway")
        }
        for address in server {
            do {
                _ = try ServerAddress(address)
            } catch {
                throw ValidationError(error.reason)
            }
        }
    }

    func run() async throws {
        // A relative path would mean another file in another folder.
        func absolute(_ path: String?) -> String? { path.map { URL(filePath: $0).absoluteURL.path } }
        let context = ServerContext(
            servers: server.isEmpty ? nil : server, appID: appID, user: user, token: token,
            tokenFile: absolute(tokenFile), tls: tls, ca: absolute(ca), gateway: gateway?.description,
            apiKeyFile: absolute(apiKeyFile))
        try await options.change { book throws(RTMError) in
            let token = try context.values(name, { try String(contentsOfFile: $0, encoding: .utf8) }).token
            if let token {
                let finding = try context.refusalForNow(of: token, nowMilliseconds: WallClock.milliseconds())
                if let finding { options.output.notice(finding) }
            }
            book.add(context, named: name)
            return book.current == name
                ? "'\(name)' is in use" : "'\(name)' is kept; 'rtm context use \(name)' uses it"
        }
    }
}

struct ContextUseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Use a context from now on.")

    @Argument(help: "Name of the context.", completion: .contexts)
    var name: String

    @OptionGroup var options: ContextOptions

    func run() async throws {
        try await options.change { book throws(RTMError) in
            try book.use(name)
            return "'\(name)' is in use"
        }
    }
}

struct ContextRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a context.")

    @Argument(help: "Name of the context.", completion: .contexts)
    var name: String

    @OptionGroup var options: ContextOptions

    func run() async throws {
        try await options.change { book throws(RTMError) in
            try book.remove(name)
            return "'\(name)' is forgotten"
        }
    }
}

struct ContextListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the contexts; '*' marks the one in use.")

    @OptionGroup var options: ContextOptions

    func run() async throws {
        try await options.output.reportingErrors {
            let book = try ContextFile().read()
            for name in book.names {
                let isCurrent = name == book.current
                let context = try book.context(name)
                try await options.output.result(
                    "\(isCurrent ? "*" : " ") \(name)\t\(context.sentence)".visible, "context",
                    context.json(name, isCurrent: isCurrent))
            }
        }
    }
}

extension CompletionKind {
    /// The names of the contexts.
    static var contexts: CompletionKind {
        .custom { (_: [String], _: Int, _: String) in (try? ContextFile().read().names) ?? [] }
    }
}

extension ServerContext {
    /// What the context names, without its token.
    fileprivate var sentence: String {
        [
            servers?.joined(separator: ", "), appID.map { "app \($0)" }, user.map { "as \($0)" },
            token != nil || tokenFile != nil ? "with a token" : nil,
            tls.map { $0 ? "TLS" : "no TLS" }, gateway.map { "gateway \($0)" },
            apiKeyFile == nil ? nil : "with an API key",
        ].compactMap { $0 }.joined(separator: ", ")
    }

    fileprivate func json(_ name: String, isCurrent: Bool) -> JSON {
        [
            "name": .string(name), "isCurrent": JSON(booleanLiteral: isCurrent),
            "servers": .strings(servers ?? []), "appId": appID.map(JSON.string) ?? .null,
            "user": user.map(JSON.string) ?? .null, "gateway": gateway.map(JSON.string) ?? .null,
        ]
    }
}
