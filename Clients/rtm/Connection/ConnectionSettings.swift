import Foundation
import RTMClient

/// The servers to talk to, and the user. Each value comes from its option, otherwise from the context that
/// was chosen with `--context`, otherwise from the environment, otherwise from the context in use, otherwise
/// it is that of the local standalone stack.
struct ConnectionSettings: Sendable, Hashable {
    /// The app id that a standalone stack accepts by default.
    static let developmentAppID = "dev"

    var servers: [ServerAddress]
    var appID: String
    var userID: String
    var token: String?
    var encryption: RTMClient.TLS
    /// Whether nobody has named a user.
    var isGuest: Bool
    /// The context that names the servers, if one does.
    var contextOfServers: String?

    /// - Parameters:
    ///   - options: what the command line names.
    ///   - context: the name that `--context` gives.
    ///   - contexts: reads the contexts that the user has stored.
    ///   - guest: a name for a user who has none.
    ///   - readFile: gives the text of a file that is named: one that holds a token, or authorities.
    /// - Throws: `.invalidParameter` (-10014) with the name of the option, variable or context that can't be
    ///   used.
    init(
        _ options: ConnectionValues = ConnectionValues(), context: String? = nil,
        environment: [String: String], contexts: () throws(RTMError) -> ContextBook = { ContextBook() },
        guest: @autoclosure () -> String,
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) {
        // An empty variable means the same as none, because that is how a shell unsets it for a single
        // command.
        let environment = environment.filter { !$0.value.isEmpty }
        let chosen = try contexts().chosen(context, environment: environment)
        func values(of chosen: ContextBook.Entry?) throws(RTMError) -> ConnectionValues {
            guard let chosen else { return ConnectionValues() }
            return try chosen.context.values(chosen.name, readFile)
        }
        if let ca = options.ca { _ = try NamedFile.text(at: ca, "--ca", for: "init", readFile) }
        let sources = [
            options, try values(of: chosen.named), try Self.values(in: environment, readFile),
            try values(of: chosen.usual),
        ]
        let values = sources.reduce(ConnectionValues()) { $0.completed(by: $1.withTokenOwner) }
        let places = [nil, chosen.named?.name, nil, chosen.usual?.name]
        contextOfServers = zip(sources, places).first { !$0.0.servers.isEmpty }?.1
        isGuest = values.userID == nil
        servers = values.servers.isEmpty ? [.local] : values.servers
        appID = values.appID ?? Self.developmentAppID
        userID = values.userID ?? guest()
        token = values.token
        switch values.tls {
        case true?: encryption = .enabled(caFile: values.ca)
        case false?: encryption = .disabled
        // Who names authorities wants them to be asked.
        case nil: encryption = values.ca.map { .enabled(caFile: $0) } ?? .automatic()
        }
    }

    private static func values(
        in environment: [String: String], _ readFile: (String) throws -> String
    ) throws(RTMError) -> ConnectionValues {
        var values = ConnectionValues(appID: environment["RTM_APP_ID"], userID: environment["RTM_USER"])
        values.token = environment["RTM_TOKEN"]
        if values.token == nil, let path = environment["RTM_TOKEN_FILE"] {
            values.token = try Self.token(at: path, "RTM_TOKEN_FILE", readFile)
        }
        if let list = environment["RTM_SERVER"] {
            values.servers = try Self.servers(list.split(separator: ",").map(String.init), "RTM_SERVER")
        }
        return values
    }

    /// - Parameter source: what is named when an address can't be read.
    static func servers(_ texts: [String], _ source: String) throws(RTMError) -> [ServerAddress] {
        do {
            return try texts.map { try ServerAddress($0.trimmingCharacters(in: .whitespaces)) }
        } catch {
            let cause = (error as? RTMError)?.reason ?? "\(error)"
            throw RTMError(.invalidParameter, "\(source): \(cause)", operation: "init")
        }
    }

    /// - Parameter source: what is named when the file can't be read.
    static func token(
        at path: String, _ source: String, _ readFile: (String) throws -> String
    ) throws(RTMError) -> String {
        try NamedFile.text(at: path, source, for: "init", readFile)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
