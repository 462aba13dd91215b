/// A server's answer to a ping.
public struct PingReply: Sendable, Hashable {
    /// The time from sending one heartbeat to its answer, without the time for connecting.
    public var roundTrip: Duration
    /// The name and version of the server software.
    public var server: String
    /// The version of the protocol that both sides speak.
    public var protocolVersion: UInt32
    /// What the server's clock shows, in milliseconds since 1970.
    public var serverTimeMilliseconds: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        roundTrip: Duration, server: String, protocolVersion: UInt32, serverTimeMilliseconds: UInt64
    ) {
        self.roundTrip = roundTrip
        self.server = server
        self.protocolVersion = protocolVersion
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }
}
