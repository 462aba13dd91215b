import RTMModel

extension RTMClient {
    /// What the client connects to instead of its servers, because the network lets nothing else through
    /// (N-1). It carries TCP, TLS and WebSocket alike. TLS ends at the server, so that a proxy reads nothing.
    public enum Proxy: Sendable, Hashable {
        /// An HTTP proxy, which is asked for a tunnel to the server with CONNECT. The proxy looks up the name
        /// of the server, and has to permit its port.
        ///
        /// - Parameter credentials: what the proxy asks for by Basic authorization. They travel to the proxy
        ///   in the clear.
        case http(host: String, port: Int, credentials: ProxyCredentials? = nil)
        /// A relay, which passes each connection on to the edge that it is configured for. It learns nothing
        /// of the server that the client names. With TLS the client verifies that server nevertheless.
        case relay(host: String, port: Int)
    }

    /// The account of a client at its proxy. No description shows the password.
    public struct ProxyCredentials: Sendable, Hashable {
        /// Has no colon in it, which is where the password begins (RFC 7617).
        public var account: String
        /// The password that belongs to the account.
        public var password: String

        /// Makes the credentials for a proxy that asks for them.
        public init(account: String, password: String) {
            self.account = account
            self.password = password
        }
    }
}

extension RTMClient.Proxy {
    var host: String {
        switch self {
        case .http(let host, _, _), .relay(let host, _): host
        }
    }

    var port: Int {
        switch self {
        case .http(_, let port, _), .relay(_, let port): port
        }
    }

    /// - Throws: `.invalidParameter` (-10014) without a host or a port, and for an account that Basic
    ///   authorization can't carry.
    func check() throws(RTMError) {
        guard !host.isEmpty else { throw Self.refusal("the proxy has no server") }
        guard !host.contains(where: { "@?#/".contains($0) || $0.isWhitespace }) else {
            throw Self.refusal("the proxy's server '\(host)' is no host")
        }
        guard (1...65_535).contains(port) else {
            throw Self.refusal("the proxy's port \(port) is not a port from 1 to 65535")
        }
        if case .http(_, _, let credentials?) = self, credentials.account.utf8.contains(UInt8(ascii: ":")) {
            throw Self.refusal("the account at the proxy has a colon in it, where its password would begin")
        }
    }

    private static func refusal(_ reason: String) -> RTMError {
        RTMError(.invalidParameter, reason, operation: "init")
    }
}

extension RTMClient.Proxy: CustomStringConvertible {
    public var description: String { ServerAddress(host: host, port: port).authority }
}

extension RTMClient.ProxyCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    public var description: String { account }
    public var debugDescription: String { account }
    public var customMirror: Mirror { Mirror(self, children: ["account": account]) }
}
