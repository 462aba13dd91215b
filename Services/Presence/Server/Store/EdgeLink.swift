import RTMModel

/// The link of an edge over which something comes. An edge that has lost a link continues over a newer one,
/// perhaps to another node, and reports everything anew there. What it sent over the older link may arrive
/// long after that: a join from then would bring back a user who has left meanwhile. So the newest link that
/// has renewed a lease counts, and what comes over an older one is refused.
package struct EdgeLink: Sendable, Hashable {
    /// The lease of the edge's loop.
    package var lease: UInt64
    /// Greater for a newer link of that loop. 0 if it is unknown: then nothing is refused.
    package var number: UInt64

    package init(lease: UInt64, number: UInt64 = 0) {
        self.lease = lease
        self.number = number
    }

    /// What comes of no edge, or of one that hasn't said which link this is.
    package static let unknown = EdgeLink(lease: 0)
}

extension RTMError {
    /// Nobody waits for this answer: the edge has given up the link.
    static let olderLink = RTMError(.presenceOperationFailed, "the caller uses a newer link now")
}
