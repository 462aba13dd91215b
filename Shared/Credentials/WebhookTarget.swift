import Foundation

/// Where signed requests go, and the secrets that sign them.
package struct WebhookTarget: Sendable, Hashable {
    package let url: HTTPURL
    package let secrets: [WebhookSecret]

    package init(_ url: HTTPURL, secrets: [WebhookSecret]) { (self.url, self.secrets) = (url, secrets) }

    /// Nil if the URL is no address of a receiver, or a secret is none.
    ///
    /// - Parameter secrets: as both sides write them down; the one that signs first.
    package init?(url text: String, secrets texts: [String]) {
        let secrets = texts.compactMap(WebhookSecret.init)
        guard let url = HTTPURL(text), secrets.count == texts.count else { return nil }
        self.init(url, secrets: secrets)
    }
}

/// A URL that a service sends requests to: `http://` or `https://`.
package struct HTTPURL: Sendable, Hashable {
    package let text: String
    package let host: String
    package let port: Int
    package let isEncrypted: Bool

    package init(_ text: String, host: String, port: Int, isEncrypted: Bool) {
        (self.text, self.host, self.port, self.isEncrypted) = (text, host, port, isEncrypted)
    }

    /// Nil for another text, and for one with a user, a password or a fragment.
    package init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.fragment == nil,
            let usual = ["http": 80, "https": 443][parts.scheme]
        else { return nil }
        let port = parts.port ?? usual
        guard 1...65_535 ~= port else { return nil }
        self.init(
            text, host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, port: port,
            isEncrypted: usual == 443)
    }
}
