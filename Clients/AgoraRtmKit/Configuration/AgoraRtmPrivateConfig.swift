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
