/// How much passed over a link, for the metrics of the service that owns it. Read it on the link's event
/// loop.
package struct ServiceLinkCounters: Sendable, Hashable {
    /// Requests that a client sent, or that a server received.
    package var requests: UInt64 = 0
    /// Responses that a client received, or that a server sent; failures are counted apart.
    package var responses: UInt64 = 0
    package var failures: UInt64 = 0
    /// Requests whose deadline passed. If they are many, the peer is overloaded.
    package var timeouts: UInt64 = 0
    /// Responses to a request that had already timed out.
    package var responsesTooLate: UInt64 = 0
    /// Open requests that a lost link completed.
    package var disconnected: UInt64 = 0
    /// Requests and pushes that were refused here because the link was down, too many were open, or one was
    /// too long.
    package var refused: UInt64 = 0
    package var pushesIn: UInt64 = 0
    package var pushesOut: UInt64 = 0
    package var bytesIn: UInt64 = 0
    package var bytesOut: UInt64 = 0
    /// Batches that were handed to the transport, at most one in each turn.
    package var writes: UInt64 = 0
    /// How often the link came up again after it had been up.
    package var reconnects: UInt64 = 0
    /// Links that were ended because the peer read too slowly.
    package var overflows: UInt64 = 0

    package init() {}

    mutating func add(_ other: ServiceLinkCounters) {
        requests += other.requests
        responses += other.responses
        failures += other.failures
        timeouts += other.timeouts
        responsesTooLate += other.responsesTooLate
        disconnected += other.disconnected
        refused += other.refused
        pushesIn += other.pushesIn
        pushesOut += other.pushesOut
        bytesIn += other.bytesIn
        bytesOut += other.bytesOut
        writes += other.writes
        reconnects += other.reconnects
        overflows += other.overflows
    }
}
