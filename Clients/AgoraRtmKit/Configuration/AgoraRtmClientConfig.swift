import RTMClient

/// How a client behaves. `AgoraRtmClientKit.init` copies everything, so later changes have no effect on that
/// client.
///
/// The object must not be shared between threads while it is being changed.
public final class AgoraRtmClientConfig: NSObject {
    /// The app id.
    public var appId: String
    /// The user id: 1…64 ASCII characters (L-1, L-2). There is one session per user id, and the newest login
    /// wins.
    public var userId: String
    /// With `false` the user id must be the decimal text of a number from 1 to 4294967295 (L-3).
    public var useStringUserId: Bool
    /// Whether the client keeps a second connection over another interface of the device, or to another one
    /// of the servers, and continues over it when the first one stalls (N-5). Nothing is missed or comes
    /// twice, and the link stays connected.
    public var multipath: Bool
    /// With `true` the client contacts none but the servers that are named to it. Here it does so in any
    /// case: it knows only those of ``privateConfig``, and the proxy. So both values behave the same (N-10).
    public var ispPolicyEnabled: Bool
    /// How long other users still see this user after its connection is lost: 5…300 seconds. A value outside
    /// becomes the nearest bound (L-45).
    public var presenceTimeout: UInt32
    /// How often the client sends a heartbeat: every 5…1800 seconds. A value outside becomes the nearest
    /// bound (L-46).
    public var heartbeatInterval: UInt32
    /// When the client gives up reconnecting: 0 means never, otherwise after 15…3600 seconds. A value outside
    /// becomes the nearest bound (L-47).
    public var reconnectTimeout: UInt32
    /// The areas whose servers the client uses, of those that name an area in
    /// ``AgoraRtmPrivateConfig/accessPointHosts`` (N-6). If no server is left, the client is refused with
    /// `.invalidPrivateConfig` (-10024).
    public var areaCode: AgoraRtmAreaCode
    /// The proxy between the client and its servers; nil means none (N-1).
    public var proxyConfig: AgoraRtmProxyConfig?
    /// A `tcpUdp` that the app sets asks for a second connection as ``multipath`` does, over the same
    /// interface: to another one of the servers (N-4). While nobody sets it, there is none.
    public var protocolType: AgoraRtmProtocolType {
        get { chosenProtocol ?? .tcpUdp }
        set { chosenProtocol = newValue }
    }
    /// Nil until the app sets one.
    private var chosenProtocol: AgoraRtmProtocolType?
    /// Without it the client logs nothing.
    public var logConfig: AgoraRtmLogConfig?
    /// How messages, states and metadata values are encrypted between clients. Nil means not at all.
    public var encryptionConfig: AgoraRtmEncryptionConfig?
    /// Where the servers are. Without it the environment variable `RTM_SERVER` says so, or else the entry
    /// `RTMServer` of the app's `Info.plist`; each has the addresses of
    /// ``AgoraRtmPrivateConfig/accessPointHosts``, several of them between commas. Without all of these no
    /// client can be made: `.invalidPrivateConfig` (-10024) (N-2, N-11).
    public var privateConfig: AgoraRtmPrivateConfig?
    /// The queue on which delegates and completion blocks are called, one after the other; nil, the default,
    /// means the main queue.
    ///
    /// A program whose main thread waits for something else needs a queue of its own here, because there the
    /// main queue never has its turn. A delegate whose class belongs to the main actor needs the main queue,
    /// so leave this nil for it.
    public var callbackQueue: DispatchQueue?

    /// One initializer takes the vendor's two parameters, and the 12 or 15 of the documents, which the
    /// vendor's header doesn't have.
    public init(
        appId: String,
        userId: String,
        useStringUserId: Bool = true,
        multipath: Bool = false,
        ispPolicyEnabled: Bool = false,
        presenceTimeout: UInt32 = 300,
        heartbeatInterval: UInt32 = 5,
        reconnectTimeout: UInt32 = 0,
        areaCode: AgoraRtmAreaCode = .GLOB,
        proxyConfig: AgoraRtmProxyConfig? = nil,
        protocolType: AgoraRtmProtocolType? = nil,
        logConfig: AgoraRtmLogConfig? = nil,
        encryptionConfig: AgoraRtmEncryptionConfig? = nil,
        privateConfig: AgoraRtmPrivateConfig? = nil,
        callbackQueue: DispatchQueue? = nil
    ) {
        self.appId = appId
        self.userId = userId
        self.useStringUserId = useStringUserId
        self.multipath = multipath
        self.ispPolicyEnabled = ispPolicyEnabled
        self.presenceTimeout = presenceTimeout
        self.heartbeatInterval = heartbeatInterval
        self.reconnectTimeout = reconnectTimeout
        self.areaCode = areaCode
        self.proxyConfig = proxyConfig
        chosenProtocol = protocolType
        self.logConfig = logConfig
        self.encryptionConfig = encryptionConfig
        self.privateConfig = privateConfig
        self.callbackQueue = callbackQueue
    }

    /// The second connection of the client below.
    var secondPath: SecondPath? {
        if multipath { return .otherInterface() }
        return chosenProtocol == .tcpUdp ? .otherServer : nil
    }
}
