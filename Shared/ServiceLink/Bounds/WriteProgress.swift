package import NIOCore

/// Whether a peer reads what waits for it. A peer that reads slowly is not one that doesn't read, so each
/// time it has read enough, its time begins anew. Pure: the time is a parameter.
package struct WriteProgress: Sendable {
    private let timeout: TimeAmount
    private let bytesMin: Int
    /// Since when the socket has taken less than it has to, as far as is known; nil while nothing waits.
    private var since: NIODeadline?
    /// What waited at that time, and what has come since then.
    private var waitingBytes = 0

    /// - Parameters:
    ///   - timeout: how long the peer may take for the next bytes.
    ///   - bytesMin: how many bytes it has to take in that time, if more wait for it.
    package init(timeout: TimeAmount, bytesMin: Int = 1) {
        (self.timeout, self.bytesMin) = (timeout, bytesMin)
    }

    /// So many bytes wait for the socket from now on, behind those that wait already.
    package mutating func added(_ bytes: Int, now: NIODeadline) {
        if since == nil { since = now }
        waitingBytes += bytes
    }

    /// So many bytes still wait for the socket.
    package mutating func waits(_ bytes: Int, now: NIODeadline) {
        guard bytes > 0 else { return ended() }
        guard since != nil, waitingBytes - bytes >= bytesMin else { return }
        (since, waitingBytes) = (now, bytes)
    }

    /// Nothing waits any more.
    package mutating func ended() { (since, waitingBytes) = (nil, 0) }

    /// When the peer has to have read on; nil while nothing waits for it.
    package var deadline: NIODeadline? { since.map { $0 + timeout } }
}
