import Foundation
import RTMClient
import RTMCredentials

/// The gateway to call, the app, and the API key. Each value comes from its option, otherwise from the
/// context that was chosen with `--context`, otherwise from the environment, otherwise from the context in
/// use.
struct GatewaySettings: Sendable, Hashable {
    var gateway: GatewayURL
    var appID: String
    var key: String
    /// A PEM file of the authorities to trust instead of the system's.
    var ca: String?

    /// - Parameters:
    ///   - options: what the command line names.
    ///   - context: the name that `--context` gives.
    ///   - contexts: reads the contexts that the user has stored.
    ///   - readFile: gives the text of a file that is named.
    /// - Throws: `.invalidParameter` (-10014) with the name of the option, variable or context that can't be
    ///   used, or if there is no key. No error shows what is in a file.
    init(
        _ options: GatewayValues, context: String? = nil, environment: [String: String],
        contexts: () throws(RTMError) -> ContextBook = { ContextBook() },
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) {
        let environment = environment.filter { !$0.value.isEmpty }
        let chosen = try contexts().chosen(context, environment: environment)
        let sources = [
            options, try chosen.named?.context.gatewayValues(chosen.named?.name ?? ""),
            try Self.values(in: environment),
            try chosen.usual?.context.gatewayValues(chosen.usual?.name ?? ""),
        ]
        let values = sources.compactMap { $0 }.reduce(GatewayValues()) { $0.completed(by: $1) }
        gateway = values.gateway ?? .local
        appID = values.appID ?? ConnectionSettings.developmentAppID
        ca = gateway.scheme == "https" ? values.ca : nil
        if let ca { _ = try NamedFile.text(at: ca, "--ca", for: "init", readFile) }
        guard let place = values.key else {
            throw RTMError(
                .invalidParameter,
                "there is no API key for \(gateway): name the file that holds it with --api-key-file, or set "
                    + "RTM_API_KEY; 'rtm key create' makes one", operation: "init")
        }
        key = try place.key(readFile)
    }

    private static func values(in environment: [String: String]) throws(RTMError) -> GatewayValues {
        var values = GatewayValues(appID: environment["RTM_APP_ID"])
        values.gateway = try environment["RTM_GATEWAY"].map { text throws(RTMError) in
            try GatewayURL.named(text, "RTM_GATEWAY")
        }
        values.key =
            environment["RTM_API_KEY"].map { .text($0, source: "RTM_API_KEY") }
            ?? environment["RTM_API_KEY_FILE"].map { .file($0, source: "RTM_API_KEY_FILE") }
        return values
    }
}

/// What one source says about the gateway. A value that it doesn't name comes from the next source.
struct GatewayValues: Sendable, Hashable {
    /// Where a key is. A file is read only when its key is used.
    enum KeyPlace: Sendable, Hashable {
        case text(String, source: String)
        case file(String, source: String)
    }

    var gateway: GatewayURL?
    var appID: String?
    var key: KeyPlace?
    /// The only gateway that may see the key; nil for a key that was named for this command.
    var gatewayOfKey: GatewayURL?
    var ca: String?

    /// Takes from the other source what this one doesn't name. The key of a context isn't shown to another
    /// gateway, such as one that `--gateway` names.
    func completed(by other: GatewayValues) -> GatewayValues {
        let isForAnother = gateway != nil && other.gatewayOfKey != nil && gateway != other.gatewayOfKey
        return GatewayValues(
            gateway: gateway ?? other.gateway, appID: appID ?? other.appID,
            key: key ?? (isForAnother ? nil : other.key), ca: ca ?? other.ca)
    }
}

extension GatewayValues.KeyPlace {
    fileprivate func key(_ readFile: (String) throws -> String) throws(RTMError) -> String {
        let (text, place) =
            switch self {
            case .text(let text, let source): (text, source)
            case .file(let path, let source):
                (try NamedFile.text(at: path, source, for: "init", readFile), "\(source): '\(path)'")
            }
        let key = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard APIKey(key) != nil else {
            throw RTMError(
                .invalidParameter, "\(place) holds no API key, which begins with rtmk_", operation: "init")
        }
        return key
    }
}

extension GatewayURL {
    /// - Parameter source: what is named when the text is no gateway.
    fileprivate static func named(_ text: String, _ source: String) throws(RTMError) -> GatewayURL {
        guard let url = GatewayURL(text) else {
            throw RTMError(.invalidParameter, "\(source): \(refusal(of: text))", operation: "init")
        }
        return url
    }
}

extension ServerContext {
    /// - Parameter name: the context's name, for errors.
    fileprivate func gatewayValues(_ name: String) throws(RTMError) -> GatewayValues {
        let source = "the context '\(name)'"
        let url = try gateway.map { text throws(RTMError) in try GatewayURL.named(text, source) }
        return GatewayValues(
            gateway: url, appID: appID,
            key: apiKeyFile.map { .file($0, source: "the API key's file of \(source)") }, gatewayOfKey: url,
            ca: ca)
    }
}
