package import NIOCore

/// What both ends of a link need to know.
package struct ServiceLinkConfiguration: Sendable {
    package var secret: ServiceLinkSecret = ""
    /// Nil if links between processes are in the clear.
    package var tls: ServiceLinkTLS?
    /// Bytes of the longest frame. A longer one from the peer ends the link, a longer one to it is refused.
    /// The default is 16 MiB.
    package var frameBytesMax = 16 << 20
    /// Bytes of the longest frame before the peer has proved who it is.
    package var unauthenticatedFrameBytesMax = 4 << 10
    /// How many bytes may wait for the peer. With one more the link ends with the GoAway reason `overflow`.
    package var queueBytesMax = 32 << 20
    /// The time from the connection to the welcome. A machine that stands still for a moment, or has a
    /// hundred links to greet at once, needs seconds.
    package var handshakeTimeout: Duration = .seconds(5)
    /// If the peer has sent nothing for this long, it is asked whether it still lives.
    package var heartbeatInterval: Duration = .seconds(2)
    /// If the peer has sent nothing for this long, it is gone. This must be longer than the interval.
    package var heartbeatDeadline: Duration = .seconds(6)
    /// How long the peer may take to read the last bytes of a link that we close.
    package var closeLinger: Duration = .seconds(5)
    /// A random number in 0..<1. It spreads the attempts of callers that have lost the same service.
    package var random: @Sendable () -> Double = { .random(in: 0..<1) }
    /// Where links are logged. All that are opened with copies of a configuration share it.
    package let log = ServiceLinkLog()
    /// How hosts are reached; nil: over sockets.
    package var dialer: (any ServiceLinkDialing)?

    package init() {}
}

/// Another way to hosts than sockets.
package protocol ServiceLinkDialing: Sendable {
    /// Connects on the receiver's event loop. The answer comes in a later turn.
    func connect(
        to host: String, port: Int, _ receiver: any ServiceLinkTransportReceiver, on eventLoop: any EventLoop)
}

/// What the calling end needs to know.
package struct ServiceLinkClientConfiguration: Sendable {
    package var link = ServiceLinkConfiguration()
    /// The service to reach, for example `messaging`. The peer must say the same name.
    package var service: String
    /// Which shard of the service to reach.
    package var shard = 0
    /// The address of another node, to which the reached node is to relay; empty: it is itself the one.
    var relayTo = ""
    /// This process's name, for the peer's logs.
    package var node: String
    /// A host that is just starting may let the first packet be lost, and the next attempt gets through.
    package var connectTimeout: Duration = .seconds(1)
    /// How many requests may wait for their answer. One more is refused.
    package var openRequestsMax = 65_536
    package var backoff = Backoff()

    package init(service: String, node: String) {
        self.service = service
        self.node = node
    }
}

/// What the called end needs to know.
package struct ServiceLinkServerConfiguration: Sendable {
    package var link = ServiceLinkConfiguration()
    /// The service that listens here. Callers that expect another one are refused.
    package var service: String
    /// Among how many shards the service spreads what it keeps. A link is about one of them.
    package var shards = 1
    /// Whether the service serves only while it announces that it leads.
    package var announcesLeader = false
    /// A random number for each start of the process. By a new number callers learn that the service has
    /// forgotten everything.
    package var incarnation: UInt64 = .random(in: 1...UInt64.max)
    /// How many links there may be at the same time. One more is refused.
    package var linksMax = 1024
    /// How many connections may be in their handshake at the same time, in all and from one address. One
    /// more replaces the oldest. They don't count as links.
    package var unauthenticatedMax = 1024
    package var unauthenticatedPerAddressMax = 128
    /// To which other nodes callers are relayed; nil: to none.
    package var relays: ServiceLinkRelays?
    /// How many connections beyond that may wait until they are closed.
    package var refusedMax = 64
    /// What the listeners of the process have in common.
    package private(set) var accepting = AcceptPolicy.unlimited

    package init(service: String) { self.service = service }

    /// Makes the limits of connections fit what the process may have. Returns whether they are smaller than
    /// before.
    package mutating func fit(_ policy: AcceptPolicy) -> Bool {
        accepting = policy
        let plan = policy.plan
        let wanted = linksMax
        unauthenticatedMax = min(unauthenticatedMax, max(8, plan.connectionsMax / 4))
        unauthenticatedPerAddressMax = min(unauthenticatedPerAddressMax, max(4, unauthenticatedMax / 2))
        refusedMax = plan.refusedMax
        linksMax = min(linksMax, max(1, plan.connectionsMax - unauthenticatedMax))
        return linksMax < wanted
    }
}
