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

/// How messages, temporary states and metadata values are encrypted between clients. The server never sees
/// the key. All clients of an app have to use the same mode, key and salt.
public final class AgoraRtmEncryptionConfig: NSObject, NSCopying {
    /// The cipher. The format is our own, so clients of the vendor can't read it (E-6).
    public var encryptionMode: AgoraRtmEncryptionMode = .none
    /// The key; it may have any length, and 32 bytes are advised.
    public var encryptionKey: String?
    /// The salt, 32 bytes.
    public var encryptionSalt: Data?

    /// The same value, under the name that the documents use for ``encryptionSalt``.
    public var encryptionKdfSalt: Data? {
        get { encryptionSalt }
        set { encryptionSalt = newValue }
    }

    override public init() { super.init() }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = AgoraRtmEncryptionConfig()
        copy.encryptionMode = encryptionMode
        copy.encryptionKey = encryptionKey
        copy.encryptionSalt = encryptionSalt
        return copy
    }
}

/// What the client logs, and where (N-7).
///
/// The client logs the changes of its link, what was lost, and what it could not decrypt. Tokens and message
/// contents are never logged.
public final class AgoraRtmLogConfig: NSObject, NSCopying {
    /// The file, or a folder that exists or ends with a slash, in which the file is named `agora.log`.
    /// Folders on the way to it are made. With nil records go to swift-log's `LoggingSystem` under the label
    /// `AgoraRtmKit`, so that the app decides where they end up.
    ///
    /// A file that can't be written is refused when the client is made, with `.initServiceFailed` (-10007).
    public var filePath: String?
    /// How long the file may become, in kilobytes: 128…1024. A value outside becomes the nearest bound
    /// (L-48). A full file is renamed, `agora.log` to `agora.log.1`, and four older ones are kept.
    public var fileSizeInKB: Int32 = 1024
    /// Every record of this level or a more severe one is logged.
    public var level: AgoraRtmLogLevel = .info

    override public init() { super.init() }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = AgoraRtmLogConfig()
        copy.filePath = filePath
        copy.fileSizeInKB = fileSizeInKB
        copy.level = level
        return copy
    }
}

/// Where the servers of a private deployment are.
public final class AgoraRtmPrivateConfig: NSObject {
    /// The services that run there. The set must not be empty. A call to a service that is not in it fails
    /// with `.serviceNotSupport` (-10022).
    public var serviceType: AgoraRtmServiceType = []

    /// The edges. They are tried in this order, and the next one is tried when one can't be reached. The list
    /// must not be empty.
    ///
    /// Each one is `host`, `host:port` or `[v6]:port`; the default port is 7710. `tls://` in front of it asks
    /// for TLS, `tcp://` for a plain connection. Without either, a loopback address (`localhost`, `127.…`,
    /// `::1`) is reached without TLS, since that is where apps are developed, and every other address with
    /// TLS (N-3). `wss://` and `ws://` ask for the same two over WebSocket, as in
    /// `wss://rtm.example.com/rtm`. The server's certificate is verified against the authorities of the
    /// system or of ``caFile``. All hosts of one client must be reached the same way: all with TLS, or none.
    ///
    /// `#EU` behind an address, or `#EU,NA`, names the areas of the server for
    /// ``AgoraRtmClientConfig/areaCode``: CN, NA, EU, AS, JP and IN (N-6).
    public var accessPointHosts: [String] = []

    /// A PEM file of the authorities that sign the servers' certificates; nil, the default, means those of
    /// the system. This property is an addition to the API.
    public var caFile: String?

    override public init() { super.init() }
}
