import Foundation

/// Where signed requests go, and the secrets that sign them.
package struct WebhookTarget: Sendable, Hashable {
    /// `http://` or `https://`.
    package let url: String
    package let host: String
    package let port: Int
    package let secrets: [WebhookSecret]

    package init(url: String, host: String, port: Int, secrets: [WebhookSecret]) {
        (self.url, self.host, self.port, self.secrets) = (url, host, port, secrets)
    }

    /// Nil if the URL is no address of a receiver, or a secret is none.
    ///
    /// - Parameter secrets: as both sides write them down; the one that signs first.
    package init?(url: String, secrets texts: [String]) {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.fragment == nil,
            let usual = ["http": 80, "https": 443][parts.scheme]
        else { return nil }
        let port = parts.port ?? usual
        guard 1...65_535 ~= port else { return nil }
        let secrets = texts.compactMap(WebhookSecret.init)
        guard secrets.count == texts.count else { return nil }
        self.init(
            url: url, host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
            port: port, secrets: secrets)
    }
}
