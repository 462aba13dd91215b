import RTMAccessToken
import RTMClient
import RTMModel

/// Servers and a user under one name, as they stand in the file of contexts.
struct ServerContext: Sendable, Hashable, Codable {
    var servers: [String]?
    var appID: String?
    var user: String?
    var token: String?
    /// The file is read at each use, so that a token may be replaced there.
    var tokenFile: String?
    var tls: Bool?
    var ca: String?
    /// A `GatewayURL`.
    var gateway: String?
    /// The file is read at each use. The key itself is never kept here.
    var apiKeyFile: String?

    /// - Parameter name: the context's name, for errors.
    /// - Throws: `.invalidParameter` (-10014) for an address or a file that can't be read.
    func values(
        _ name: String, _ readFile: (String) throws -> String
    ) throws(RTMError) -> ConnectionValues {
        var values = ConnectionValues(appID: appID, userID: user, token: token, tls: tls, ca: ca)
        values.servers = try ConnectionSettings.servers(servers ?? [], "the context '\(name)'")
        if token == nil, let tokenFile {
            let source = "the token file of the context '\(name)'"
            values.token = try ConnectionSettings.token(at: tokenFile, source, readFile)
        }
        if let ca, tls != false {
            _ = try NamedFile.text(at: ca, "--ca of the context '\(name)'", for: "init", readFile)
        }
        return values
    }
}

extension ServerContext {
    /// Looks at the token that the context has at present.
    ///
    /// - Returns: why it can't be used now, if only time matters: a new token may take its place.
    /// - Throws: `.invalidParameter` (-10014) with what is wrong with it for good.
    func refusalForNow(of token: String, nowMilliseconds: UInt64) throws(RTMError) -> String? {
        let place = self.token == nil ? "'\(tokenFile ?? "")'" : "--token"
        func refusal(_ error: RTMError) -> RTMError {
            RTMError(.invalidParameter, "the token of \(place): \(error.reason)", operation: "context")
        }
        let explanation: TokenExplanation
        do {
            explanation = TokenExplanation(
                try SignedToken(token), appID: appID, certificate: nil, userID: user,
                nowMilliseconds: nowMilliseconds)
        } catch { throw refusal(error) }
        for case (let check, .failed(let error)) in explanation.outcomes {
            guard [.issueTime, .expiry, .privilegeExpiry].contains(check) else { throw refusal(error) }
            return refusal(error).reason
        }
        return nil
    }
}

/// The contexts of a user, and the one in use.
struct ContextBook: Sendable, Hashable, Codable {
    var current: String?
    var contexts: [String: ServerContext] = [:]

    var names: [String] { contexts.keys.sorted() }

    /// - Parameter source: what names the context, if it isn't the command itself.
    /// - Throws: `.invalidParameter` (-10014) with the nearest name if there is no such context.
    func context(_ name: String, from source: String? = nil) throws(RTMError) -> ServerContext {
        guard let context = contexts[name] else {
            let origin = source.map { ", which \($0) names" } ?? ""
            let hint =
                names.isEmpty
                ? "; there are none, and 'rtm context add \(name)' makes it"
                : NearestName.hint(for: name, among: names)
            throw RTMError(
                .invalidParameter, "there is no context '\(name)'\(origin)\(hint)", operation: "context")
        }
        return context
    }

    /// A context by its name.
    struct Entry: Sendable, Hashable {
        let name: String
        let context: ServerContext
    }

    /// The contexts that a command takes values from: the one that is named, whose values win over the
    /// environment, and the usual one behind that.
    ///
    /// - Parameter name: what `--context` gives.
    /// - Throws: `.invalidParameter` (-10014) with the nearest name if there is no such context.
    func chosen(
        _ name: String?, environment: [String: String]
    ) throws(RTMError) -> (named: Entry?, usual: Entry?) {
        func entry(_ name: String?, _ source: String) throws(RTMError) -> Entry? {
            guard let name else { return nil }
            return Entry(name: name, context: try context(name, from: source))
        }
        let other = environment["RTM_CONTEXT"]
        return (
            try entry(name, "--context"),
            try entry(other ?? current, other == nil ? "the file" : "RTM_CONTEXT")
        )
    }

    /// The first context is in use at once.
    mutating func add(_ context: ServerContext, named name: String) {
        contexts[name] = context
        current = current ?? name
    }

    mutating func use(_ name: String) throws(RTMError) {
        _ = try context(name)
        current = name
    }

    /// Without the context in use, none is.
    mutating func remove(_ name: String) throws(RTMError) {
        _ = try context(name)
        contexts[name] = nil
        if current == name { current = nil }
    }
}
