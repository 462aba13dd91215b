import Foundation
import RTMClient

/// The servers to talk to, and the user: each value comes from its option, otherwise from the environment,
/// otherwise it is that of the local standalone stack.
struct ConnectionSettings: Sendable, Hashable {
    /// The app id that a standalone stack accepts by default.
    static let developmentAppID = "dev"

    var servers: [ServerAddress]
    var appID: String
    var userID: String
    var token: String?

    /// - Parameters:
    /// - readFile: gives the text of the file that `RTM_TOKEN_FILE` names.
    /// - guest: a name for a user who has none.
    /// - Throws: `.invalidParameter` (-10014) with the name of the variable that can't be read.
    init(
        servers: [ServerAddress] = [], appID: String? = nil, userID: String? = nil, token: String? = nil,
        environment: [String: String], guest: @autoclosure () -> String,
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) {
        // An empty variable means the same as none, because that is how a shell unsets it for a single
        // command.
        let environment = environment.filter { !$0.value.isEmpty }
        self.servers = try servers.isEmpty ? Self.servers(in: environment["RTM_SERVER"]) : servers
        self.appID = appID ?? environment["RTM_APP_ID"] ?? Self.developmentAppID
        self.userID = userID ?? environment["RTM_USER"] ?? guest()
        if let token = token ?? environment["RTM_TOKEN"] {
            self.token = token
        } else {
            self.token = try Self.token(in: environment, readFile)
        }
    }

    private static func servers(in variable: String?) throws(RTMError) -> [ServerAddress] {
        guard let variable else { return [.local] }
        do {
            return try variable.split(separator: ",").map {
                try ServerAddress($0.trimmingCharacters(in: .whitespaces))
            }
        } catch {
            let cause = (error as? RTMError)?.reason ?? "\(error)"
            throw RTMError(.invalidParameter, "RTM_SERVER: \(cause)", operation: "init")
        }
    }

    private static func token(
        in environment: [String: String], _ readFile: (String) throws -> String
    ) throws(RTMError) -> String? {
        guard let path = environment["RTM_TOKEN_FILE"] else { return nil }
        do {
            return try readFile(path).trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            throw RTMError(.invalidParameter, "RTM_TOKEN_FILE: '\(path)' can't be read", operation: "init")
        }
    }
}
