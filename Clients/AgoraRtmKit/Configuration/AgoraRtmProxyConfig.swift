/// The proxy between the client and its servers. Not available yet: see ``AgoraRtmClientConfig/proxyConfig``.
public final class AgoraRtmProxyConfig: NSObject, NSCopying {
    public var proxyType: AgoraRtmProxyType
    /// Host name or address.
    public var server: String
    public var port: UInt16
    public var account: String?
    public var password: String?

    override public convenience init() { self.init(server: "", port: 0, proxyType: .none) }

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
