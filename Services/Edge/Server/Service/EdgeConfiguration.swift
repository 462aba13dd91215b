import NIOCore
import RTMModel
import RTMServiceKit

/// What an operator decides about an edge. `EdgeKeys` has the keys, units and ranges.
struct EdgeConfiguration: Sendable {
    var applications: [Application]
    var limits: EdgeLimits
    /// The name and version that clients get with their Welcome.
    var serverName: String
}

/// The limits of one edge. What the public API fixes lies in `Limits`.
struct EdgeLimits: Sendable {
    var connectionsMax: Int
    var connectionsPerAddressMax: Int
    var frameBytesMax: Int
    var outboundBytesMax: Int
    /// What may wait for the clients of one event loop. An edge of several loops divides its limit.
    var outboundLoopBytesMax = 1 << 30
    var handshakeTimeout: TimeAmount
    /// How long a client may leave what waits for it unread.
    var outboundTimeout: TimeAmount = .seconds(60)
    /// What half frames of clients that have not logged in may hold on one event loop.
    var handshakeBytesMax = 8 << 20
    /// How many refusals for a rate are tolerated on one connection.
    var refusals = Rate(perSecond: 100, burst: 5_000)
    /// How many heartbeats a connection may send. What exceeds this counts as refusals.
    var heartbeats = Rate(perSecond: 10, burst: 100)
    /// Whether clients over WebSocket may agree with the edge to compress their messages.
    var compressesWebSockets = false
    /// How long a closing connection may take to read its last frame.
    var lingerTimeout: TimeAmount = .seconds(5)
    /// How long an edge that ends waits for its clients to close.
    var gracefulCloseTimeout: TimeAmount = .seconds(1)
    /// How many channels are attached again at once after messaging was away.
    var reattachBatch = 4_096
    /// How many sessions are sent away per step when the edge drains; a step takes 20 ms.
    var drainBatch = 200
    /// The pace that follows from batch and step.
    static let drainedPerSecond = 10_000
}
