import NIOCore
import RTMModel

/// What an operator decides about an edge. `EdgeKeys` has the keys, units and ranges.
struct EdgeConfiguration: Sendable {
    var applications: [Application]
    var limits: EdgeLimits
    /// The name and version that clients are told.
    var serverName: String
}

/// The limits of one edge. What the public API fixes lies in `Limits`.
struct EdgeLimits: Sendable {
    var connectionsMax: Int
    var connectionsPerAddressMax: Int
    var frameBytesMax: Int
    var outboundBytesMax: Int
    var handshakeTimeout: TimeAmount
    /// How long a closing connection may take to read its last frame.
    var lingerTimeout: TimeAmount = .seconds(5)
    /// How many channels are attached again at once after messaging was away.
    var reattachBatch = 4_096
    /// How many sessions are sent away per step when the edge drains; a step takes 20 ms.
    var drainBatch = 200
    /// The pace that follows from batch and step.
    static let drainedPerSecond = 10_000
}
