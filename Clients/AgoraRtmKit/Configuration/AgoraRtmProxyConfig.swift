import RTMClient
import RTMModel

/// The proxy between the client and its servers (N-1). It is read when the client is made.
public final class AgoraRtmProxyConfig: NSObject, NSCopying {
    /// Which kind of proxy it is; see `proxyConfig` of the client's configuration.
    public var proxyType: AgoraRtmProxyType
    /// Host name or address. Any type but `none` needs it, otherwise the client is refused with
    /// `.invalidParameter` (-10014).
    public var server: String
    /// Any type but `none` needs it, as it needs ``server``.
    public var port: UInt16
    /// What an HTTP proxy asks for by Basic authorization. A `cloudTcp` relay has no accounts, and refuses
    /// one with `.invalidParameter` (-10014).
    public var account: String?
    /// The password of ``account``. It travels to the proxy in the clear, and is never logged.
    public var password: String?

    override public convenience init() { self.init(server: "", port: 0, proxyType: .none) }

    /// Names the proxy.
    public init(server: String, port: UInt16, proxyType: AgoraRtmProxyType) {
        self.server = server
        self.port = port
        self.proxyType = proxyType
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = AgoraRtmProxyConfig(server: server, port: port, proxyType: proxyType)
        copy.account = account
        copy.password = password
        return copy
    }
}

extension AgoraRtmProxyConfig {
    /// The proxy of the client below, which checks server and port.
    ///
    /// - Throws: `.invalidParameter` (-10014) for an account at a relay.
    func proxy() throws(RTMError) -> RTMClient.Proxy? {
        let hasAccount = account?.isEmpty == false || password?.isEmpty == false
        switch proxyType {
        case .none: return nil
        case .http:
            let credentials = RTMClient.ProxyCredentials(account: account ?? "", password: password ?? "")
            return .http(host: server, port: Int(port), credentials: hasAccount ? credentials : nil)
        case .cloudTcp:
            guard !hasAccount else {
                throw RTMError(
                    .invalidParameter,
                    "proxyConfig has an account, and a relay (cloudTcp) has no way to ask for one",
                    operation: "init")
            }
            return .relay(host: server, port: Int(port))
        }
    }
}
