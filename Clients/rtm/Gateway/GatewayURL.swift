import ArgumentParser
import Foundation

/// Where a gateway is: a scheme, a host and perhaps a port, and nothing more.
struct GatewayURL: Sendable, Hashable, CustomStringConvertible {
    /// What `make run` and rtm-standalone start.
    static let local = GatewayURL("http", "127.0.0.1:7750")

    let scheme: String
    /// As it goes into the request.
    let hostAndPort: String

    var description: String { "\(scheme)://\(hostAndPort)" }

    private init(_ scheme: String, _ hostAndPort: String) {
        (self.scheme, self.hostAndPort) = (scheme, hostAndPort)
    }

    /// Nil for a text without a scheme: whether a key is encrypted on its way is nothing to guess.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.query == nil, parts.fragment == nil,
            ["", "/"].contains(parts.path), 1...65_535 ~= parts.port ?? 80
        else { return nil }
        self.init(scheme, host + (parts.port.map { ":\($0)" } ?? ""))
    }

    init(argument: String) throws {
        guard let url = GatewayURL(argument) else { throw ValidationError(Self.refusal(of: argument)) }
        self = url
    }

    static func refusal(of text: String) -> String {
        "'\(text)' is no gateway; it is like http://127.0.0.1:7750 or https://gateway.example.com"
    }
}
