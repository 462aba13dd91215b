/// What both ends of a link need to know.
package struct ServiceLinkConfiguration: Sendable {
    /// Shared by all services of an installation; empty: none is asked for. Never logged.
    package var secret = ""
    /// Bytes. A longer frame from the peer ends the link; a longer one to it is refused. Default 16 MiB.
    package var frameBytesMax = 16 << 20
    /// Bytes that may wait for the peer. Policy `disconnect`: one more, and the link ends with GoAway
    /// overflow.
    package var queueBytesMax = 32 << 20
    /// From the connection to the welcome.
    package var handshakeTimeout: Duration = .seconds(5)
    /// After so long without a sound from the peer it is asked whether it still lives.
    package var heartbeatInterval: Duration = .seconds(5)
    /// After so long without a sound the peer is gone. Must be longer than the interval.
    package var heartbeatDeadline: Duration = .seconds(15)
    /// How long the peer may take to read the last bytes of a link that we close.
    package var closeLinger: Duration = .seconds(5)
    /// In 0..<1: spreads the attempts of callers that have lost the same service.
    package var random: @Sendable () -> Double = { .random(in: 0..<1) }

    package init() {}
}

/// The calling end.
package struct ServiceLinkClientConfiguration: Sendable {
    package var link = ServiceLinkConfiguration()
    /// The service to reach, for example `messaging`. The peer must say the same.
    package var service: String
    /// This process's name, for the peer's logs.
    package var node: String
    package var connectTimeout: Duration = .seconds(5)
    /// Requests without an answer yet. One more is refused.
    package var openRequestsMax = 65_536
    package var backoff = Backoff()

    package init(service: String, node: String) {
        self.service = service
        self.node = node
    }
}

/// The called end.
package struct ServiceLinkServerConfiguration: Sendable {
    package var link = ServiceLinkConfiguration()
    /// The service that listens here. Callers who expect another one are refused.
    package var service: String
    /// Random for each start of the process: callers learn by it that this one has forgotten everything.
    package var incarnation: UInt64 = .random(in: 1...UInt64.max)
    /// Links at the same time; one more is refused.
    package var linksMax = 1024

    package init(service: String) { self.service = service }
}
