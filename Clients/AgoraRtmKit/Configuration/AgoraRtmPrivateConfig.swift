/// Where the servers of a private deployment are.
public final class AgoraRtmPrivateConfig: NSObject {
    /// The services that run there. Must not be empty; calls to a service that is not in it fail with -10022.
    public var serviceType: AgoraRtmServiceType = []

    /// Edges, tried in this order; when one can't be reached the next is tried. Must not be empty.
    ///
    /// Each is `host`, `host:port` or `[v6]:port`; the port is 7710 unless it is said. `tls://` in front of
    /// it asks for TLS, `tcp://` for a plain connection. Without either, a loopback address (`localhost`,
    /// `127.…`, `::1`) is reached plainly, since that is where one develops, and everything else by TLS
    /// (N-3). `wss://` and `ws://` are the same two over WebSocket, as in `wss://rtm.example.com/rtm`. The
    /// server's certificate is verified against the authorities of the system. All hosts of one client must
    /// be reached the same way: all with TLS, or none.
    public var accessPointHosts: [String] = []

    override public init() { super.init() }
}
